"""Times of benchmarked launches from samples of their blocks."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sass_launches import as_machine_code, needs_machine_code

from memsim.exploration.benchmark_timer import MANY_SIMULATIONS, BenchmarkTimer, _dirty_share
from memsim.exploration.launch_sample import GROUPS, MOST_ROWS, choose_sample, sampled_teams
from memsim.gpu.presets import load_gpu, override
from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.trace import KernelRun

# Each thread reads `steps` floats, a grid's width apart.
SUM = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 x, .param .u32 steps, .param .u64 width)
{
 .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;
 mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
 ld.param.u64 %rd1, [x]; ld.param.u32 %r5, [steps]; ld.param.u64 %rd2, [width];
 mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; mov.u32 %r6, 0;
LOOP:
 ld.global.b32 %r7, [%rd4]; add.s32 %r6, %r6, %r7; add.s64 %rd4, %rd4, %rd2;
 sub.s32 %r5, %r5, 1; setp.ne.s32 %p, %r5, 0; @%p bra LOOP;
 add.s64 %rd5, %rd1, %rd3; st.global.b32 [%rd5], %r6;
 ret;
}
"""
BLOCKS, THREADS, STEPS = 512, 256, 16
# Later blocks take more steps.
LONGER = SUM.replace("[steps];", "[steps]; shr.u32 %r7, %r1, 5; add.s32 %r5, %r5, %r7;")


def launch(x: int, blocks: int = BLOCKS) -> PtxLaunch:
    return PtxLaunch(SUM, "sum", (blocks, 1, 1), (THREADS, 1, 1), [x, STEPS, 4 * BLOCKS * THREADS], registers=16)


@pytest.fixture
def placed():
    memory = DeviceMemory()
    return memory, memory.add(np.zeros(2 * BLOCKS * THREADS * STEPS, np.float32), "x")


def test_samples_become_smaller_after_many_sizes(placed, monkeypatch):
    memory, x = placed
    memory.allocation_at = lambda address: None  # type: ignore[attr-defined]  # no pointers in the parameters
    sizes: list[int] = []
    monkeypatch.setattr(BenchmarkTimer, "simulate", lambda _, run, flushed, rows, scales: sizes.append(rows) or 1.0)
    timer = BenchmarkTimer(load_gpu("a100"), report=lambda line: None)
    for blocks in [*range(1, MANY_SIMULATIONS + 3), 1]:  # the last size is known
        timer.milliseconds(launch(x, blocks), memory, None, False)  # type: ignore[arg-type]
    assert sizes == [MOST_ROWS] * MANY_SIMULATIONS + [MOST_ROWS // 4] * 2


def test_scaled_time_is_simulated_when_asked_again(placed, monkeypatch):
    memory, x = placed
    memory.allocation_at = lambda address: None  # type: ignore[attr-defined]  # no pointers in the parameters

    def simulated(timer, run, flushed, rows, scales):
        timer.scaled += scales
        return 1.0 if scales else 2.0

    monkeypatch.setattr(BenchmarkTimer, "simulate", simulated)
    timer = BenchmarkTimer(load_gpu("a100"), report=lambda line: None)
    asked = [(8, 1.0), (8, 1.0), (16, 1.0), (8, 2.0), (16, 2.0), (8, 2.0)]
    for blocks, expected in asked:
        assert timer.milliseconds(launch(x, blocks), memory, None, False) == expected  # type: ignore[arg-type]
    assert (timer.scaled, timer.simulated) == (0, 2)


def test_blocks_that_are_alike_are_the_first(placed):
    memory, x = placed
    run = KernelRun(launch(x), memory, check=False, tracing=True)
    assert choose_sample(run, 128, 5_000).teams.tolist() == list(range(2 * 128))


def test_blocks_that_differ_are_groups(placed):
    memory, x = placed
    one = replace(launch(x), ptx=LONGER, arguments=[x, STEPS // 2, 4 * BLOCKS * THREADS])
    teams = choose_sample(KernelRun(one, memory, check=False, tracing=True), 64, 5_000).teams
    assert np.count_nonzero(np.diff(teams) > 1) == GROUPS - 1


def test_small_launch_is_sampled_whole(placed):
    memory, x = placed
    sample = choose_sample(KernelRun(launch(x, 64), memory, check=False, tracing=True), 1)
    assert (len(sample.teams), sample.loop) == (64, None)


def test_two_waves_give_nearly_the_same_time(placed):
    memory, x = placed
    run = KernelRun(launch(x), memory, check=False, tracing=True)
    timer = BenchmarkTimer(override(load_gpu("a100"), {"sm.count": 16, "dram.channels": 8}), report=lambda line: None)
    whole = timer.simulate(run, False, 10**9)
    assert timer.simulate(run, False, 5_000) == pytest.approx(whole, rel=0.05)
    assert timer.least_share == 0.5


# One thread of each block takes the lock, counts, and opens the lock.
COUNT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 lock)
{
 .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
 ld.param.u64 %rd1, [lock];
TAKE:
 atom.global.acquire.gpu.cas.b32 %r1, [%rd1], 0, 1; setp.ne.s32 %p, %r1, 0; @%p bra TAKE;
 ld.global.b32 %r2, [%rd1+4]; add.s32 %r2, %r2, 1; st.global.b32 [%rd1+4], %r2;
 atom.global.release.gpu.exch.b32 %r3, [%rd1], 0;
 ret;
}
"""


@needs_machine_code
def test_timed_blocks_open_the_locks_they_take():
    memory = DeviceMemory()
    memory.allocation_at = lambda address: None  # type: ignore[attr-defined]  # no pointers in the parameters
    lock = memory.add(np.zeros(2, np.uint32), "lock")
    counting = as_machine_code(PtxLaunch(COUNT, "count", (8, 1, 1), (1, 1, 1), [lock], registers=16), 80)
    timer = BenchmarkTimer(load_gpu("a100"), report=lambda line: None)
    assert timer.milliseconds(counting, memory, None, False) > 0  # type: ignore[arg-type]
    assert memory.array_at(lock, 4).view(np.uint32)[0] == 0


def test_probes_see_work_that_differs_along_x(placed):
    """Steps by block along x of a grid of 64 x 64: probes at one x would take the blocks for alike."""
    memory, x = placed
    by_x = SUM.replace("mul.wide.u32", "mov.u32 %r4, %tid.x; mul.wide.u32").replace(
        "[steps];", "[steps]; add.s32 %r5, %r1, 1;"
    )
    one = replace(launch(x), ptx=by_x, grid=(64, 64, 1), arguments=[x, 1, 0])
    sample = choose_sample(KernelRun(one, memory, check=False, tracing=True), 64, 5_000)
    assert sample.loop is not None
    assert sample.loop.iterations == pytest.approx(32.5, rel=0.05)


@pytest.mark.parametrize(("row", "sampled"), [(128, 4), (128, 10), (64, 8), (100, 16)])
def test_samples_have_the_mean_work_of_rows(row, sampled):
    teams = sampled_teams(row * 96, sampled, GROUPS, row)
    assert len(set(teams.tolist())) == sampled
    assert (teams % row).mean() == pytest.approx(row / 2, rel=0.1)


def test_sampled_teams_are_distinct_and_inside():
    for n, wanted, row in (
        (7, 7, 7),
        (7, 3, 1),
        (1000, 8, 1000),
        (1000, 37, 10),
        (1000, 37, 60),
        (9, 8, 3),
        (40, 30, 2),
    ):
        teams = sampled_teams(n, wanted, GROUPS, row=row)
        assert len(np.unique(teams)) == len(teams) == wanted
        assert teams.min() >= 0 and teams.max() < n


@pytest.mark.parametrize(("limit", "share"), [(None, 0.25), (7, 1), (16, 0.25)])
def test_limited_dirty_lines_last_through_a_launch(limit, share):
    """A quarter of a launch fills L2: under a limit, its last blocks find as many dirty lines as its first."""
    gpu = override(load_gpu("a100"), {"l2.max_dirty_ways": limit})
    quarter = SimpleNamespace(n_blocks=25, launch=SimpleNamespace(n_blocks=100))
    lines = gpu.l2.size_bytes // 128
    assert _dirty_share(quarter, gpu, lines - 1, 1.0) == pytest.approx(share, rel=1e-3)  # type: ignore[arg-type]
