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
    ("entries", "counts", "problem"),
    [
        ({}, {}, "launched no kernel"),
        ({"matmul": "matmul_0"}, {}, "launched matmul in benchmarks alone"),
        ({"matmul": "matmul_0"}, {"matmul": 3}, "launched matmul in benchmarks alone"),  # 3 before measurements
    ],
)
def test_runs_without_traces_say_whether_kernels_were_timed(entries, counts, problem):
    selection = CaptureSelection(launches=ALL)
    launches = Launches(load_gpu("rtx4090"), selection, cast(Any, None), Path(), True, "a.py", entries=entries)
    launches.counts.update(counts)
    with pytest.raises(InputError, match=problem):
        check_outcome(launches, stopped=False, code=0, needs_trace=True)


def test_a_missing_range_of_launches_is_named_shortly():
    selection = CaptureSelection(launches=range(5, 1 << 40))
    launches = Launches(load_gpu("rtx4090"), selection, cast(Any, None), Path(), True, "a.py", entries={"k": "k"})
    launches.counts["k"] = 2
    with pytest.raises(InputError, match=r"--launch: 5, 6, 7, 8, 9, 10, 11, 12 and 1,099,511,627,763 more was never"):
        check_outcome(launches, stopped=False, code=0, needs_trace=True)


@pytest.mark.parametrize(
    ("counts", "where"), [({}, "exit code 1 before its first launch; no"), ({"k": 1}, "exit code 1; no")]
)
def test_failed_program_says_whether_it_launched(counts, where):
    launches = Launches(load_gpu("rtx4090"), CaptureSelection(), cast(Any, None), Path(), True, "a.py")
    launches.counts.update(counts)
    launches.latest = next(iter(counts), None)
    with pytest.raises(InputError, match=where):
        check_outcome(launches, stopped=False, code=1, needs_trace=True)
