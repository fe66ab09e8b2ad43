"""What a command prints, before it has a format: sentences, tables, and the values behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsim.analysis.table import Table, aligned


@dataclass(frozen=True)
class PrintedTable:
    """A table whose cells are texts.

    Attributes:
        headers: of its columns.
        rows: their cells.
        right: which columns are aligned to the right.
        title, note: lines above and below it.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[bool]
    title: str = ""
    note: str = ""

    @classmethod
    def of(cls, table: Table[Any], title: str = "", note: str = "") -> PrintedTable:
        """The printed columns of a table."""
        return cls(table.headers, table.cells(), table.right, title, note)

    def __str__(self) -> str:
        return "\n".join(part for part in (self.title, aligned(self.headers, self.rows, self.right), self.note) if part)


Block = str | PrintedTable
Records = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class CommandOutput:
    """What a command prints; a format (:mod:`memsim.report.formats`) calls only the function that it needs.

    Attributes:
        blocks: sentences and tables, for people.
        rows: one flat record per row of the main table, numbers unrounded: what CSV holds.
        values: the documented JSON value; None: the list of rows.
    """

    blocks: Callable[[], Iterable[Block]]
    rows: Callable[[], Records]
    values: Callable[[], Any] | None = None


def joined(blocks: Iterable[Block]) -> str:
    """Blocks as text, an empty line between two.

    >>> joined(["spmv on a100", PrintedTable(["load", "L1 %"], [["val", "87.5"]], [False, True], "loads")])
    'spmv on a100\\n\\nloads\\nload  L1 %\\n----  ----\\nval   87.5'
    """
    return "\n\n".join(str(block) for block in blocks)
