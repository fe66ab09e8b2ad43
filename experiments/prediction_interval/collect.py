"""``python -m experiments.prediction_interval.collect``: the times of all studies as memsim's table of model errors.

The figures are those of the studies' last full runs: rows of scoreboards, and tables in READMEs. Those of public
programs on an H100 come from ``experiments/silicon``, which is compared by hand.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from experiments.harness import scoreboard
from experiments.silicon.columns import read_table
from memsim.analysis.model_error import HEADER, TABLE
from memsim.support.files import replacing

EXPERIMENTS = Path(__file__).parents[1]
Row = tuple[str, str, str, float, float]  # compute capability, program, launch, measured, predicted

# Launches of one program: kernels of one source file, or of one set of steps from slow to fast.
_GV100 = {
    "gramschmidt": "gramschmidt", "Convolution2D": "2DConvolution", "atax": "atax", "calculate_temp": "hotspot",
    "dynproc": "pathfinder", "Fan": "gaussian", "lud": "lud", "Kernel": "bfs", "find": "b+tree", "bpnn": "backprop",
    "srad": "srad", "mysgemm": "sgemm", "ComputeQ": "mri-q", "CUDAkernel": "dct8x8", "fwt": "fastWalshTransform",
    "histogram": "histogram", "merge": "mergeSort", "quasirandom": "quasirandomGenerator",
    "inverseCND": "quasirandomGenerator", "sobol": "sobolQRNG",
}  # fmt: skip
_MODERN = {
    "add": "readWriteOffset",
    "copy": "smemTranspose",
    "transpose": "smemTranspose",
    "conv": "conv",
    "silu": "silu",
}


def rows() -> Iterator[Row]:
    """All launches whose measured and predicted times stand in a study."""
    for cells in _table("gv100_launches", "counts"):
        yield "7.0", _program(_GV100, cells[0]), cells[0], number(cells[-2]), _predicted(cells[-2], cells[-1])
    for cells in _table("volta_counters", "programs"):
        yield "7.0", _program(_GV100, cells[0]), cells[0], number(cells[-3]), _predicted(cells[-3], cells[-1])
    for cells in _table("modern_counters", "launches"):
        capability = {"rtx4090": "8.9", "a100": "8.0"}[cells[1]]
        yield capability, _program(_MODERN, cells[0]), cells[0], number(cells[-2]), _predicted(cells[-2], cells[-1])
    for cells in scoreboard.kept(EXPERIMENTS / "reduction_ladder" / "scoreboard.csv"):
        if step := re.match(r"(A100, )?v\d", cells[0]):
            yield "8.0" if step[1] else "7.0", "reductions", cells[0], number(cells[1]), number(cells[2])
    for cells in scoreboard.kept(EXPERIMENTS / "sgemm_ladder" / "scoreboard.csv"):
        if re.match(r"\d", cells[0]):  # rates, so the inverse of times
            yield "8.6", "SGEMM", cells[0], 1 / number(cells[1]), 1 / number(cells[2])
    for cells in scoreboard.kept(EXPERIMENTS / "cudamicrobench2021" / "scoreboard.csv"):
        if cells[0].endswith("version"):
            capability = "3.7" if "k80" in cells[0] else "8.6" if "rtx3080" in cells[0] else "7.0"
            yield capability, cells[0].split(",")[0], cells[0], number(cells[1]), number(cells[2])
    for kernel, gpu, size, measured, predicted, *_ in _table("liger", "times"):
        capability = {"a100": "8.0", "rtx3090": "8.6", "h100": "9.0"}[gpu]
        yield capability, kernel.split(",")[0], f"{kernel}, {size}", number(measured), number(predicted)
    for row in read_table(EXPERIMENTS / "silicon" / "h100" / "compared.csv"):
        if row["table"] == "programs" and row["memsim_nanoseconds"]:
            launch = f"{row['kernel']}, launch {row['launch']}"
            yield "9.0", row["program"], launch, float(row["nanoseconds"]), float(row["memsim_nanoseconds"])


def _table(study: str, name: str) -> list[list[str]]:
    """The rows of a table in a study's README."""
    text = (EXPERIMENTS / study / "README.md").read_text(encoding="utf-8")
    table = text.split(f"<!-- table {name} -->")[1].split("<!-- end -->")[0].strip().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def _program(programs: dict[str, str], kernel: str) -> str:
    return next(program for start, program in programs.items() if kernel.startswith(start))


def number(text: str) -> float:
    """A number as scoreboards write it.

    >>> number("1,168")
    1168.0
    """
    return float(text.replace(",", ""))


def _predicted(measured: str, percent: str) -> float:
    """The predicted figure that is some percent off the measured one."""
    return number(measured) * (1 + float(percent) / 100)


def main() -> None:
    """Write the table."""
    lines = [[*texts, f"{measured:.5g}", f"{predicted:.5g}"] for *texts, measured, predicted in rows()]
    with replacing(TABLE) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *lines])


if __name__ == "__main__":
    main()
