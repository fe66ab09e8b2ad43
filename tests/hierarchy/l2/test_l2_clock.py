"""L2's slices have a clock of their own; the oracle's random machines have it too."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from machines import instruction

from memsim.analysis.l2_rates import l2_clocks
from memsim.hierarchy.system import System
from memsim.trace.schema import OpKind

N = 200


def behind(mhz: float | None) -> int:
    """Cycles of a load behind N stores of three sectors each, on one slice that nothing but its own pace holds up."""
    tx = machines.one_warp(*(instruction([(line, 7)], OpKind.store) for line in range(N)), instruction([(N, 1)]))
    gpu = machines.gpu(sm__max_stores=N, l2__size_bytes=1 << 20, l2__clock_mhz=mhz)
    return int(System(tx, gpu, 1, np.random.SeedSequence(0)).run().latency_sum.sum())


@pytest.mark.parametrize("mhz", [333.3, 500.0, 730.0, 1500.0])
def test_n_sectors_take_n_cycles_of_that_clock(mhz):
    assert abs(behind(mhz) - behind(None) - 3 * N * (1000 / mhz - 1)) <= 1


def test_the_sms_clock_is_as_none():
    assert behind(1000.0) == behind(None)


def test_results_and_gpu_description_agree():
    gpu = machines.gpu(l2__clock_mhz=730.0)
    assert l2_clocks(gpu.model_dump(mode="json")) == gpu.l2_clocks == 0.73
