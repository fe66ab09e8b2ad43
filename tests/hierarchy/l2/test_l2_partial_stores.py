"""A slice is busy for other times with sectors that stores cover in part, and with one that is stored again.

The oracle's random machines have that, too.
"""

from __future__ import annotations

from dataclasses import replace

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from machines import instruction

import memsim
from memsim import Launch, Thread, workload
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.system import System
from memsim.models.throughput import BusyPart, busy_cycles, work_of
from memsim.trace.coalesce import coalesce
from memsim.trace.schema import OpKind

N = 200


def behind(partial: int, lines: int = N, **changes) -> int:
    """Cycles of a load behind N stores of two sectors each, on one slice that nothing but its own pace holds up.

    Args:
        lines: to which they go, in turn.
    """
    stores = [instruction([(n % lines, 3, partial)], OpKind.store) for n in range(N)]
    tx = machines.one_warp(*stores, instruction([(N, 1)]))
    gpu = machines.gpu(sm__max_stores=N, l2__size_bytes=1 << 20, **changes)
    return int(System(tx, gpu, 1, np.random.SeedSequence(0)).run().latency_sum.sum())


@pytest.mark.parametrize("partial", [0, 1, 2, 3])
@pytest.mark.parametrize("each", [2, 4, 9])
def test_n_partial_stores_take_n_times_as_long(each, partial):
    longer = behind(partial, l2__partial_store_cycles=each) - behind(partial)
    assert longer == N * (each - 1) * partial.bit_count()


@pytest.mark.parametrize("partial", [0, 1, 2, 3])
@pytest.mark.parametrize("again", [1, 2, 9])
def test_store_after_one_to_its_sector(again, partial):
    """Only the first of N stores takes as long as a sector that is new; with two lines in turn, all do."""
    own = dict(l2__partial_store_cycles=4)
    longer = behind(partial, 1, **own, l2__repeated_store_cycles=again) - behind(partial, 1, **own)
    assert longer == (N - 1) * (again - 4) * partial.bit_count()
    assert behind(partial, 2, **own, l2__repeated_store_cycles=again) == behind(partial, 2, **own)


def set_flag(t: Thread, found, x):
    with t.where(x[t.global_id] >= 0):
        found[0] = 1


@workload
def flag(grid: int = 256) -> Launch:
    found, x = np.zeros(32, np.int8), np.zeros(256 * grid, np.int32)
    return Launch(set_flag, grid, 256, dict(found=found, x=x))


def test_warps_set_a_flag_as_fast_as_gv100():
    """2.2 cycles per warp, as measured on a Quadro GV100."""
    settings = {"stochastic.start_alignment": False}
    short, long = (
        memsim.simulate(memsim.trace(flag, gpu="quadro-gv100", blocks="all", grid=n), "quadro-gv100", trials=1,
                        settings=settings).cycles.mean
        for n in (256, 512)
    )  # fmt: skip
    assert (long - short) / (256 * 8) == pytest.approx(2.2, rel=0.1)


@drawn(25)
@given(st.data())
def test_where_it_is_off_parts_change_nothing(data):
    gpu = override(
        data.draw(machines.machines()),
        {"l2.partial_store_cycles": None, "l2.max_partial_ways": None, "l2.repeated_store_cycles": None},
    )
    tx = data.draw(machines.traces(gpu))
    whole = replace(tx, partial=np.zeros_like(tx.partial))
    one, other = (System(each, gpu, 2, np.random.SeedSequence(0)).run() for each in (tx, whole))
    assert one.cycles == other.cycles and np.array_equal(one.counters, other.counters)
    assert np.array_equal(one.latency_histogram, other.latency_histogram)


@pytest.mark.parametrize("each", [None, 1, 3])
def test_partial_sector_takes_time_of_whole_sector(each):
    assert behind(3, l2__sector_cycles=3, l2__partial_store_cycles=each) == behind(0, l2__sector_cycles=3)


def test_what_l1_writes_back_counts_as_whole():
    """L1 keeps sectors, not bytes."""
    stores = [instruction([(line, 1, 1)], OpKind.store) for line in range(N)]
    gpu = {each: machines.gpu(l1__write_policy="write_back", l2__partial_store_cycles=each) for each in (None, 9)}
    tx = machines.one_warp(*stores)
    trials = [System(tx, each, 1, np.random.SeedSequence(0)).run() for each in gpu.values()]
    assert trials[0].cycles == trials[1].cycles


def test_the_model_of_throughput_knows_them():
    """A transpose stores 4 bytes of each sector: all of its stores, and none of its loads, take longer."""
    trace = memsim.trace("transpose", gpu="tesla-v100", blocks="all", n=256)
    gpu = override(load_gpu("tesla-v100"), {"l2.repeated_store_cycles": None})
    work = work_of(coalesce(trace, gpu), gpu)
    assert work.l2_sectors == 256 * 256 // 8 + 256 * 256
    assert work.slice_cycles == 256 * 256 // 8 + gpu.l2.partial_store_cycles * 256 * 256
    busy = busy_cycles(work, trace, gpu)[BusyPart.slices]
    assert busy == pytest.approx(work.slice_cycles * work.slice_skew / gpu.l2.slices / gpu.l2_clocks)


def test_the_model_of_throughput_knows_repeated_stores():
    """All stores to one flag follow one to the same sector; of a transpose's few do."""
    gpu = load_gpu("tesla-v100")
    work = work_of(coalesce(memsim.trace(flag, gpu=gpu, blocks="all"), gpu), gpu)
    assert work.slice_cycles == 256 * 256 // 8 + gpu.l2.repeated_store_cycles * 256 * 8
    transpose = coalesce(memsim.trace("transpose", gpu=gpu, blocks="all", n=256), gpu)
    each = work_of(transpose, gpu).slice_cycles / (gpu.l2.partial_store_cycles * 256 * 256 + 256 * 256 // 8)
    assert 0.95 < each < 1
