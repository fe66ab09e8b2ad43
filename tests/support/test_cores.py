"""How many processes work where nobody says."""

from __future__ import annotations

import pytest

from memsim.support import cores
from memsim.support.errors import InputError


def test_the_variable_decides_before_the_cores(monkeypatch):
    monkeypatch.delenv(cores.VARIABLE, raising=False)
    monkeypatch.setattr(cores.platform, "system", lambda: "Linux")
    assert cores.default_jobs() == cores.chosen_jobs(0) == cores.all_cores()
    monkeypatch.setenv(cores.VARIABLE, "3")
    assert cores.default_jobs() == cores.chosen_jobs(None) == 3
    assert cores.chosen_jobs(2) == 2


def test_scripts_are_not_run_again_where_nothing_forks(monkeypatch):
    monkeypatch.delenv(cores.VARIABLE, raising=False)
    monkeypatch.setattr(cores.platform, "system", lambda: "Darwin")
    assert cores.default_jobs() == 1


@pytest.mark.parametrize("given", ["0", "-1", "many", "1.5"])
def test_a_wrong_number_is_named(monkeypatch, given):
    monkeypatch.setenv(cores.VARIABLE, given)
    with pytest.raises(InputError, match=f"MEMSIM_JOBS: jobs is '{given}'; give a number of processes, 1 or more"):
        cores.default_jobs()
