"""The header of a loop: what stands in it."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.sources.capture.frontend.source import closing, find
from memsim.sources.capture.frontend.tree import Node


@dataclass(frozen=True)
class Header:
    """What stands between a loop's parentheses.

    Attributes:
        opening, closing: offsets of the parentheses.
        parts: of ``for``, the nodes of initialisation, condition and increment; of ``while``, those of its condition.
        body: the statement that is repeated.
    """

    opening: int
    closing: int
    parts: tuple[list[Node], ...]
    body: Node


def header(text: str, loop: Node) -> Header:
    """Take a ``for``, ``while`` or ``switch`` statement apart."""
    opening = text.index("(", loop.start)
    end = closing(text, opening)
    parts: list[list[Node]] = []
    start = opening + 1
    while start <= end:
        semicolon = find(text, ";", start, end)
        stop = semicolon if semicolon >= 0 else end
        parts.append([child for child in loop.children if start <= child.start <= stop and child.end <= stop + 1])
        start = stop + 1
    return Header(opening, end, tuple(parts), loop.children[-1])
