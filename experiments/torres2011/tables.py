"""The study's tables: in the README as Markdown, and every predicted cell as CSV."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from experiments.harness.readme import markdown
from experiments.harness.scoreboard import significant
from experiments.torres2011.cells import Cells, Score, Shape
from memsim.support.files import replacing


def of_scores(rows: Mapping[str, Score]) -> str:
    """One row a score."""
    headers = ["", "cells", "log-correlation", "median ratio", "mean abs. log2 error"]
    body = [
        [name, str(one.cells), f"{one.correlation:.3f}", f"{one.ratio:.2f}", f"{one.octaves:.2f}"]
        for name, one in rows.items()
    ]
    return markdown(headers, body)


def grid(ours: Mapping[Shape, float], theirs: Mapping[Shape, float]) -> str:
    """The paper's layout: "published / ours", or ours alone, in brackets, where the published cell is not at hand.

    >>> print(grid({(1, 1): 2.0, (1, 2): 3.25, (2, 1): 4.0}, {(1, 1): 1.0}))
    | rows \\ columns | 1 | 2 |
    |---|--:|--:|
    | 1 | 1 / 2 | (3.25) |
    | 2 | (4) |  |
    """
    sides = sorted({side for shape in ours for side in shape})
    body = [[str(rows), *(_cell((rows, columns), ours, theirs) for columns in sides)] for rows in sides]
    return markdown(["rows \\ columns", *map(str, sides)], body)


def _cell(shape: Shape, ours: Mapping[Shape, float], theirs: Mapping[Shape, float]) -> str:
    if shape not in ours:
        return ""
    own = significant(ours[shape], 3)
    return f"{significant(theirs[shape])} / {own}" if shape in theirs else f"({own})"


def write_cells(path: Path, printed: Mapping[str, Cells], kernel: Mapping[str, Cells]) -> None:
    """Every predicted cell: `value` as the paper would print it, `kernel` without what its timer reads beyond that."""
    with replacing(path) as temporary, open(temporary, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["table", "block_rows", "block_cols", "value", "kernel"])
        for table, cells in printed.items():
            rows.writerows([table, *shape, f"{cells[shape]:.5g}", f"{kernel[table][shape]:.5g}"] for shape in cells)
