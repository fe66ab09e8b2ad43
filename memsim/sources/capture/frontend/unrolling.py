"""How far a compiler unrolls loops: a back-edge that is not there ends no sequence of loads.

It does so as ``#pragma unroll`` says, and by itself whole where it can tell how often a small loop runs. How small is
written down nowhere; :data:`MOST_TRIPS` and :data:`MOST_OPERATIONS` are what nvcc 13.0 (compute capability 8.0) always
unrolled whole, of some eighty loops tried: with one to six loads in their bodies, branches, nests and calls of
mathematical functions. It went on to 64 or 96 trips where a body is small, to 16 where it is large.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from functools import partial

from clang.cindex import CursorKind

from memsim.sources.capture.frontend.loops import Header, header
from memsim.sources.capture.frontend.parsing import integer_value, is_system, operator_spelling
from memsim.sources.capture.frontend.tree import INCREMENTS, Binary, Node, Unary

MOST_TRIPS = 64
MOST_OPERATIONS = 256  # of all trips together
PARTIAL = 4  # iterations, where nvcc 13 is asked to unroll but not how far, and cannot tell how often the loop runs
CALL_OPERATIONS = 20  # of a mathematical function, inlined

_PRAGMA = re.compile(r"#\s*pragma\s+(?:unroll|GCC\s+unroll)\s*\(?\s*([^\s)]*)\s*\)?[^\n]*\s*$")
_OPERATIONS = (
    CursorKind.UNARY_OPERATOR,
    CursorKind.BINARY_OPERATOR,
    CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
    CursorKind.ARRAY_SUBSCRIPT_EXPR,
    CursorKind.CONDITIONAL_OPERATOR,
)
_EXITS = (CursorKind.BREAK_STMT, CursorKind.RETURN_STMT, CursorKind.GOTO_STMT)
_NEVER = (CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.CXX_FOR_RANGE_STMT, CursorKind.GOTO_STMT)
_STEPS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda one, other: int(one / other),
    "<<": operator.lshift,
    ">>": operator.rshift,
}
_TESTS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "!=": operator.ne,
}


def factor(text: str, loop: Node) -> int | None:
    """How many iterations of a ``for`` or ``while`` loop come before a back-edge once it is compiled; 0: all.

    None where that is the compiler's choice: it can count the iterations, but nothing says how many there are.
    """
    head = header(text, loop)
    known = loop.kind == CursorKind.FOR_STMT and counter(head) is not None
    before = text[: loop.start].rstrip()
    asked = _PRAGMA.search(before[before.rfind("\n") + 1 :])
    if asked and asked[1] != "0":  # which nvcc passes over
        if not asked[1].isdigit():
            return 0 if known else PARTIAL
        most = int(asked[1])
        return 0 if known and most > 1 and (trips(head) or math.inf) <= most else most
    if loop.kind == CursorKind.FOR_STMT and _operations(text, loop) <= MOST_OPERATIONS:
        return 0
    return None if _is_counted(head) else 1


def _is_counted(head: Header) -> bool:
    """Whether a compiler can tell how often a ``for`` loop will run before it does."""
    if len(head.parts) != 3 or not all(len(part) == 1 for part in head.parts[1:]):
        return False
    condition, step = head.parts[1][0].inner, head.parts[2][0].inner
    if condition.kind != CursorKind.BINARY_OPERATOR or operator_spelling(condition.cursor) not in _TESTS:
        return False
    variable = _variable(condition.children[0])
    if variable is None or _advance(step, variable) is None or any(one.kind in _EXITS for one in head.body.walk()):
        return False
    bound = (_variable(one) for one in condition.children[1].walk())
    return not any(changes(head.body, one) for one in (variable, *bound) if one is not None)


def _operations(text: str, node: Node) -> float:
    """Operations of a statement, those of all trips of its loops; infinite where they cannot be told."""
    if node.kind in _NEVER:
        return math.inf
    if node.kind == CursorKind.FOR_STMT:
        head = header(text, node)
        return (trips(head) or math.inf) * (_operations(text, head.body) or 1)
    if node.kind == CursorKind.CALL_EXPR:
        called = node.cursor.referenced
        if called is None or not is_system(called):
            return math.inf
    own = CALL_OPERATIONS if node.kind == CursorKind.CALL_EXPR else node.kind in _OPERATIONS
    return own + sum(_operations(text, child) for child in node.children)


def trips(head: Header) -> int | None:
    """How often a ``for`` loop of one counter runs, if that is known and at most :data:`MOST_TRIPS`."""
    if len(head.parts) != 3 or not all(len(part) == 1 for part in head.parts):
        return None
    condition, step = head.parts[1][0].inner, head.parts[2][0].inner
    if condition.kind != CursorKind.BINARY_OPERATOR or operator_spelling(condition.cursor) not in _TESTS:
        return None
    variable = _variable(condition.children[0])
    value, last = initial_value(head, variable), integer_value(condition.children[1].cursor)
    if variable is None or value is None or last is None or changes(head.body, variable):
        return None
    goes_on, advance = _TESTS[operator_spelling(condition.cursor)], _advance(step, variable)
    for count in range(MOST_TRIPS + 1):
        if not goes_on(value, last):
            return count
        if advance is None:
            break
        value = advance(value)
    return None


def counter(head: Header) -> int | None:
    """The variable that a loop with constant bounds counts, which a compiler knows in every iteration, by its hash.

    The bounds may be those of a template; a loop over an array that is meant for registers is unrolled.
    """
    if len(head.parts) != 3 or not all(head.parts):
        return None
    condition = head.parts[1][0].inner
    if condition.kind != CursorKind.BINARY_OPERATOR or condition.operator == Binary.comma:
        return None
    variable = _variable(condition.children[0])
    if variable is None or not condition.children[1].is_constant() or changes(head.body, variable):
        return None
    starts = _starts(head, variable)
    return variable if starts and all(one.is_constant() for one in starts) else None


def initial_value(head: Header, variable: int | None) -> int | None:
    """The value that a loop gives a variable first, if it is a constant."""
    starts = _starts(head, variable)
    return integer_value(starts[0].cursor) if len(starts) == 1 else None


def _starts(head: Header, variable: int | None) -> list[Node]:
    """What a loop's initialisation gives a variable."""
    found = []
    for node in head.parts[0][0].walk():
        declared = node.kind == CursorKind.VAR_DECL and node.cursor.hash == variable
        if declared or node.is_binary(Binary.assign) and _variable(node.children[0]) == variable:
            found += node.children[-1:]
    return found


def _variable(node: Node) -> int | None:
    named = node.inner.cursor.referenced if node.inner.kind == CursorKind.DECL_REF_EXPR else None
    return None if named is None else int(named.hash)


def changes(body: Node, variable: int) -> bool:
    """Whether a statement may change a variable."""
    return any(_changed(node) == variable for node in body.walk())


def _changed(node: Node) -> int | None:
    is_assignment = node.is_binary(Binary.assign) or node.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR
    is_unary = node.kind == CursorKind.UNARY_OPERATOR and node.operator in (*INCREMENTS, Unary.address)
    return _variable(node.children[0]) if is_assignment or is_unary else None


def _advance(step: Node, variable: int) -> Callable[[int], int] | None:
    """What a loop does to its counter after each trip: ``k++``, ``k += 2``, ``k = k / 2``."""
    if step.is_unary(*INCREMENTS) and _variable(step.children[0]) == variable:
        one = 1 if step.operator in (Unary.post_increment, Unary.pre_increment) else -1
        return lambda value: value + one
    sign, amount = "", step
    if step.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR and _variable(step.children[0]) == variable:
        sign, amount = operator_spelling(step.cursor).removesuffix("="), step.children[1]
    elif step.is_binary(Binary.assign) and _variable(step.children[0]) == variable:
        sum_ = step.children[1].inner
        if sum_.kind == CursorKind.BINARY_OPERATOR and _variable(sum_.children[0]) == variable:
            sign, amount = operator_spelling(sum_.cursor), sum_.children[1]
    by, does = integer_value(amount.cursor), _STEPS.get(sign)
    if by is None or does is None or (by <= 0 and sign not in "+-"):
        return None
    return partial(_apply, does, by)


def _apply(does: Callable[[int, int], int], by: int, value: int) -> int:
    return does(value, by)
