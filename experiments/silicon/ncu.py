"""Nsight Compute: the command line of a profile, and its CSV as numbers.

Caches are flushed before each kernel, which is ncu's default. Its control of clocks is off: it would hold an H100 at
its base clock, which no user's program sees.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from experiments.silicon.columns import COLUMNS, short
from memsim.support.errors import InputError

_ABOUT = ("Kernel Name", "Block Size", "Grid Size")


def command(program: Sequence[str], log: Path, metrics: str, kernel: str = "", count: int = 0) -> list[str]:
    """The command line that profiles launches of a program into a file.

    Args:
        program: the executable and its arguments.
        log: for ncu's output.
        metrics: their names, joined by commas.
        kernel: a regular expression of the kernels' names; "": all.
        count: launches at most; 0: all.
    """
    line = ["ncu", "--clock-control", "none", "--metrics", metrics, "--csv", "--page", "raw", "--print-units", "base"]
    line += ["--kernel-name", f"regex:{kernel}"] if kernel else []
    line += ["--launch-count", str(count)] if count else []
    return [*line, "--log-file", str(log), *program]


@dataclass(frozen=True)
class Launch:
    """A kernel's launch with its counters.

    Attributes:
        kernel, block, grid: as ncu prints them.
        values: by metric, in ncu's base units; what ncu could not tell (``n/a``) is left out.
    """

    kernel: str
    block: str
    grid: str
    values: dict[str, float]

    def row(self) -> dict[str, str]:
        """Kernel, grid, block and the counters under the names of :data:`COLUMNS`."""
        counted = {name: short(self.values[metric]) for name, metric in COLUMNS.items() if metric in self.values}
        return {"kernel": self.kernel, "grid": _extent(self.grid), "block": _extent(self.block), **counted}


def _extent(text: str) -> str:
    """
    >>> _extent("(16, 2, 1)")
    '16x2x1'
    """
    return text.strip("()").replace(", ", "x")


def launches(text: str, where: str | Path) -> list[Launch]:
    """Every launch of ``ncu --csv --page raw``, with each metric that the file has a number for.

    Raises:
        InputError: no header, or one without a launch's name and extents.
    """
    found = []
    for row in _rows(_table(text, where)):
        cells = {name: _number(cell) for name, cell in row.items() if name and "__" in name}
        values = {name: value for name, value in cells.items() if value is not None}
        if values:
            found.append(Launch(row["Kernel Name"], row["Block Size"], row["Grid Size"], values))
    return found


def _table(text: str, where: str | Path, needed: Iterable[str] = _ABOUT) -> csv.DictReader[str]:
    """The table in ncu's output; what stands before it (a program's own output, ``==PROF==``) is skipped."""
    start = text.find('"ID",')
    if start < 0:
        raise InputError(where, "CSV", 'has no header with "ID"; give the output of ncu --csv --page raw')
    table = csv.DictReader(text[start:].splitlines())
    missing = [name for name in needed if name not in (table.fieldnames or [])]
    if missing:
        raise InputError(where, missing[0], "is no column; give the output of ncu --csv --page raw")
    return table


def _rows(table: csv.DictReader[str]) -> Iterator[dict[str, str]]:
    """Rows of launches; not that of the units, and nothing that ncu prints behind the table."""
    for row in table:
        if row["ID"] and row["ID"].isdigit():
            yield {name: cell or "" for name, cell in row.items() if isinstance(name, str)}


def _number(cell: str) -> float | None:
    """A cell as ncu writes numbers, ``1,234.5``; None: it is none.

    >>> _number("1,234.5"), _number("n/a"), _number("nan")
    (1234.5, None, None)
    """
    try:
        value = float(cell.replace(",", ""))
    except ValueError:
        return None
    return value if isfinite(value) else None
