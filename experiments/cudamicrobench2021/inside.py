"""The pairs whose difference lies inside a kernel, compared with the times that their authors publish."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memsim
from experiments.cudamicrobench2021.programs import REPOSITORY, captured
from experiments.gv100_launches.programs import downloads
from experiments.harness.parallel import mapped
from experiments.harness.study import Setting
from memsim.analysis.result import RunResult

TRIALS = 3
MEASURED = Path(__file__).with_name("measured.csv")

# Benchmark -> workload, parameter that holds n, what both versions have, the slow one's parameters, the fast one's.
# AXPY's loops run on a grid of 1024 blocks; Shmem's matrices are of doubles, its tiles 16 x 16; nvcc unrolls loops.
PAIRS: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "WarpDivRedux": ("warp_divergence", {}, dict(variant="lanes"), dict(variant="warps")),
    "CoMem": ("saxpy", dict(dtype="float64"), dict(variant="block"), dict(variant="cyclic")),
    "MemAlign": ("saxpy", dict(dtype="float64"), dict(offset=1), dict(offset=0)),
    "BankRedux": ("reduction", {}, dict(variant="interleaved"), dict(variant="sequential")),
    "Shmem": ("matmul", dict(dtype="float64"), dict(variant="naive", unroll=16), dict(variant="tiled", unroll=16)),
    "Shuffle": ("warp_sum", {}, dict(variant="memory"), dict(variant="shuffle")),
    "GSOverlap": ("staged_axpy", {}, dict(variant="staged"), dict(variant="async")),
    "CoMem_SpMM": ("sparse_product", {}, dict(variant="csr"), dict(variant="csc")),
    "ReadOnlyMem": ("texture_add", {}, dict(variant="global"), dict(variant="texture")),
}
SIZE = {"CoMem_SpMM": "rows"}  # the parameter that holds n, where it is not n
SLOW_TO_TRACE = ("Shmem", "CoMem_SpMM")  # left out of quick runs
WHOLE = 1 << 20  # threads up to which a launch is traced whole; of larger ones a snapshot


@dataclass(frozen=True)
class Time:
    """One version at one size: microseconds measured (nan: not published), and as memsim predicts them.

    Attributes:
        parts: how many times what was traced the whole is.
        traced: ``captured``, of the authors' program, or ``described``.
    """

    benchmark: str
    gpu: str
    version: str
    n: int
    measured: float
    result: RunResult
    parts: float = 1.0
    traced: str = "described"

    @property
    def predicted(self) -> float:
        return 1000 * self.parts * self.result.kernel_time.mean


def times(setting: Setting) -> list[Time]:
    """Every version at every size; a quick run takes parts of the smallest of each benchmark but the products."""
    downloaded = None if setting.quick else downloads(REPOSITORY)
    with MEASURED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    smallest = {row["benchmark"]: min(int(r["n"]) for r in rows if r["benchmark"] == row["benchmark"]) for row in rows}
    if setting.quick:
        rows = [row for row in rows if int(row["n"]) == smallest[row["benchmark"]]]
        rows = [row for row in rows if row["benchmark"] not in SLOW_TO_TRACE]
    return mapped(time_of, [(row, setting.quick, downloaded) for row in rows], setting.jobs, "kernels")


def time_of(asked: tuple[dict[str, str], bool, Path | None]) -> Time:
    """A row of `measured.csv` and memsim's result: whether quickly, and the folder of the downloads."""
    row, quick, downloaded = asked
    benchmark, gpu, n = row["benchmark"], row["gpu"], int(row["n"])
    trace, parts, traced = captured(benchmark, row["version"], n, gpu, downloaded), 1.0, "captured"
    if trace is None:
        (trace, parts), traced = _described(benchmark, row["version"], n, gpu, quick), "described"
    settings = {"stochastic.start_alignment": False}  # a launch from its first block on
    result = memsim.simulate(trace, gpu=gpu, trials=2 if quick else TRIALS, seed=1, settings=settings)
    return Time(benchmark, gpu, row["version"], n, float(row["microseconds"] or math.nan), result, parts, traced)


def _described(benchmark: str, version: str, n: int, gpu: str, quick: bool) -> tuple[memsim.Trace, float]:
    """The trace of a version's description, and how many times it the whole is."""
    name, common, slow, fast = PAIRS[benchmark]
    traced, parts = _traced(benchmark, version, n, quick)
    parameters = common | (slow if version == "slow" else fast) | {SIZE.get(benchmark, "n"): n} | traced
    threads = n * n if benchmark == "ReadOnlyMem" else 0
    return memsim.trace(name, gpu=gpu, blocks="all" if threads <= WHOLE and not quick else None, **parameters), parts


def _traced(benchmark: str, version: str, n: int, quick: bool) -> tuple[dict[str, int], float]:
    """What of a large problem is traced, as parameters, and how many times that the whole is.

    Blocks of Shuffle's sums do all the same, and so do the columns of a sparse product by rows.
    """
    if benchmark == "Shuffle":
        part = 1 << 20 if quick else 1 << 23
        return {"n": part}, n / part
    if benchmark == "CoMem_SpMM" and version == "slow":
        return {"columns": 1}, n
    return {}, 1.0
