"""Predicts the cells of the paper's tables, each from a snapshot of its kernel on `gtx480`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import memsim
from experiments.harness.parallel import mapped
from experiments.torres2011.cells import ADD, MULTIPLY, RANDOM, Shape
from experiments.torres2011.kernels import GENERATOR, REGISTERS, N, matrix_sum, naive_product, random_elements
from memsim.gpu.occupancy import resident_blocks
from memsim.gpu.presets import load_gpu
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.support.errors import InputError

GPU = "gtx480"
KERNEL = {RANDOM: "scattered_copy", ADD: "add", MULTIPLY: "product"}
L1: dict[str, dict[str, object]] = {
    "16 KB": {},
    "48 KB": {"l1.size_bytes": 49152, "l1.ways": 6, "sm.shared_bytes": 16384},
    "off": {"l1.enabled": False},
}


@dataclass(frozen=True)
class Size:
    """How large the snapshots are.

    Attributes:
        steps: of the product's loop, a shorter and a longer window; what is between them tells the steady state.
        warps: of the other kernels, at least.
        waves: of the other kernels' blocks, at least.
        trials: of each.
    """

    steps: tuple[int, int]
    warps: int
    waves: int
    trials: int


FULL = Size((64, 160), 8192, 8, 1)
COMPARED = Size((32, 64), 0, 0, 1)  # for the product with other L1s
QUICK = Size((16, 32), 1024, 2, 1)


@dataclass(frozen=True)
class Job:
    """One shape of one table.

    Attributes:
        option: of the product a key of L1; of the copy instructions of the generator, or a key of L1 for the usual one.
    """

    table: str
    shape: Shape
    option: str | int
    size: Size


@dataclass(frozen=True)
class Prediction:
    """Milliseconds of the kernel for a table of times, by trial; L1 load misses of one SM for the product, millions."""

    job: Job
    ms: tuple[float, ...]
    misses: tuple[float, ...] = ()


def predict(jobs: Sequence[Job], workers: int) -> list[Prediction]:
    """All of `jobs`, in their order."""
    return mapped(_run, jobs, workers, "snapshots")


def jobs(shapes: Sequence[Shape], table: str, options: Sequence[str | int], size: Size) -> Iterator[Job]:
    """Those of `shapes` that the GPU can launch."""
    for option in options:
        asked = (Job(table, shape, option, size) for shape in shapes)
        yield from (job for job in asked if _resident(job))


def _run(job: Job) -> Prediction:
    with TemporaryDirectory() as folder:
        path = Path(folder, "trace.h5")
        return _product(job, path) if job.table == MULTIPLY else _whole_blocks(job, path)


def _product(job: Job, path: Path) -> Prediction:
    """From one wave of blocks, all that the GPU holds: what the steps between two windows take, times all steps."""
    rows, columns = job.shape
    gpu = load_gpu(GPU)
    blocks = gpu.sm.count * _resident(job)
    settings = {"stochastic.start_alignment": False, **L1[str(job.option)]}
    cycles, misses = [], []
    for steps in job.size.steps:
        trace = memsim.trace(
            naive_product, out=path, gpu=gpu, blocks=f"0:{blocks}", rows=rows, columns=columns, steps=steps
        )
        result = memsim.simulate(trace, GPU, trials=job.size.trials, seed=1, settings=settings)
        cycles.append(result.cycles.values)
        counters = result.trials.counters  # [trial, op, level, event, unit]
        misses.append(counters[:, :, Level.l1, Event.read_miss, CountUnit.transactions].sum(axis=1))
    waves = N * N / (rows * columns * blocks)
    short, long = job.size.steps
    rest = (N - short) / (long - short)
    kernel = waves * (cycles[0] + rest * (cycles[1] - cycles[0]))
    missed = waves / gpu.sm.count * (misses[0] + rest * (misses[1] - misses[0]))
    return Prediction(job, tuple(kernel / gpu.sm.clock_mhz / 1e3), tuple(missed / 1e6))


def _whole_blocks(job: Job, path: Path) -> Prediction:
    """From some waves of whole blocks."""
    rows, columns = job.shape
    gpu = load_gpu(GPU)
    wave = gpu.sm.count * _resident(job)
    warps = -(-rows * columns // gpu.sm.warp_size)
    blocks = min(N * N // (rows * columns), wave * max(job.size.waves, -(-job.size.warps // (wave * warps))))
    settings = L1.get(str(job.option), {})
    generator = GENERATOR if job.option in L1 else job.option
    kernel, more = (matrix_sum, {}) if job.table == ADD else (random_elements, {"generator": generator})
    trace = memsim.trace(kernel, out=path, gpu=gpu, blocks=f"0:{blocks}", rows=rows, columns=columns, **more)
    result = memsim.simulate(trace, GPU, trials=job.size.trials, seed=1, settings=settings)
    return Prediction(job, tuple(result.kernel_time.values))


def _resident(job: Job) -> int:
    return resident(job.table, job.shape)


def resident(table: str, shape: Shape) -> int:
    """Blocks of a table's kernel that one SM holds; 0 where it holds none."""
    try:
        return resident_blocks(load_gpu(GPU), shape[0] * shape[1], REGISTERS[KERNEL[table]], 0)
    except InputError:
        return 0
