"""What a call expression says: whom it names, and which arguments it has."""

from __future__ import annotations

import re

from clang.cindex import Cursor, CursorKind, Type, TypeKind

from memsim.sources.capture.frontend.parsing import overloads
from memsim.sources.capture.frontend.source import closing, code
from memsim.sources.capture.frontend.tree import Node, Unary, is_reference

_VARIABLES = (CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.FIELD_DECL)
_SCOPES = (CursorKind.NAMESPACE_REF, CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF)
_CALLEES = (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR)


def parts(node: Node, text: str) -> tuple[Node | None, list[Node]]:
    """The expression that names what is called, and the arguments (an operator method's object first).

    A type that a template leaves open is no expression: ``T(a)`` may call a constructor.
    """
    if node.children and not node.children[0].kind.is_expression():
        return None, given_arguments(node, text)
    name = node.cursor.spelling
    for child in node.children:
        inner = child.inner
        if not name and _is_open_operator(inner):
            return inner, [one for one in node.children if one is not child]
        if inner.kind in _CALLEES and inner.cursor.spelling == name and (name or child is node.children[0]):
            return inner, [one for one in node.children if one is not child]
    if node.children and node.cursor.referenced is None:
        return node.children[0].inner, node.children[1:]
    if node.children and _is_callable(node.children[0].inner):
        return node.children[0].inner, node.children[1:]
    return None, node.children


def given_arguments(node: Node, text: str) -> list[Node]:
    """The arguments of a constructor, without what stands in the template arguments of its class."""
    expressions = [child for child in node.children if child.kind.is_expression()]
    if not any(child.kind == CursorKind.TEMPLATE_REF for child in node.children):
        return expressions
    brackets = (at for at, character in code(text, node.start, node.end) if character in "({")
    opening = next((at for at in brackets if closing(text, at) == node.end - 1), node.start)
    return [child for child in expressions if child.start > opening]


def is_variable(named: Cursor | None) -> bool:
    """Whether what is called is a variable: an object that can be called, or a pointer to a function."""
    return named is not None and named.kind in _VARIABLES


def _is_open_operator(node: Node) -> bool:
    """Whether a node is the sign of an operator whose operands' types a template leaves open."""
    named = node.children[0].cursor if node.kind == CursorKind.DECL_REF_EXPR and node.children else None
    return named is not None and named.kind == CursorKind.OVERLOADED_DECL_REF and named.spelling.startswith("operator")


def _is_callable(node: Node) -> bool:
    return node.kind in _CALLEES or node.is_function or node.is_unary(Unary.dereference)


def names_class(text: str, constructor: Cursor) -> bool:
    """Whether a constructor is called by its class's name, not by that of a variable."""
    return re.match(rf"(\w+\s*::\s*)*{re.escape(constructor.spelling)}\s*[<({{]", text) is not None


def callee_name(node: Node, callee: Node | None) -> str:
    """How what is called is named, without its namespace."""
    if node.cursor.spelling:
        return str(node.cursor.spelling)
    named = (one for one in callee.walk() if one.kind not in _SCOPES) if callee is not None else ()
    return next((str(one.cursor.spelling) for one in named if one.cursor.spelling), "")


def candidates(named: Cursor | None, callee: Node | None) -> list[Cursor]:
    """The functions that may be called: one, or in a template all that an unresolved name may mean."""
    if named is not None and named.kind != CursorKind.OVERLOADED_DECL_REF:
        return [named]
    return [one for child in (callee.walk() if callee else ()) for one in overloads(child.cursor.referenced)]


def parameter_types(named: Cursor | None, callee: Node | None) -> list[Type]:
    """Types of a function's parameters; of the first candidate where a template leaves it open."""
    first = next(iter(candidates(named, callee)), None)
    if first is None or not _has_prototype(first):
        return []
    return list(first.type.argument_types())


def takes_group(named: Cursor | None, callee: Node | None, arguments: list[Node]) -> bool:
    """Whether a call's first argument is a group of threads, which functions take by reference, as no pointer.

    Where the functions that may be called do not tell, an object is one; what a template leaves open is a pointer.
    """
    possible = (list(one.type.argument_types()) for one in candidates(named, callee) if _has_prototype(one))
    first = {is_reference(types[0]) for types in possible if types and len(types) == len(arguments)}
    if len(first) == 1:
        return first.pop()
    return bool(arguments) and bool(arguments[0].cursor.type.get_canonical().kind == TypeKind.RECORD)


def _has_prototype(function: Cursor) -> bool:
    return bool(function.type.kind == TypeKind.FUNCTIONPROTO)


def is_operator_method(named: Cursor | None, callee: Node | None, arguments: list[Node]) -> bool:
    """Whether a method is called by its operator, so that the object comes first among the arguments."""
    if named is None or named.kind != CursorKind.CXX_METHOD or not arguments:
        return False
    return named.spelling.startswith("operator") and (callee is None or callee.kind == CursorKind.DECL_REF_EXPR)
