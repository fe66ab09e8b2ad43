"""Programs that check their own results run to a good end: CUB, Thrust, cooperative groups, pipelines, graphs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from compilers import needs_capture
from places import ROOT

PROGRAMS = sorted(path.name for path in (ROOT / "tests/data/capture").glob("*.cu"))


@needs_capture
@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_find_their_results_right(tmp_path, program):
    command = [sys.executable, "-m", "memsim", "capture", ROOT / "tests/data/capture" / program, "-o", tmp_path, "-q"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.glob("*.h5"))
