"""Arithmetic in a study file: what a field follows from others, and what a point must satisfy."""

from __future__ import annotations

import ast
import difflib
import graphlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from memsim.support.errors import InputError

_LONGEST = 500
_LARGEST = 2.0**64  # beyond any field; keeps powers of powers from taking forever
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "round": round, "abs": abs}
_ALLOWED = (
    ast.UnaryOp, ast.USub, ast.UAdd, ast.Not, ast.Compare, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq,
    ast.BoolOp, ast.And, ast.Or, ast.IfExp,
)  # fmt: skip


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
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError("is no arithmetic, such as l1.size_bytes // 4096") from None
        self.names: set[str] = set()
        computed: Any = _Computation(self.names).visit(tree)
        self._code = compile(ast.fix_missing_locations(ast.Expression(computed)), "expression", "eval")

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """The value, given those of :attr:`names`; a whole number where a division leaves none over.

        Raises:
            ValueError: a division by zero, a number out of range, or text in arithmetic.
        """
        try:
            found = eval(self._code, _NAMESPACE | {"_values": values})
        except (ArithmeticError, TypeError) as error:
            raise ValueError(f"cannot be computed: {error}") from None
        return int(found) if isinstance(found, float) and found.is_integer() else found


class _Computation(ast.NodeTransformer):
    """Makes code of an expression's tree, in which values are looked up and numbers are bounded.

    Args:
        names: that are found are added to it.
    """

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit(self, node: ast.AST) -> ast.AST:
        if (name := _dotted(node)) is not None:
            self._names.add(name)
            return ast.Subscript(ast.Name("_values", ast.Load()), ast.Constant(name), ast.Load())
        match node:
            case ast.Constant(value=bool() | int() | float() | str()):
                return node
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _call(type(op).__name__, self.visit(left), self.visit(right))
            case ast.Call(func=ast.Name(id=function), args=args, keywords=[]) if function in _FUNCTIONS:
                return _call(function, *map(self.visit, args))
        operators = getattr(node, "ops", [getattr(node, "op", node)])
        if not all(isinstance(one, _ALLOWED) for one in (node, *operators)):
            raise ValueError(f"holds {ast.unparse(node)!r:.60}; give arithmetic on fields, min, max, round or abs")
        found = self.generic_visit(node)
        return _call("bool", found) if isinstance(node, ast.BoolOp) else found


def _call(function: str, *arguments: Any) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def _bounded(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if isinstance(left, str) or isinstance(right, str):
        raise TypeError("text in arithmetic")
    if function is operator.pow and not (abs(right) <= 64 and abs(left) <= _LARGEST):
        raise ArithmeticError("a power out of range")
    found = function(left, right)
    if isinstance(found, complex) or abs(found) > _LARGEST:
        raise ArithmeticError("a number out of range")
    return found


_NAMESPACE: dict[str, Any] = {kind.__name__: partial(_bounded, function) for kind, function in _BINARY.items()}
_NAMESPACE |= _FUNCTIONS | {"bool": bool, "__builtins__": {}}


def _dotted(node: ast.AST) -> str | None:
    """``l1.size_bytes`` of the tree's attributes; None where the node is something else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name) if (before := _dotted(value)) is not None:
            return f"{before}.{name}"
    return None


class Constraints:
    """The expressions of a study.

    Args:
        follow: by field, the text that its value is computed from.
        require: texts that must be true of a point.
        where: what errors name.

    Raises:
        InputError: an expression that is not understood, or fields that follow from each other.
    """

    def __init__(self, follow: Mapping[str, str], require: Sequence[str], where: object) -> None:
        self._where = where
        parsed: dict[str, Expression] = {}
        for name, text in follow.items():
            with self._naming(f"follow.{name}"):
                parsed[name] = Expression(text)
        graph = {name: expression.names & set(parsed) for name, expression in parsed.items()}
        try:
            self._follow = {name: parsed[name] for name in graphlib.TopologicalSorter(graph).static_order()}
        except graphlib.CycleError as error:
            names = " and ".join(dict.fromkeys(error.args[1]))
            raise InputError(where, "follow", f"has {names}, which follow from each other") from None
        self._require: dict[str, Expression] = {}
        for k, text in enumerate(require):
            with self._naming(field := f"require[{k}]"):
                self._require[field] = Expression(text)

    def check_names(self, known: set[str]) -> None:
        """Refuse expressions over names that are no fields.

        Raises:
            InputError: naming the expression and what was probably meant.
        """
        followed = {f"follow.{name}": expression for name, expression in self._follow.items()}
        for field, expression in {**followed, **self._require}.items():
            for name in sorted(expression.names - known):
                near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
                raise InputError(self._where, field, f"uses {name}, which is unknown; did you mean {near}?")

    def followed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that follow, given all others.

        Raises:
            InputError: one cannot be computed.
        """
        found: dict[str, Any] = {}
        for name, expression in self._follow.items():
            with self._naming(f"follow.{name}"):
                found[name] = expression({**values, **found})
        return found

    def hold(self, values: Mapping[str, Any]) -> bool:
        """Whether a point satisfies all that is required.

        Raises:
            InputError: an expression that cannot be computed.
        """
        if not self._require:
            return True
        values = {**values, **self.followed(values)}
        for field, expression in self._require.items():
            with self._naming(field):
                if not expression(values):
                    return False
        return True

    @contextmanager
    def _naming(self, field: str) -> Iterator[None]:
        """Turn what an expression raises into an InputError that names its field."""
        try:
            yield
        except ValueError as error:
            raise InputError(self._where, field, str(error)) from None


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
