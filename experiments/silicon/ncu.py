"""Nsight Compute: which counters are asked for, and its CSV as numbers.

Metric names are those of compute capability 7.0 and later (Nsight Compute, Metrics Reference); a sector has 32 bytes.
Caches are flushed before each kernel and clocks are fixed, which are ncu's defaults.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from memsim.support.errors import InputError

METRICS = {
    "l1_read_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_read_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1_write_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_read_hits": "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "l2_write_sectors": "lts__t_sectors_srcunit_tex_op_write.sum",
    "dram_read_sectors": "dram__sectors_read.sum",
    "dram_write_sectors": "dram__sectors_write.sum",
    "cycles": "sm__cycles_elapsed.max",
    "nanoseconds": "gpu__time_duration.sum",
}
_ABOUT = ("Kernel Name", "Block Size", "Grid Size")


def command(program: list[str], kernel: str) -> list[str]:
    """The command line that profiles the first launch of a kernel, one row of counters."""
    asked = ["--metrics", ",".join(METRICS.values()), "--csv", "--page", "raw", "--print-units", "base"]
    return ["ncu", *asked, "--kernel-name", f"regex:{kernel}", "--launch-count", "1", *program]


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


def read(text: str, where: str | Path) -> list[dict[str, str | float]]:
    """Rows of ``ncu --csv --page raw``, under the names of :data:`METRICS`, with kernel, block and grid.

    Raises:
        InputError: no header, a metric is missing, a value is no number.
    """
    table = _table(text, where, METRICS.values())
    return [_named(row, number, where) for number, row in _rows(table)]


def launches(text: str, where: str | Path) -> list[Launch]:
    """Every launch of ``ncu --csv --page raw``, with each metric that the file has a number for.

    Raises:
        InputError: no header.
    """
    found = []
    for _, row in _rows(_table(text, where)):
        cells = {name: _number(cell) for name, cell in row.items() if name and "__" in name}
        values = {name: value for name, value in cells.items() if value is not None}
        found.append(Launch(row["Kernel Name"], row["Block Size"], row["Grid Size"], values))
    return found


def _table(text: str, where: str | Path, metrics: Iterable[str] = ()) -> csv.DictReader[str]:
    """The table in ncu's output; what stands before it (a program's own output, ``==PROF==``) is skipped."""
    start = text.find('"ID",')
    if start < 0:
        raise InputError(where, "CSV", 'has no header with "ID"; give the output of ncu --csv --page raw')
    table = csv.DictReader(text[start:].splitlines())
    missing = [name for name in (*_ABOUT, *metrics) if name not in (table.fieldnames or [])]
    if missing:
        raise InputError(where, missing[0], "is no column; profile with all metrics of experiments/silicon/ncu.py")
    return table


def _rows(table: csv.DictReader[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows with their numbers; not that of the units, and nothing that ncu prints behind the table."""
    for number, row in enumerate(table):
        if row["ID"] and row["ID"].isdigit():
            yield number, {name: cell or "" for name, cell in row.items() if isinstance(name, str)}


def _named(row: dict[str, str], number: int, where: str | Path) -> dict[str, str | float]:
    """A row under the names of :data:`METRICS`."""
    found: dict[str, str | float] = {name.split()[0].lower(): row[name] for name in _ABOUT}
    for name, metric in METRICS.items():
        value = _number(row[metric])
        if value is None:
            raise InputError(where, metric, f"is {row[metric]!r} in row {number}; give a number")
        found[name] = value
    return found


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
