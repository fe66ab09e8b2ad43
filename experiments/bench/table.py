"""One row of the table, and how the table is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        what: the figure's name.
        measured: its value.
        unit: of measured, must and aim.
        must, aim: what is asked for; None for a figure that is only compared with another.
        how: how it was measured, and what it is made of.
        work: what was done meanwhile (trials, transactions, ...): the same in every run.
        less_is_better: whether must and aim are upper bounds.
    """

    what: str
    measured: float
    unit: str
    must: float | None
    aim: float | None
    how: str
    work: int
    less_is_better: bool = False

    @property
    def verdict(self) -> str:
        """``aim`` or ``must`` is reached, ``missed``, or nothing where nothing is asked for.

        >>> Row("speed", 5.0, "M/s", 4, 10, "", 0).verdict, Row("share", 30.0, "%", 25, 10, "", 0, True).verdict
        ('must', 'missed')
        """
        for name, bound in (("aim", self.aim), ("must", self.must)):
            if bound is not None and (self.measured <= bound if self.less_is_better else self.measured >= bound):
                return name
        return "" if self.must is None else "missed"


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned columns, each row's `how` beneath it."""
    head = ("what", "measured", "must", "aim", "reached")
    cells = [(row.what, _number(row.measured, row.unit), _bound(row, row.must), _bound(row, row.aim), row.verdict)
             for row in rows]  # fmt: skip
    widths = [max(len(line[k]) for line in (head, *cells)) for k in range(len(head))]
    lines = [_line(head, widths), _line(tuple("-" * width for width in widths), widths)]
    for row, line in zip(rows, cells, strict=True):
        lines += [_line(line, widths), f"    {row.how}"]
    return "\n".join(lines)


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    first = f"{cells[0]:<{widths[0]}}"
    return "  ".join([first, *(f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True))]).rstrip()


def _number(value: float, unit: str) -> str:
    return f"{value:.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f} {unit}"


def _bound(row: Row, value: float | None) -> str:
    return "" if value is None else f"{'<=' if row.less_is_better else '>='} {value:g}"
