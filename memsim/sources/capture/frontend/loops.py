"""The header of a loop: what stands in it, and whether a compiler unrolls the loop."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clang.cindex import CursorKind

from memsim.sources.capture.frontend.source import closing, find
from memsim.sources.capture.frontend.tree import Binary, Node

_PRAGMA = re.compile(r"#\s*pragma\s+(?:unroll|GCC\s+unroll)\s*\(?\s*([^\s)]*)\s*\)?[^\n]*\s*$")


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


def pragma_unroll(text: str, loop: Node) -> bool:
    """Whether ``#pragma unroll`` stands before a loop, and not ``#pragma unroll 1``."""
    before = text[: loop.start].rstrip()
    last = before[before.rfind("\n") + 1 :]
    found = _PRAGMA.search(last)
    return found is not None and found[1] != "1"


def counter(parts: tuple[list[Node], ...]) -> int | None:
    """The variable that a loop with constant bounds counts, which a compiler knows in every iteration, by its hash."""
    if len(parts) != 3 or not all(parts):
        return None
    condition = parts[1][0].inner
    if condition.kind != CursorKind.BINARY_OPERATOR or condition.operator == Binary.comma:
        return None
    named = condition.children[0].inner
    if named.kind != CursorKind.DECL_REF_EXPR or not condition.children[1].is_constant():
        return None
    variable = named.cursor.referenced
    starts = [node for node in parts[0][0].walk() if _starts(node, variable.hash)]
    if starts and all(node.children and node.children[-1].is_constant() for node in starts):
        return int(variable.hash)
    return None


def _starts(node: Node, variable: int) -> bool:
    """Whether a node gives a variable its first value."""
    if node.kind == CursorKind.VAR_DECL:
        return bool(node.cursor.hash == variable)
    if not node.is_binary(Binary.assign):
        return False
    target = node.children[0].inner.cursor.referenced
    return target is not None and bool(target.hash == variable)
