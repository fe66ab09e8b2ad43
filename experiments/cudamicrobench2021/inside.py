"""The pairs whose difference lies inside a kernel, on a Tesla V100, beside the times that its authors publish."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memsim
from experiments.papers.parallel import mapped
from experiments.papers.study import Setting
from memsim.analysis.result import Result

GPU = "tesla-v100"
TRIALS = 3
MEASURED = Path(__file__).with_name("measured.csv")

# Benchmark -> workload, parameter that holds n, what both versions have, the slow one's parameters, the fast one's.
# AXPY's loops run on a grid of 1024 blocks; Shmem's matrices are of doubles, its tiles 16 x 16.
PAIRS: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "WarpDivRedux": ("warp_divergence", {}, dict(variant="lanes"), dict(variant="warps")),
    "CoMem": ("saxpy", dict(dtype="float64"), dict(variant="block"), dict(variant="cyclic")),
    "MemAlign": ("saxpy", dict(dtype="float64"), dict(offset=1), dict(offset=0)),
    "BankRedux": ("reduction", {}, dict(variant="interleaved"), dict(variant="sequential")),
    "Shmem": ("matmul", dict(dtype="float64"), dict(variant="naive"), dict(variant="tiled")),
}


@dataclass(frozen=True)
class Time:
    """One version at one size: microseconds measured, and as memsim predicts them."""

    benchmark: str
    version: str
    n: int
    measured: float
    result: Result

    @property
    def predicted(self) -> float:
        return 1000 * self.result.kernel_time.mean


def times(setting: Setting) -> list[Time]:
    """Every version at every size; a quick run takes the smallest of each benchmark, and leaves out the products."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    smallest = {row["benchmark"]: min(int(r["n"]) for r in rows if r["benchmark"] == row["benchmark"]) for row in rows}
    if setting.quick:
        rows = [row for row in rows if int(row["n"]) == smallest[row["benchmark"]] and row["benchmark"] != "Shmem"]
    return mapped(_time, [(row, 2 if setting.quick else TRIALS) for row in rows], setting.jobs, "kernels")


def _time(asked: tuple[dict[str, str], int]) -> Time:
    row, trials = asked
    name, common, slow, fast = PAIRS[row["benchmark"]]
    parameters = common | (slow if row["version"] == "slow" else fast) | {"n": int(row["n"])}
    trace = memsim.trace(name, gpu=GPU, blocks="all", **parameters)
    settings = {"stochastic.start_alignment": False}  # a whole launch, from its first block on
    result = memsim.simulate(trace, gpu=GPU, trials=trials, seed=1, settings=settings)
    return Time(row["benchmark"], row["version"], int(row["n"]), float(row["microseconds"]), result)
