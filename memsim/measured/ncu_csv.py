"""What ``ncu --csv`` prints: one row per metric (*long*), or with ``--page raw`` one row per launch (*wide*).

Either has a header whose first column is ``ID``; before it may stand what the program and the profiler printed. A wide
table has its units in the row after the header. The page of details calls metrics by titles, of which those that stand
for one of ours are known. Numbers may have thousands separators.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from memsim.measured.launch import MeasuredLaunch, grid_of_blocks
from memsim.support.errors import InputError

_TIME_NS = {
    "nsecond": 1.0, "usecond": 1e3, "msecond": 1e6, "second": 1e9,
    "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9,
}  # fmt: skip
_PREFIX = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}  # decimal: 32 KiB of shared memory print as 32.77 Kbyte
_COUNTED = re.compile(r"([KMGT]?)(byte|sector|request|inst|cycle|block|thread|warp)s?")

_LONG = ("Metric Name", "Metric Unit", "Metric Value")
_TITLES = {  # of ncu's page of details
    "L1/TEX Hit Rate": "l1tex__t_sector_hit_rate.pct",
    "L2 Hit Rate": "lts__t_sector_hit_rate.pct",
    "Elapsed Cycles": "gpc__cycles_elapsed.max",
    "SM Active Cycles": "sm__cycles_active.avg",
    "Duration": "gpu__time_duration.sum",
}
_METRIC = re.compile(r"[a-z0-9]+__\w+(\.\w+)*")
_FIELD_BYTES = 1 << 20  # a kernel's name may be long; a field longer than this is no name

_Row = dict[str, str]


def read_csv(path: Path, text: str) -> list[MeasuredLaunch]:
    """The launches of the text that ``ncu --csv`` printed, in its order.

    Raises:
        InputError: no table, or a value that is none.
    """
    header, rows = _table(path, text)
    if set(_LONG) <= set(header):
        return _long(path, rows)
    units = rows.pop(0) if rows and not rows[0]["ID"] else {}
    return [_launch(path, row, _wide(path, row, units)) for row in rows]


def _table(path: Path, text: str) -> tuple[Sequence[str], list[_Row]]:
    """The header, and the rows below it by column."""
    lines = text.splitlines(keepends=True)
    start = next((n for n, line in enumerate(lines) if line.startswith(('"ID",', "ID,"))), None)
    if start is None:
        raise InputError(path, "header", 'is missing: no line begins with "ID",; give the output of ncu --csv')
    csv.field_size_limit(_FIELD_BYTES)
    try:
        header, *rows = list(csv.reader(io.StringIO("".join(lines[start:]))))
    except csv.Error as error:
        raise InputError(path, "table", f"is no CSV: {error}") from None
    if "Kernel Name" not in header:
        raise InputError(path, "header", 'has no column "Kernel Name"; give the output of ncu --csv')
    return header, [dict(zip(header, row, strict=True)) for row in rows if len(row) == len(header)]


def _long(path: Path, rows: list[_Row]) -> list[MeasuredLaunch]:
    """A launch has as many rows as metrics; its ID tells them from those of others."""
    launches: dict[str, tuple[_Row, dict[str, float]]] = {}
    for row in rows:
        _, metrics = launches.setdefault(row["ID"], (row, {}))
        metrics.update(_metric(path, *(row[name] for name in _LONG)))
    return [_launch(path, row, metrics) for row, metrics in launches.values()]


def _wide(path: Path, row: _Row, units: _Row) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for name, value in row.items():
        metrics.update(_metric(path, name, units.get(name, ""), value))
    return metrics


def _metric(path: Path, name: str, unit: str, text: str) -> Iterator[tuple[str, float]]:
    """The metric under its name, in base units; nothing for what is no number, or in a unit that is none of ours."""
    name = _TITLES.get(name, name)
    if not _METRIC.fullmatch(name) or not text or text == "n/a":
        return
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return  # a text, such as the name of the device
    based = to_base(value, unit)
    if based is not None and not math.isfinite(based):
        raise InputError(path, name, f"is {text!r}; a measured value is a finite number")
    if based is not None:
        yield name, based


def _launch(path: Path, row: _Row, metrics: dict[str, float]) -> MeasuredLaunch:
    block = _extents(row, "Block Size")
    return MeasuredLaunch(
        row["Kernel Name"], grid_of_blocks(_extents(row, "Grid Size"), block, metrics), block, metrics
    )


def _extents(row: _Row, column: str) -> tuple[int, int, int] | None:
    """``(128, 1, 1)``."""
    found = re.findall(r"\d{1,10}", row.get(column, ""))
    return (int(found[0]), int(found[1]), int(found[2])) if len(found) == 3 else None


def to_base(value: float, unit: str) -> float | None:
    """A value in ns, bytes, or what its unit counts; None for a unit that is not known.

    >>> to_base(1.5, "usecond"), to_base(2, "Mbyte"), to_base(87.5, "%"), to_base(1, "furlong")
    (1500.0, 2000000.0, 87.5, None)
    """
    if unit in ("", "%"):
        return value
    if unit in _TIME_NS:
        return value * _TIME_NS[unit]
    found = _COUNTED.fullmatch(unit)
    return value * _PREFIX[found[1]] if found else None
