"""Samples with fewer iterations of a loop, and times of launches from similar ones."""

from __future__ import annotations

import numpy as np
import pytest

from memsim.exploration.benchmark_timer import BenchmarkTimer
from memsim.exploration.launch_sample import MOST_ROWS, choose_sample
from memsim.exploration.loop_times import SampleTime
from memsim.exploration.shorter_loops import LEAST, LENGTHS, iterations, main_loop, team_rows
from memsim.gpu.presets import load_gpu, override
from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.trace import KernelRun

# As in a matrix product, a block reads tiles of a row of `x` and of a column of `y`, with a barrier in each step.
TILES = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry tiles(.param .u64 x, .param .u64 y, .param .u32 steps)
{
 .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .pred %p;
 mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %tid.x; ld.param.u32 %r5, [steps];
 ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r6, 0; mov.u32 %r8, %r5;
 mad.lo.s32 %r9, %r1, %r5, 0; mul.wide.u32 %rd3, %r9, 4096; mul.wide.u32 %rd4, %r3, 16;
 add.s64 %rd1, %rd1, %rd3; add.s64 %rd1, %rd1, %rd4;
 mad.lo.s32 %r9, %r2, %r5, 0; mul.wide.u32 %rd3, %r9, 4096; add.s64 %rd2, %rd2, %rd3; add.s64 %rd2, %rd2, %rd4;
 add.s64 %rd5, %rd1, 0;
LOOP:
 ld.global.b32 %r7, [%rd1]; add.s32 %r6, %r6, %r7; ld.global.b32 %r7, [%rd2]; add.s32 %r6, %r6, %r7;
 add.s64 %rd1, %rd1, 4096; add.s64 %rd2, %rd2, 4096; bar.sync 0;
 sub.s32 %r8, %r8, 1; setp.ne.s32 %p, %r8, 0; @%p bra LOOP;
 st.global.b32 [%rd5], %r6;
 ret;
}
"""
# Rows of tiles have an argument of their own; in TILES their length is the number of steps.
PITCHED = TILES.replace(".param .u32 steps", ".param .u32 steps, .param .u32 pitch").replace(
    "mov.u32 %r6, 0;", "mov.u32 %r6, 0; ld.param.u32 %r10, [pitch];"
)
PITCHED = PITCHED.replace("%r1, %r5, 0", "%r1, %r10, 0").replace("%r2, %r5, 0", "%r2, %r10, 0")
# As in causal attention, a block takes the more steps the larger its y is.
TRIANGLE = PITCHED.replace("add.s64 %rd5", "mad.lo.s32 %r8, %r2, 8, %r5; add.s64 %rd5")
# The loop of steps lies in a loop of tiles, as in a persistent kernel.
NESTED = PITCHED.replace("LOOP:", "mov.u32 %r11, 3;\nTILE:\n mov.u32 %r8, %r5;\nLOOP:").replace(
    "@%p bra LOOP;", "@%p bra LOOP; sub.s32 %r11, %r11, 1; setp.ne.s32 %p, %r11, 0; @%p bra TILE;"
)
# The loop is left in its middle, and repeated by a branch without a condition.
TESTED_FIRST = PITCHED.replace(
    "sub.s32 %r8, %r8, 1; setp.ne.s32 %p, %r8, 0; @%p bra LOOP;", "sub.s32 %r8, %r8, 1; bra LOOP;\nEND:"
).replace("LOOP:", "LOOP:\n setp.eq.s32 %p, %r8, 0; @%p bra END;")
# Behind that branch stands what this launch never executes.
ELSEWHERE = TESTED_FIRST.replace("bra LOOP;\nEND:", "bra LOOP;\nOTHER: atom.global.add.u32 %r7, [%rd5], 1;\nEND:")
SIDE, THREADS, STEPS, PITCH = 24, 256, 96, 281


@pytest.fixture(scope="module")
def placed():
    memory = DeviceMemory()
    return memory, *(memory.add(np.zeros(SIDE * PITCH * 1024, np.float32), name) for name in "xy")


def ready(placed, ptx: str = PITCHED, steps: int = STEPS, side: int = SIDE) -> KernelRun:
    memory, x, y = placed
    launch = PtxLaunch(ptx, "tiles", (side, side, 1), (THREADS, 1, 1), [x, y, steps, PITCH], registers=32)
    return KernelRun(launch, memory, check=False, tracing=True)


def found(run: KernelRun, teams=(3, 100)):
    return main_loop(run, {number: team_rows(run, number) for number in teams})


def same_rows(one, other) -> bool:
    names = [name for name in one.__dataclass_fields__ if name != "warps"]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_loop_of_a_kernel_is_found(placed):
    loop = found(ready(placed))
    assert loop is not None
    assert loop.iterations == STEPS
    assert found(ready(placed, steps=LEAST - 1)) is None


@pytest.mark.parametrize("length", LENGTHS)
def test_cut_loop_has_rows_of_shorter_launch(placed, length):
    run = ready(placed)
    loop = found(run)
    whole = team_rows(run, 200)
    run.cut_loop(loop.branch, length)
    assert same_rows(team_rows(run, 200), team_rows(ready(placed, steps=length), 200))
    run.cut_loop(-1, 0)
    assert same_rows(team_rows(run, 200), whole)


def test_shorter_loops_end_by_themselves(placed):
    run = ready(placed, steps=LENGTHS[0] - 1)
    run.cut_loop(found(ready(placed)).branch, LENGTHS[0])
    assert same_rows(team_rows(run, 7), team_rows(ready(placed, steps=LENGTHS[0] - 1), 7))


def test_mean_of_blocks_that_differ_counts(placed):
    run = ready(placed, TRIANGLE)
    sample = choose_sample(run, 64, 5_000)
    assert sample.is_cut
    assert sample.loop.iterations == pytest.approx(STEPS + 8 * (SIDE - 1) / 2, rel=0.05)


@pytest.mark.parametrize(("ptx", "is_cut"), [(TESTED_FIRST, True), (ELSEWHERE, False)])
def test_what_follows_unconditional_branch_is_checked(placed, ptx, is_cut):
    assert (found(ready(placed, ptx)) is not None) == is_cut


def test_loop_within_a_loop_is_not_cut(placed):
    run = ready(placed, NESTED)
    assert iterations(team_rows(run, 3), 0).max() == 3 * STEPS
    assert found(run) is None


@pytest.mark.slow
@pytest.mark.parametrize("ptx", [PITCHED, TRIANGLE], ids=["alike", "different"])
def test_cut_loop_takes_as_long_as_whole_launch(placed, ptx):
    """The first wave reads most tiles from memory, the three others find half of them in L2."""
    gpu = override(load_gpu("a100"), {"sm.count": 8, "dram.channels": 4})
    run, wave = ready(placed, ptx, side=16), 8 * gpu.sm.max_threads // THREADS
    few = 5_000
    assert choose_sample(run, wave, few).is_cut
    whole, cut = (BenchmarkTimer(gpu).simulate(run, False, rows) for rows in (10**9, few))
    assert cut == pytest.approx(whole, rel=0.1)


def test_whole_loop_runs_where_more_iterations_seem_faster(placed, monkeypatch):
    cuts: list[bool] = []

    def replayed(_, run, shape, sample, flushed):
        cuts.append(sample.is_cut)
        return [SampleTime(5, 0.3), SampleTime(10, 0.2)] if sample.is_cut else [SampleTime(96, 0.5)]

    monkeypatch.setattr(BenchmarkTimer, "_replayed", replayed)
    assert BenchmarkTimer(load_gpu("a100")).simulate(ready(placed), False, 5_000) == 0.5
    assert cuts == [True, False]


@pytest.mark.slow
def test_sweeps_scale_times_of_similar_launches(placed):
    gpu = override(load_gpu("a100"), {"sm.count": 8, "dram.channels": 4})
    few, larger = 5_000, (112, 20)
    sweep = BenchmarkTimer(gpu)
    sweep.simulate(ready(placed, steps=96, side=16), False, few)
    scaled = sweep.simulate(ready(placed, PITCHED, *larger), False, few)
    assert sweep.scaled == 1
    assert few < MOST_ROWS
    assert scaled == pytest.approx(BenchmarkTimer(gpu).simulate(ready(placed, PITCHED, *larger), False, few), rel=0.1)
    sweep.simulate(ready(placed, PITCHED, *larger), False)
    assert sweep.scaled == 1  # full samples are simulated
