"""The numbers of a simulation that a study follows from point to point: one value a trial each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Sample

_OF: dict[str, tuple[str, Callable[[RunResult], Sample]]] = {
    "l1_read": ("L1 read hit ratio", lambda result: result.l1_read),
    "l2_read": ("L2 read hit ratio", lambda result: result.l2_read),
    "l2_write": ("L2 write hit ratio", lambda result: result.l2_write),
    "cycles": ("SM cycles of the snapshot", lambda result: result.cycles),
    "time_ms": ("time of the kernel, ms", lambda result: result.kernel_time),
    "tm": ("Tm, main memory's latency, SM cycles", lambda result: result.memory_latency),
}
OUTPUTS = {name: words for name, (words, _) in _OF.items()}  # output -> what it is, with its unit
RATIOS = ("l1_read", "l2_read", "l2_write")


def outputs_of(result: RunResult) -> dict[str, np.ndarray]:
    """Every output by name: f8 [trials], nan in a trial where it does not exist (a ratio of nothing)."""
    return {name: np.asarray(sample(result).values, float) for name, (_, sample) in _OF.items()}
