"""Markdown with pipe tables (GitHub Flavored Markdown, section 4.10), for pull requests and notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memsim.report.output import Block, CommandOutput, PrintedTable

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")
_INDENTED = re.compile(r"^ ", re.MULTILINE)


def render(output: CommandOutput) -> str:
    """Sentences as paragraphs, tables as pipe tables under a bold title."""
    return "\n\n".join(_block(block) for block in output.blocks())


def _block(block: Block) -> str:
    if isinstance(block, PrintedTable):
        paragraphs = (f"**{escaped(block.title)}**" if block.title else "", _table(block), _paragraph(block.note))
        return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
    return _paragraph(block.strip("\n"))


def escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> print(escaped("y[ind] * row_ptr"))
    y\[ind\] \* row\_ptr
    """
    return _SPECIAL.sub(r"\\\1", text)


def _paragraph(text: str) -> str:
    """Lines stay lines; where some are indented, all are kept as they are."""
    if _INDENTED.search(text):
        return f"```text\n{text}\n```"
    return "  \n".join(escaped(line) for line in text.split("\n"))


def _table(table: PrintedTable) -> str:
    rule = ["---:" if right else "---" for right in table.right]
    cells = [[escaped(cell) for cell in row] for row in (table.headers, *table.rows)]
    return "\n".join(_row(row) for row in (cells[0], rule, *cells[1:]))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
