"""How the table of loads prints: units in the headers."""

from __future__ import annotations

from collections.abc import Callable

from memsim.analysis.choices import Grouping
from memsim.analysis.loads import Load
from memsim.analysis.statistics import Sample
from memsim.analysis.table import Table, TableColumn

ABSENT = "–"  # a value that does not exist: the ratio of nothing
_SHORT_MS = 0.1


def number(value: float, decimals: int = 0) -> str:
    """A number for people, or a dash.

    >>> number(1234567), number(0.5, 2), number(float("nan"))
    ('1,234,567', '0.50', '–')
    """
    return ABSENT if value != value else f"{value:,.{decimals}f}"


def with_interval(sample: Sample, scale: float = 1.0, decimals: int = 1) -> str:
    """The mean and half the width of its 95 % interval: ``812.4±3.1``; without an interval the mean alone."""
    mean, interval = number(sample.mean * scale, decimals), sample.interval()
    return mean if interval is None else f"{mean}±{number(interval.width / 2 * scale, decimals)}"


def milliseconds(sample: Sample) -> str:
    """A time that is known in ms, with half its interval; a short one in µs.

    >>> import numpy as np
    >>> milliseconds(Sample(np.array([9.8]))), milliseconds(Sample(np.array([0.0086])))
    ('9.8000 ms', '8.60 µs')
    """
    scale, decimals, unit = time_unit(sample.mean)
    return f"{with_interval(sample, scale, decimals)} {unit}"


def between(low: float, high: float) -> str:
    """Two times that are known in ms.

    >>> between(0.0085, 0.0087)
    '8.50 … 8.70 µs'
    """
    scale, decimals, unit = time_unit(low)
    return f"{number(low * scale, decimals)} … {number(high * scale, decimals)} {unit}"


def one_time(ms: float) -> str:
    """A time that is known in ms.

    >>> one_time(0.19117)
    '0.1912 ms'
    """
    scale, decimals, unit = time_unit(ms)
    return f"{number(ms * scale, decimals)} {unit}"


def time_unit(ms: float) -> tuple[float, int, str]:
    """What a time in milliseconds is multiplied by to be read, its decimals, and its unit then.

    >>> time_unit(0.0086)
    (1000.0, 2, 'µs')
    """
    return (1e3, 2, "µs") if ms < _SHORT_MS else (1.0, 4, "ms")


def load_table(rows: list[Load], group: Grouping, ns_per_cycle: float) -> Table[Load]:
    """The table of loads grouped by ``load``, ``array`` or ``line``."""

    def latency(header: str, of: Callable[[Load], Sample]) -> list[TableColumn[Load]]:
        return [
            TableColumn(header, lambda row: with_interval(of(row), decimals=0)),
            TableColumn("ns", lambda row: number(of(row).mean * ns_per_cycle)),
        ]

    columns = [
        TableColumn("line", lambda row: row.location, right=False),
        TableColumn("load", lambda row: row.text, right=False),
        TableColumn("array", lambda row: row.array or ABSENT, right=False),
        TableColumn("L1 %", lambda row: with_interval(row.l1_hit, 100)),
        TableColumn("L2 %", lambda row: with_interval(row.l2_hit, 100)),
        *latency("latency", lambda row: row.latency),
        *latency("expected", lambda row: row.x),
        TableColumn("share %", lambda row: number(row.share.mean * 100, 1)),
    ]
    shown = {Grouping.load: columns, Grouping.line: columns[:2] + columns[3:], Grouping.array: columns[2:]}
    return Table(rows, shown[group], Load.record, lambda row: row.names)
