"""What is said of a run that gave no trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from memsim.capture.launches import Launches
from memsim.capture.outcome import check_outcome
from memsim.gpu.presets import load_gpu
from memsim.sources.selection import ALL, CaptureSelection
from memsim.support.errors import InputError


@pytest.mark.parametrize(
    ("entries", "problem"),
    [({}, "launched no kernel"), ({"matmul": "matmul_0"}, "launched matmul in benchmarks alone")],
)
def test_runs_without_traces_say_whether_kernels_were_timed(entries, problem):
    selection = CaptureSelection(launches=ALL)
    launches = Launches(load_gpu("rtx4090"), selection, cast(Any, None), Path(), True, "a.py", entries=entries)
    with pytest.raises(InputError, match=problem):
        check_outcome(launches, stopped=False, code=0, needs_trace=True)
