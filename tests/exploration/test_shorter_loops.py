"""Samples with fewer iterations of a loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memsim.exploration.benchmark_timer import BenchmarkTimer
from memsim.exploration.launch_sample import choose_sample
from memsim.exploration.shorter_loops import LEAST, LENGTHS, main_loop, shortened
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
SIDE, THREADS, STEPS = 24, 256, 96
WARPS = THREADS // 32


@pytest.fixture(scope="module")
def placed():
    memory = DeviceMemory()
    return memory, *(memory.add(np.zeros(SIDE * STEPS * 1024, np.float32), name) for name in "xy")


def ready(placed, steps: int = STEPS, side: int = SIDE) -> KernelRun:
    memory, x, y = placed
    launch = PtxLaunch(TILES, "tiles", (side, side, 1), (THREADS, 1, 1), [x, y, steps], registers=32)
    return KernelRun(launch, memory, check=False, tracing=True)


def rows(run: KernelRun):
    run.blocks(np.arange(1))
    return run.chunk(1, 0)


def test_loop_of_a_kernel_is_found(placed):
    chunk = rows(ready(placed))
    loop = main_loop(chunk)
    assert loop is not None
    assert loop.iterations == STEPS
    left_out = len(chunk.op) - len(shortened(chunk, loop.op, LENGTHS[0]).op)
    assert left_out == 3 * WARPS * (STEPS - 1 - LENGTHS[0])  # two loads and the barrier
    assert main_loop(rows(ready(placed, LEAST - 1))) is None


def test_warps_with_other_counts_are_not_cut(placed):
    chunk = rows(ready(placed))
    op = main_loop(chunk).op
    changed = chunk.op.copy()
    changed[np.flatnonzero(chunk.op == op)[0]] += 1
    assert main_loop(replace(chunk, op=changed)) is None


def test_shortened_rows_are_those_of_a_shorter_launch(placed):
    """All but the addresses of the last iteration, which stay those of the whole loop's."""
    whole, kept = rows(ready(placed)), LENGTHS[0]
    shorter = shortened(whole, main_loop(whole).op, kept)
    other = rows(ready(placed, kept + 1))
    assert np.array_equal(shorter.first_instruction, other.first_instruction)
    for name in ("op", "flags", "compute_run", "mask", "stride", "wait_long", "instruction_mix"):
        assert np.array_equal(getattr(shorter, name), getattr(other, name)), name
    same = shortened(whole, main_loop(whole).op, STEPS)
    assert np.array_equal(same.base, whole.base)


@pytest.mark.slow
def test_cut_loop_takes_as_long_as_whole_launch(placed):
    """The first wave reads most tiles from memory, the three others find half of them in L2."""
    gpu = override(load_gpu("a100"), {"sm.count": 8, "dram.channels": 4})
    run, wave = ready(placed, side=16), 8 * gpu.sm.max_threads // THREADS
    few = 5_000
    sample = choose_sample(run, wave, few)
    assert sample.loop is not None
    assert len(sample.teams) == 2 * wave == run.launch.n_blocks // 2
    whole, cut = (BenchmarkTimer(gpu).simulate(run, False, rows) for rows in (10**9, few))
    assert cut == pytest.approx(whole, rel=0.1)
