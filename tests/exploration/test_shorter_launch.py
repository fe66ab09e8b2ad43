"""Launches with fewer iterations, and times of launches from similar ones."""

from __future__ import annotations

import numpy as np
import pytest

from memsim.exploration.benchmark_timer import BenchmarkTimer
from memsim.exploration.launch_sample import MOST_ROWS, choose_sample
from memsim.exploration.shorter_launch import shorter_launch, team_rows
from memsim.exploration.shorter_loops import LENGTHS, main_loop, shortened
from memsim.gpu.presets import load_gpu, override
from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.trace import KernelRun
from tests.exploration.test_shorter_loops import THREADS, TILES

# Rows of tiles have an argument of their own; in TILES their length is the number of steps.
PITCHED = TILES.replace(".param .u32 steps", ".param .u32 steps, .param .u32 pitch").replace(
    "mov.u32 %r6, 0;", "mov.u32 %r6, 0; ld.param.u32 %r10, [pitch];"
)
PITCHED = PITCHED.replace("%r1, %r5, 0", "%r1, %r10, 0").replace("%r2, %r5, 0", "%r2, %r10, 0")
# The last three steps load nothing, as in a pipelined loop, whose loads run ahead.
PIPELINED = PITCHED.replace(".reg .pred %p;", ".reg .pred %p; .reg .pred %q;").replace(
    "LOOP:\n ld.global.b32 %r7, [%rd1]", "LOOP:\n setp.gt.u32 %q, %r8, 3; @%q ld.global.b32 %r7, [%rd1]"
)
PITCH, SIDE = 128, 24


@pytest.fixture(scope="module")
def placed():
    memory = DeviceMemory()
    return memory, *(memory.add(np.zeros(SIDE * PITCH * 1024, np.float32), name) for name in "xy")


def ready(placed, ptx: str = PITCHED, steps: int = 96, side: int = SIDE) -> KernelRun:
    memory, x, y = placed
    arguments = [x, y, steps] if ptx is TILES else [x, y, steps, PITCH]
    launch = PtxLaunch(ptx, "tiles", (side, side, 1), (THREADS, 1, 1), arguments, registers=32)
    return KernelRun(launch, memory, check=False, tracing=True)


def found(run: KernelRun):
    teams = {number: team_rows(run, number) for number in (3, 100)}
    loop = main_loop(teams[3])
    assert loop is not None
    return loop, teams, shorter_launch(run, loop, teams)


@pytest.mark.parametrize("ptx", [PITCHED, PIPELINED], ids=["plain", "pipelined"])
def test_shorter_launch_has_the_rows_kept(placed, ptx):
    run = ready(placed, ptx)
    loop, teams, parameters = found(run)
    assert parameters is not None
    run.set_parameters(parameters)
    rows = team_rows(run, 200)
    assert len(rows.op) < len(teams[3].op) / 4
    kept = shortened(rows, loop.op, LENGTHS[1])
    expected = shortened(team_rows(ready(placed, ptx), 200), loop.op, LENGTHS[1])
    assert np.array_equal(kept.op, expected.op)
    assert (kept.base != expected.base).sum() <= 3 * THREADS // 32  # the last iteration's loads


def test_argument_that_moves_blocks_is_refused(placed):
    run = ready(placed, TILES)
    loop, teams, parameters = found(run)
    assert parameters is None
    assert len(team_rows(run, 3).op) == len(teams[3].op)  # the launch has its own arguments again


def test_sample_of_long_loop_has_shorter_launch(placed):
    sample = choose_sample(ready(placed), 16, 5_000)
    assert sample.loop is not None
    assert sample.shorter is not None


def test_whole_loop_runs_where_more_iterations_seem_faster(placed, monkeypatch):
    loops: list[bool] = []

    def replayed(_, run, shape, sample, flushed):
        loops.append(sample.loop is not None)
        return [0.3, 0.2] if sample.loop is not None else [0.5]

    monkeypatch.setattr(BenchmarkTimer, "_replayed", replayed)
    assert BenchmarkTimer(load_gpu("a100")).simulate(ready(placed), False, 5_000) == 0.5
    assert loops == [True, False]


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
