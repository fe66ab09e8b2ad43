"""``memsim check`` finds planted defects on their lines, and nothing in a program that did not change."""

from __future__ import annotations

import pytest
from compilers import needs_capture
from planted_defects import DEFECTS, PROGRAM

import memsim
from memsim.api.check import update
from memsim.gate.baseline import BaselineProgram

GPU = "a100"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A folder with the program and its baseline."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "kernels.cu").write_text(PROGRAM.read_text())
    program = BaselineProgram(files=["kernels.cu"], gpus=[GPU])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        baseline = update(folder / "memsim-baseline.toml", program)
    (folder / "memsim-baseline.toml").write_text(baseline.text())
    return folder


@needs_capture
@pytest.mark.slow
@pytest.mark.parametrize("defect", DEFECTS, ids=lambda one: one.name)
def test_planted_defect_is_found_on_its_line(defect, checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    changed, line = defect.lines(PROGRAM.read_text())
    (checkout / "kernels.cu").write_text(changed)
    outcome = memsim.check("memsim-baseline.toml")
    assert {one.kernel for one in outcome.regressions} == {defect.kernel}
    found = {one.figure: (one.file, one.line) for one in outcome.regressions}
    assert found[defect.figure] == ("kernels.cu", line)


@needs_capture
@pytest.mark.slow
def test_an_unchanged_program_passes_each_time(checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    (checkout / "kernels.cu").write_text(PROGRAM.read_text())
    before = None
    for jobs in (1, 2):
        outcome = memsim.check("memsim-baseline.toml", jobs=jobs)
        assert outcome.passed and not outcome.notes
        assert all(now == old for now, old, _ in outcome.kernels)
        assert before in (None, outcome.kernels)
        before = outcome.kernels
