"""What only a compiler evaluates, if anybody: types, constants, exception specifications. No probe may be there."""

from __future__ import annotations

import re

from clang.cindex import CursorKind

from memsim.sources.capture.frontend.declarations import CLASSES
from memsim.sources.capture.frontend.parsing import file_position, initializer
from memsim.sources.capture.frontend.source import closing, find
from memsim.sources.capture.frontend.tree import Node

_CONSTANT_IF = re.compile(r"if\s+constexpr\b")


def initial_value(variable: Node) -> list[Node]:
    """What gives a variable its first value: not the bounds in its type, nor the template arguments there."""
    value = initializer(variable.cursor)
    if value is None:
        return []
    _, start = file_position(value.extent.start)
    return [child for child in variable.children if child.kind.is_expression() and child.start >= start]


def initial_values(text: str, function: Node) -> list[Node]:
    """The expressions of a constructor's list; of no other function's head any is evaluated."""
    if not _is_constructor(function):
        return []
    body = next(child for child in function.children if child.kind.is_statement())
    at = closing(text, text.index("(", function.cursor.location.offset)) + 1
    while (colon := find(text, ":", at, body.start)) >= 0 and text[colon : colon + 2] == "::":
        at = colon + 2
    return [child for child in function.children if child.kind.is_expression() and child.start > colon >= 0]


def is_constexpr(text: str, declared: Node) -> bool:
    """Whether a variable or function may be worked out at compile time, when nothing can be logged."""
    head = text[declared.start : declared.cursor.location.offset]
    return re.search(r"\bconst(expr|eval|init)\b", head) is not None


def is_constant_if(text: str, statement: Node) -> bool:
    return _CONSTANT_IF.match(text, statement.start) is not None


def _is_constructor(function: Node) -> bool:
    cursor = function.cursor
    if cursor.kind == CursorKind.FUNCTION_TEMPLATE and cursor.semantic_parent.kind in CLASSES:
        return cursor.spelling.partition("<")[0] == cursor.semantic_parent.spelling
    return cursor.kind == CursorKind.CONSTRUCTOR
