"""memsim.prune next to times measured on a GPU: ``python -m experiments.pruning.measured TUTORIALS``.

TUTORIALS is the folder of Triton's tutorials, of version 3.6.0 where times were measured. The kernel of the matrix
product and its configurations are the tutorial's own; its benchmark is not run. Needs Triton and torch for the CPU.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import memsim
from experiments.pruning.matmul import matmul_arguments
from experiments.pruning.tutorials import definitions
from memsim.gpu.presets import load_gpu

HERE = Path(__file__).parent
MEASURED = HERE.parent / "silicon" / "h100" / "triton_times.csv"
TABLE, RANKS = HERE / "measured.csv", HERE / "measured_ranks.csv"
GPU, KEEP, SIZES = "h100", 3, (512, 1024, 2048, 4096)


@dataclass(frozen=True)
class Compared:
    """A configuration's time in milliseconds, as measured and as predicted; inf: it does not run."""

    case: str
    config: str
    measured: float
    predicted: float


@dataclass(frozen=True)
class Ranks:
    """How the measured and the predicted order of a case agree.

    Attributes:
        case: kernel and size.
        configs: that ran on the GPU.
        best_rank: place of the fastest measured configuration in the predicted order, from 1.
        loss: percent by which the fastest of the configurations kept is slower than the fastest of all.
        kendall: share of pairs of configurations in the same order, minus the share in the other.
        cpu_seconds: processor time of the prediction.
    """

    case: str
    configs: int
    best_rank: int
    loss: float
    kendall: float
    cpu_seconds: float


def measured_times() -> dict[tuple[str, str], float]:
    """Milliseconds by case and configuration; inf where it did not run on the GPU."""
    with MEASURED.open(newline="", encoding="utf-8") as file:
        return {(row["case"], row["config"]): float(row["ms"] or inf) for row in csv.DictReader(file) if row["config"]}


def compared(case: str, times: Sequence[tuple[Any, float]]) -> list[Compared]:
    """The configurations of a case, in the predicted order."""
    known = measured_times()
    return [Compared(case, str(one).strip(), known[case, str(one).strip()], predicted) for one, predicted in times]


def ranks(rows: Sequence[Compared], cpu_seconds: float, keep: int = KEEP) -> Ranks:
    """The agreement of a case's rows, which are in the predicted order.

    >>> rows = [Compared("a", "x", 3.0, 1.0), Compared("a", "y", 2.0, 2.0), Compared("a", "z", inf, inf)]
    >>> ranks(rows, 0.0, keep=1)
    Ranks(case='a', configs=2, best_rank=2, loss=50.0, kendall=-1.0, cpu_seconds=0.0)
    """
    ran = [one for one in rows if one.measured < inf]
    best = min(ran, key=lambda one: one.measured)
    kept = min(one.measured for one in rows[:keep])
    agreement = [
        (later.measured > earlier.measured) - (later.measured < earlier.measured)
        for number, earlier in enumerate(ran)
        for later in ran[number + 1 :]
    ]
    loss = 100 * (kept / best.measured - 1)
    kendall = sum(agreement) / max(len(agreement), 1)
    return Ranks(best.case, len(ran), rows.index(best) + 1, round(loss, 1), round(kendall, 2), round(cpu_seconds, 1))


def write(path: Path, rows: Sequence[Any]) -> None:
    """Replace the cases of these rows in a table, and keep its others."""
    cases = {one.case for one in rows}
    names = list(vars(rows[0]))
    kept: list[list[str]] = []
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            kept = [[row[name] for name in names] for row in csv.DictReader(file) if row["case"] not in cases]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *kept, *([*vars(one).values()] for one in rows)])


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tutorials", type=Path)
    parser.add_argument("--size", type=int, choices=SIZES, action="append", help="rows and columns of the matrices")
    given = parser.parse_args()
    gpu = load_gpu(GPU)
    names = definitions(given.tutorials / "03-matrix-multiplication.py", set(), gpu)
    tuned = names["matmul_kernel"]
    for n in given.size or SIZES:
        case, (named, grid) = f"matmul {n}", matmul_arguments(n)
        begin = time.process_time()
        times = memsim.predicted_times(tuned.configs, named, gpu=gpu, kernel=tuned.fn, grid=grid)
        rows = compared(case, times)
        write(TABLE, [Compared(one.case, one.config, one.measured, float(f"{one.predicted:.4g}")) for one in rows])
        found = ranks(rows, time.process_time() - begin)
        write(RANKS, [found])
        print(found, flush=True)


if __name__ == "__main__":
    main()
