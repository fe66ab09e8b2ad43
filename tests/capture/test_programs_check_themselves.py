"""Programs that check their own results run to a good end: CUB, Thrust, cooperative groups, pipelines, graphs."""

from __future__ import annotations

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
