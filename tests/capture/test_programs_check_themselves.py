"""Programs that check their own results run to a good end: CUB, Thrust, cooperative groups, pipelines, graphs."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilers import needs_capture
from places import ROOT
from typer.testing import CliRunner

from memsim.cli import app

# Those that other tests capture, which also look at the traces.
ELSEWHERE = {"device.cu", "host_flag.cu", "textures.cu"}
PROGRAMS = sorted({path.name for path in (ROOT / "tests/data/capture").glob("*.cu")} - ELSEWHERE)


@needs_capture
@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_find_their_results_right(tmp_path, capfd, program):
    done = CliRunner().invoke(app, ["capture", f"{ROOT}/tests/data/capture/{program}", "-o", str(tmp_path), "-q"])
    assert done.exit_code == 0, capfd.readouterr().out + done.output
    assert list(tmp_path.glob("*.h5"))


@needs_capture
@pytest.mark.slow
@pytest.mark.parametrize("gpu", ["a100", "h100"])
def test_functions_may_call_themselves(tmp_path, capfd, gpu):
    program = f"{ROOT}/tests/data/capture/recursion.cu"
    arguments = ["capture", program, "--gpu", gpu, "--to-end", "-o", str(tmp_path), "-q"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, capfd.readouterr().out + done.output
    info = CliRunner().invoke(app, ["info", str(tmp_path / "deep.h5")]).output
    assert "machine code for sm" in info and "local" in info


@needs_capture
@pytest.mark.slow
def test_a_full_stack_is_reported(tmp_path, capfd):
    program = tmp_path / "deep.cu"
    text = Path(ROOT, "tests/data/capture/recursion.cu").read_text()
    program.write_text(text.replace("cudaLimitStackSize, 16 << 10", "cudaLimitStackSize, 2 << 10"))
    done = CliRunner().invoke(app, ["capture", str(program), "--to-end", "-o", str(tmp_path / "out"), "-q"])
    assert done.exit_code == 2
    assert "the stack has 2048 bytes (cudaLimitStackSize)" in done.stderr + capfd.readouterr().err
