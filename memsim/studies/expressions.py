"""Arithmetic in a study file: what a field follows from, and what a point must satisfy."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

_LONGEST = 500
_LARGEST = 2.0**64  # beyond any field; keeps powers of powers from taking forever
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "round": round, "abs": abs}


class Expression:
    """An expression over dotted names: numbers, text, ``+ - * / // % **``, comparisons, ``and or not``, ``a if b else
    c``, and min, max, round, abs.

    Args:
        text: as written.

    Raises:
        ValueError: it is not understood, or holds anything else; says what.

    >>> ways = Expression("l1.size_bytes // (128 * 32)")
    >>> sorted(ways.names), ways({"l1.size_bytes": 49152})
    (['l1.size_bytes'], 12)
    >>> Expression("rows <= 2 * columns and gpu == 'h100'")({"rows": 3, "columns": 2, "gpu": "h100"})
    True
    """

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise ValueError(f"is longer than {_LONGEST} characters")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError("is no arithmetic, such as l1.size_bytes // 4096") from None
        self.names: set[str] = set()
        self._collect(self._tree)

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """The value, given those of :attr:`names`; a whole number where a division leaves none over.

        Raises:
            ValueError: a division by zero, a number out of range, or text in arithmetic.
        """
        try:
            found = self._value(self._tree, values)
        except (ArithmeticError, TypeError) as error:
            raise ValueError(f"cannot be computed: {error}") from None
        return int(found) if isinstance(found, float) and found.is_integer() else found

    def _collect(self, node: ast.AST) -> None:
        if (name := _dotted(node)) is not None:
            self.names.add(name)
            return
        match node:
            case ast.Constant(value=bool() | int() | float() | str()):
                inner: list[ast.AST] = []
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                inner = [left, right]
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                inner = [operand]
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARE for op in ops):
                inner = [left, *others]
            case ast.BoolOp(values=values):
                inner = list(values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                inner = [test, body, orelse]
            case ast.Call(func=ast.Name(id=function), args=args, keywords=[]) if function in _FUNCTIONS:
                inner = list(args)
            case _:
                raise ValueError(f"holds {ast.unparse(node)!r:.60}; give arithmetic on fields, min, max, round or abs")
        for one in inner:
            self._collect(one)

    def _value(self, node: ast.AST, values: Mapping[str, Any]) -> Any:
        if (name := _dotted(node)) is not None:
            return values[name]
        match node:
            case ast.Constant(value=value):
                return value
            case ast.BinOp(left=left, op=op, right=right):
                return _bounded(_BINARY[type(op)], self._value(left, values), self._value(right, values))
            case ast.UnaryOp(op=op, operand=operand):
                return _UNARY[type(op)](self._value(operand, values))
            case ast.Compare(left=left, ops=ops, comparators=others):
                terms = [self._value(one, values) for one in (left, *others)]
                pairs = zip(ops, terms, terms[1:], strict=False)
                return all(_COMPARE[type(op)](one, other) for op, one, other in pairs)
            case ast.BoolOp(op=op, values=terms):
                chosen = all if isinstance(op, ast.And) else any
                return chosen(self._value(term, values) for term in terms)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._value(body if self._value(test, values) else orelse, values)
            case ast.Call(func=ast.Name(id=function), args=args):
                return _FUNCTIONS[function](*(self._value(one, values) for one in args))
        raise AssertionError(node)


def _bounded(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if isinstance(left, str) or isinstance(right, str):
        raise TypeError("text in arithmetic")
    if function is operator.pow and not (abs(right) <= 64 and abs(left) <= _LARGEST):
        raise ArithmeticError("a power out of range")
    found = function(left, right)
    if isinstance(found, complex) or abs(found) > _LARGEST:
        raise ArithmeticError("a number out of range")
    return found


def _dotted(node: ast.AST) -> str | None:
    """``l1.size_bytes`` of the tree's attributes; None where the node is something else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name) if (before := _dotted(value)) is not None:
            return f"{before}.{name}"
    return None


def substituted(text: str, values: Mapping[str, Any]) -> str:
    """Text with ``{name}`` replaced by values.

    Raises:
        KeyError: a name that has no value.

    >>> substituted("-DN={rows}", {"rows": 512})
    '-DN=512'
    """
    return re.sub(r"\{(\w+)\}", lambda found: str(values[found[1]]), text)


def substitutes(text: str) -> list[str]:
    """The names that :func:`substituted` asks for.

    >>> substitutes("{rows}x{columns}")
    ['rows', 'columns']
    """
    return re.findall(r"\{(\w+)\}", text)
