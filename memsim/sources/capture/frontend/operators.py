"""Overloaded operators of the user's: which of their operands they take by reference, and so access themselves.

In a template an operand's type is open: of a plain type it is loaded where the operator stands, of a class by its
operator. So where the user has such an operator that takes a reference, the probe decides when it is instantiated.
The same goes for arguments of calls that a template leaves open: whether functions of that name take references.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from clang.cindex import Cursor, CursorKind, Type

from memsim.sources.capture.frontend.declarations import CLASSES, Key
from memsim.sources.capture.frontend.tree import Node, is_object, is_reference

_CHARACTERS = "+-*/%&|^~!<>=["  # of operators; not of calls and conversions
CALL = "operator()"


@dataclass(frozen=True)
class Operators:
    """The user's overloaded operators.

    Attributes:
        functions: by operator as it is written, all that overload it.
        by_reference: operators, and which of their operands (0 or 1) some of these functions take by reference.
        by_value: the same, of those that some take as an object.
    """

    functions: dict[str, list[Key]] = field(default_factory=dict)
    by_reference: set[tuple[str, int]] = field(default_factory=set)
    by_value: set[tuple[str, int]] = field(default_factory=set)

    def copies(self, operator: str, position: int) -> bool:
        """Whether an object that is an operator's operand is copied for it, rather than referred to or converted."""
        return (operator, position) in self.by_value and (operator, position) not in self.by_reference


def overloaded(functions: Mapping[Key, Cursor]) -> Operators:
    """The overloaded operators among functions; of a method, the object is the first operand, by reference."""
    found = Operators()
    for key, function in functions.items():
        name = function.spelling.removeprefix("operator")
        if name == function.spelling or name[0] not in _CHARACTERS or name == "=":
            continue
        found.functions.setdefault(name, []).append(key)
        is_method = function.semantic_parent.kind in CLASSES
        parameters = [child.type for child in function.get_children() if child.kind == CursorKind.PARM_DECL]
        references = [is_method] * is_method + [is_reference(one) for one in parameters]
        objects = [False] * is_method + [is_object(one) for one in parameters]
        found.by_value.update((name, position) for position, one in enumerate(objects) if one)
        found.by_reference.update((name, position) for position, one in enumerate(references) if one)
    return found


def parameters(functions: Iterable[Cursor], bodies: Iterable[Node]) -> dict[str, list[list[Type]]]:
    """By name, the types of the parameters of the user's functions; a list for each function.

    Args:
        functions: for the device.
        bodies: where lambdas are.
    """
    found: dict[str, list[list[Type]]] = {}
    for function in functions:
        found.setdefault(function.spelling, []).append(_types(function.get_children()))
    for body in bodies:
        for node in body.walk():
            if node.kind == CursorKind.LAMBDA_EXPR:
                found.setdefault(CALL, []).append(_types(child.cursor for child in node.children))
    return found


def _types(children: Iterable[Cursor]) -> list[Type]:
    return [child.type for child in children if child.kind == CursorKind.PARM_DECL]
