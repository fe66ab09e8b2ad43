"""Overloaded operators of the user's: which of their operands they take by reference, and so access themselves.

In a template an operand's type is open: of a plain type it is loaded where the operator stands, of a class by its
operator. So where the user has such an operator that takes a reference, the probe decides when it is instantiated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clang.cindex import Cursor, CursorKind

from memsim.sources.capture.frontend.declarations import CLASSES, Key
from memsim.sources.capture.frontend.tree import is_reference

_CHARACTERS = "+-*/%&|^~!<>="  # of operators; not of calls, subscripts and conversions


@dataclass(frozen=True)
class Operators:
    """The user's overloaded operators.

    Attributes:
        functions: by operator as it is written, all that overload it.
        by_reference: operators, and which of their operands (0 or 1) some of these functions take by reference.
    """

    functions: dict[str, list[Key]] = field(default_factory=dict)
    by_reference: set[tuple[str, int]] = field(default_factory=set)


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
        found.by_reference.update((name, position) for position, one in enumerate(references) if one)
    return found
