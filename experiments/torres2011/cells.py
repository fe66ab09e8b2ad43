"""The paper's tables: cells by block shape (rows, columns), as printed; and how near ours come."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

Shape = tuple[int, int]  # rows and columns of a block of threads
Cells = dict[Shape, float]

RANDOM, ADD, MULTIPLY, MISSES = "t2_random_ms", "t3a_add_ms", "t4a_matmul_ms", "t4b_matmul_l1miss_M"
TIMES = (RANDOM, ADD, MULTIPLY)
TITLES = {
    RANDOM: "random copy, ms",
    ADD: "sum, ms",
    MULTIPLY: "product, ms",
    MISSES: "L1 load misses, millions",
}
SHAPES: list[Shape] = [(2**i, 2**j) for i in range(11) for j in range(11 - i)]
COUNTER = 2**32 / 1e6  # table IV(b) prints 4 294 where the profiler's counter is full, millions


def published(table: str) -> Cells:
    """The cells of `table` that are at hand; about half are not."""
    with open(Path(__file__).with_name("published.csv"), newline="") as file:
        return {
            (int(row["block_rows"]), int(row["block_cols"])): float(row["value"])
            for row in csv.DictReader(file)
            if row["table"] == table
        }


class Score(NamedTuple):
    """How near ours come to the published cells.

    Attributes:
        correlation: of the logarithms.
        ratio: median of memsim over published.
        octaves: mean of |log2(ours / published)|.
        cells: how many.
    """

    correlation: float
    ratio: float
    octaves: float
    cells: int


def score(ours: Mapping[Shape, float], theirs: Mapping[Shape, float]) -> Score:
    """Of the shapes that both have.

    >>> score({(1, 1): 2.0, (1, 2): 16.0}, {(1, 1): 1.0, (1, 2): 8.0, (9, 9): 1.0})
    Score(correlation=1.0, ratio=2.0, octaves=1.0, cells=2)
    """
    shapes = [shape for shape in theirs if shape in ours]
    x, y = (np.log2([cells[shape] for shape in shapes]) for cells in (ours, theirs))
    correlation = float(np.corrcoef(x, y)[0, 1]) if len(shapes) > 1 else float("nan")
    return Score(round(correlation, 9), float(2 ** np.median(x - y)), float(np.abs(x - y).mean()), len(shapes))
