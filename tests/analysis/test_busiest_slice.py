"""Stores of all warps to one address are bound by one slice of L2, though L2 as a whole is idle."""

from __future__ import annotations

import numpy as np
import pytest

import memsim
from memsim import Launch, Thread, workload
from memsim.analysis.utilization import L2, SLICE, utilization
from memsim.report.why import _busy


def store(t: Thread, flags, step):
    flags[t.global_id * step] = 1


@workload
def flag(n: int = 1 << 20, step: int = 0) -> Launch:
    """One byte is set by all threads, or each has its own."""
    return Launch(store, n // 256, 256, dict(flags=np.zeros(max(1, n * step), np.uint8), step=step), registers=16)


@pytest.mark.parametrize("step", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_one_slice_is_named_as_bottleneck(step):
    result = memsim.simulate(memsim.trace(flag, gpu="quadro-gv100", blocks="all", step=step), trials=1, seed=1)
    busy = {part.name: part.busy for part in utilization(result)}
    if step:
        assert SLICE not in busy or busy[SLICE] < 0.6
    else:
        assert busy[L2] < 0.1 and busy[SLICE] > 0.8
        assert _busy(result).startswith(f"bound by {SLICE}")
