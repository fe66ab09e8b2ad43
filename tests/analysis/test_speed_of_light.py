"""The best possible time: bytes over bandwidth for a copy, and below what is predicted for every kernel."""

from __future__ import annotations

import numpy as np
import pytest

import memsim
from memsim import Launch, Thread, workload
from memsim.analysis.speed_of_light import speed_of_light
from memsim.analysis.utilization import DRAM

BLOCK = 256


def copied(t: Thread, a, b):
    b[t.global_id] = a[t.global_id]


def copied_by_columns(t: Thread, a, b):
    i = t.global_id % 32 * (len(a) // 32) + t.global_id // 32
    b[i] = a[i]


@workload
def copy(n: int = 1 << 14, scattered: bool = False) -> Launch:
    """A copy of n numbers of four bytes; if `scattered`, neighbouring lanes are far apart."""
    kernel = copied_by_columns if scattered else copied
    return Launch(kernel, n // BLOCK, BLOCK, dict(a=np.zeros(n, np.float32), b=np.zeros(n, np.float32)), registers=16)


def peak_bytes_per_ns(gpu):
    """Of the data buses of a GPU with a burst of two clocks that moves 32 bytes."""
    return 32 * gpu.dram.channels * gpu.dram.clock_mhz / 1000 / gpu.dram.timing.burst


@pytest.mark.parametrize("gpu", ["tesla-c2050", "tesla-v100"])
def test_a_copy_takes_its_bytes_over_the_bandwidth(gpu):
    """Of 64 MB, of which a part is replayed; what L2 may keep dirty need not be written."""
    megabytes, machine = 64, memsim.load_gpu(gpu)
    n = megabytes * (1 << 20) // 4
    result = memsim.simulate(memsim.trace(copy, n=n, gpu=gpu, blocks="2x"), gpu, trials=1, jobs=1)
    bound = speed_of_light(result)
    total = 2 * megabytes * (1 << 20)
    dirty_bytes = machine.l2.size_bytes * (machine.l2.max_dirty_ways or machine.l2.ways) / machine.l2.ways
    assert bound.limit == DRAM
    assert bound.dram_bytes == pytest.approx(total - dirty_bytes, rel=1e-6)
    without_launch = bound.milliseconds - bound.launch_cycles * bound.ns_per_cycle / 1e6
    assert without_launch == pytest.approx((total - dirty_bytes) / peak_bytes_per_ns(machine) / 1e6, rel=1e-6)
    if dirty_bytes < 0.03 * total:
        assert without_launch == pytest.approx(total / peak_bytes_per_ns(machine) / 1e6, rel=0.03)
    assert bound.milliseconds < result.kernel_time.mean


def test_what_is_in_l2_need_not_be_read():
    trace = memsim.trace(copy, gpu="tesla-v100", blocks="all")
    cold, warm = (speed_of_light(one) for one in memsim.simulate_program([trace, trace], "tesla-v100", trials=1))
    assert cold.dram_bytes == 4 * (1 << 14) and warm.dram_bytes == 0


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("saxpy", dict(n=1 << 14)),
        ("spmv", dict(rows=2048, nnz_per_row=8)),
        ("transpose", dict(n=128, variant="naive")),
        ("reduction", dict(n=1 << 15)),
        ("bfs", {}),
        ("lud", {}),
        ("sgemm", {}),
    ],
)
def test_no_prediction_is_faster(name, parameters):
    trace = memsim.trace(name, gpu="tesla-v100", blocks="all", **parameters)
    result = memsim.simulate(trace, "tesla-v100", trials=2, whole=True, jobs=1)
    bound = speed_of_light(result)
    assert 0 < bound.milliseconds < result.kernel_time.values.min()


def test_wasted_sectors_do_not_count():
    """Two orders of the same accesses have one best possible time, whatever they take."""
    both = []
    for scattered in (True, False):
        trace = memsim.trace(copy, gpu="tesla-v100", blocks="all", n=1 << 17, scattered=scattered)
        result = memsim.simulate(trace, "tesla-v100", trials=1, jobs=1)
        both.append((speed_of_light(result), result.kernel_time.mean))
    (wasteful, slow), (dense, fast) = both
    assert wasteful.dram_bytes == dense.dram_bytes > 0 and slow > 1.2 * fast
