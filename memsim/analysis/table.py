"""A small table: rows of named fields that print as aligned text and leave as CSV or a pandas frame."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from memsim.support.errors import InputError
from memsim.support.files import replacing, writing
from memsim.support.terminal import columns

if TYPE_CHECKING:
    import pandas

R = TypeVar("R")


@dataclass(frozen=True)
class TableColumn(Generic[R]):
    """A printed column: its header, how a row fills it, and whether it is aligned to the right."""

    header: str
    show: Callable[[R], str]
    right: bool = True


_COLUMN_SPACING = 2  # columns of the terminal between two of the table
_LEAST = 7  # characters that a shortened text keeps


def aligned(headers: Sequence[str], lines: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Text with aligned columns under a ruled header.

    On a terminal that is too narrow (:mod:`memsim.support.terminal`) texts, which are what is aligned to the left, are
    shortened in the middle, the longest first; where that is not enough, lines are cut. Nothing wraps.

    >>> print(aligned(["load", "L1 %"], [["val[j]", "87.5"], ["y[ind]", "3.0"]], [False, True]))
    load    L1 %
    ------  ----
    val[j]  87.5
    y[ind]   3.0
    """
    room = columns()
    widths = [max(map(len, column)) for column in zip(headers, *lines, strict=True)]
    if room is not None:
        widths = _narrowed(widths, [len(header) for header in headers], right, room)
        lines = [[shortened(cell, width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    ruled = [headers, ["-" * width for width in widths], *lines]
    text = [_row(line, widths, right) for line in ruled]
    return "\n".join(text if room is None else (cut(line, room) for line in text))


def _row(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    )
    return (" " * _COLUMN_SPACING).join(padded).rstrip()


def _narrowed(widths: Sequence[int], headers: Sequence[int], right: Sequence[bool], room: int) -> list[int]:
    """The widths with those of texts bounded by the largest bound with which the table fits the room, if there is one.

    >>> _narrowed([10, 30, 8], [4, 4, 7], [False, False, True], 40)
    [10, 18, 8]
    """
    least = [
        width if to_right else min(width, max(header, _LEAST))
        for width, header, to_right in zip(widths, headers, right, strict=True)
    ]
    available = room - _COLUMN_SPACING * (len(widths) - 1)
    for bound in range(max(widths), _LEAST, -1):
        narrowed = [max(low, min(width, bound)) for low, width in zip(least, widths, strict=True)]
        if sum(narrowed) <= available:
            return narrowed
    return least


def shortened(text: str, width: int) -> str:
    """At most `width` characters, the middle left out: names differ at their ends.

    >>> shortened("indices[row_ptr[row] + lane]", 12)
    'indice…lane]'
    """
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def cut(text: str, width: int) -> str:
    """At most `width` characters, the end left out: what is read from its beginning.

    >>> cut("Sparse matrix times vector", 14)
    'Sparse matrix…'
    """
    return text if len(text) <= width else text[: width - 1] + "…"


def html_table(headers: Sequence[str], lines: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """The same as an HTML table, its texts escaped.

    >>> html_table(["load"], [["a<b>"]], [False])
    '<table><thead><tr><th>load</th></tr></thead><tbody><tr><td>a&lt;b&gt;</td></tr></tbody></table>'
    """
    style = ['style="text-align:right"' if to_right else "" for to_right in right]

    def row(tag: str, cells: Sequence[str]) -> str:
        marks = (f"{tag} {of}".strip() for of in style)
        return "<tr>" + "".join(f"<{m}>{escape(cell)}</{tag}>" for m, cell in zip(marks, cells, strict=True)) + "</tr>"

    body = "".join(row("td", cells) for cells in lines)
    return f"<table><thead>{row('th', headers)}</thead><tbody>{body}</tbody></table>"


def csv_text(records: Sequence[Mapping[str, Any]]) -> str:
    """CSV text with a header line, the fields of the first record; an empty cell where a value does not exist.

    >>> csv_text([{"cache": "l1", "hit_ratio": 0.5}, {"cache": "l2", "hit_ratio": float("nan")}])
    'cache,hit_ratio\\nl1,0.5\\nl2,\\n'
    """
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if value != value else value for name, value in row.items()} for row in records)
    return buffer.getvalue()


class Table(Sequence[R]):
    """Immutable rows; printing aligns them, ``to_csv`` and ``to_frame`` give every field as a number or text.

    Args:
        rows: of one type.
        columns: that are printed.
        record: all fields of a row.
        names: what a row may be asked for by, ``table["y"]``, the most exact name first.
    """

    def __init__(
        self,
        rows: Sequence[R],
        columns: Sequence[TableColumn[R]],
        record: Callable[[R], dict[str, Any]],
        names: Callable[[R], Sequence[str]] = lambda row: (),
    ) -> None:
        self._rows, self._columns, self._record, self._names = tuple(rows), tuple(columns), record, names

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int | str) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[R]: ...
    def __getitem__(self, index: int | str | slice) -> R | Sequence[R]:
        return self._named(index) if isinstance(index, str) else self._rows[index]

    def _named(self, name: str) -> R:
        """The one row of that name.

        Raises:
            KeyError: no row has it, or several have.
        """
        for found in zip(*(self._names(row) for row in self._rows), strict=True):
            rows = [row for row, its in zip(self._rows, found, strict=True) if its == name]
            if len(rows) == 1:
                return rows[0]
            if rows:
                raise KeyError(f"{name!r} names {len(rows)} rows: {', '.join(self._names(row)[0] for row in rows)}")
        raise KeyError(
            f"{name!r} is not the name of a row; there are {', '.join(self._names(row)[0] for row in self._rows)}"
        )

    def __iter__(self) -> Iterator[R]:
        return iter(self._rows)

    @property
    def headers(self) -> list[str]:
        """Of the printed columns."""
        return [column.header for column in self._columns]

    @property
    def right(self) -> list[bool]:
        """Which printed columns are aligned to the right."""
        return [column.right for column in self._columns]

    def cells(self) -> list[list[str]]:
        """The printed text of each row's columns."""
        return [[column.show(row) for column in self._columns] for row in self._rows]

    def __str__(self) -> str:
        return aligned(self.headers, self.cells(), self.right)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return html_table(self.headers, self.cells(), self.right)

    def records(self) -> list[dict[str, Any]]:
        """One flat dict a row: what the CSV's and the frame's columns are made from."""
        return [self._record(row) for row in self._rows]

    def to_csv(self, path: str | Path | None = None) -> str:
        """CSV text with a header line, written to `path` too when given; an empty cell where a value does not exist."""
        text = csv_text(self.records())
        if path is not None:
            with writing(path), replacing(path) as temporary:
                temporary.write_text(text, encoding="utf-8")
        return text

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame with the table's rows.

        Raises:
            InputError: pandas is not installed.
        """
        return frame_of(self.records())


def frame_of(records: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """A pandas DataFrame, one row a record.

    Raises:
        InputError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise InputError("to_frame", "pandas", "is not installed; pip install 'memsim[frame]'") from None
    return pandas.DataFrame.from_records(records)
