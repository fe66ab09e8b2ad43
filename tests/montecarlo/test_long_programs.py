"""Programs whose replay takes long get fewer trials, and gains of their longest kernel only."""

from __future__ import annotations

import pytest

import memsim
from memsim.api import profile

GPU = "tesla-v100"


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    sizes = {"a": 1 << 12, "b": 1 << 13}
    return [memsim.trace("saxpy", n=n, gpu=GPU, blocks="all", out=folder / f"{name}.h5") for name, n in sizes.items()]


@pytest.mark.parametrize(("long", "trials"), [(1, 2), (1 << 21, 3)])
def test_a_long_program_begins_with_two_trials(traces, monkeypatch, long, trials):
    monkeypatch.setattr(profile, "LONG", long)
    monkeypatch.setattr(profile, "WITHIN", 1.0)
    found = memsim.profile_program(traces, GPU, quick=True, jobs=1)
    assert len(found.time.values) == trials


@pytest.mark.parametrize(("long", "quick"), [(1, [False, True]), (1 << 21, [False, False])])
def test_long_programs_explain_one_kernel_with_gain(traces, monkeypatch, long, quick):
    quick_calls = []
    monkeypatch.setattr(profile, "LONG", long)
    monkeypatch.setattr(profile, "_top_finding", lambda typical, trace, gpu, quick, jobs: quick_calls.append(quick))
    memsim.profile_program(traces, GPU, jobs=1)
    assert quick_calls == quick
