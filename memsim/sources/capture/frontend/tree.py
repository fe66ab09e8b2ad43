"""The syntax tree of a function, as plain nodes: kinds, places in the file, operators, children."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from clang.cindex import Cursor, CursorKind, Type, TypeKind

from memsim.sources.capture.frontend.parsing import binary_operator, file_position, unary_operator


class Unary(IntEnum):
    """Numbers of CXUnaryOperatorKind (clang-c/Index.h)."""

    post_increment = 1
    post_decrement = 2
    pre_increment = 3
    pre_decrement = 4
    address = 5
    dereference = 6


class Binary(IntEnum):
    """Numbers of CXBinaryOperatorKind (clang-c/Index.h)."""

    shift_left = 8
    shift_right = 9
    logical_and = 20
    logical_or = 21
    assign = 22
    shift_left_assign = 28
    shift_right_assign = 29
    comma = 33


INCREMENTS = (Unary.post_increment, Unary.post_decrement, Unary.pre_increment, Unary.pre_decrement)
_BINARY = (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR)
_TRANSPARENT = (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR)
_FUNCTIONS = (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO)
_REFERENCES = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_ARRAYS = (
    TypeKind.CONSTANTARRAY,
    TypeKind.INCOMPLETEARRAY,
    TypeKind.VARIABLEARRAY,
    TypeKind.DEPENDENTSIZEDARRAY,
)
SCALARS = (
    TypeKind.BOOL,
    TypeKind.INT,
    TypeKind.UINT,
    TypeKind.LONG,
    TypeKind.ULONG,
    TypeKind.FLOAT,
    TypeKind.DOUBLE,
    TypeKind.POINTER,
    TypeKind.ENUM,
)
_UNDECIDED = (TypeKind.DEPENDENT, TypeKind.UNEXPOSED)


def is_reference(of: Type) -> bool:
    return of.get_canonical().kind in _REFERENCES


def is_object(of: Type) -> bool:
    """Whether a type is a class, or may be one in a template."""
    return of.get_canonical().kind in (TypeKind.RECORD, *_UNDECIDED)


@dataclass(slots=True, eq=False)
class Node:
    """One cursor of clang's tree.

    Attributes:
        cursor: clang's.
        kind: its kind.
        file: where it is written.
        start, end: byte offsets there; of what comes from the body of a system's macro, those of the macro's use.
        operator: of a unary or binary expression, as in :class:`Unary` and :class:`Binary`; else 0.
        children: in the order in which they are written.
    """

    cursor: Cursor
    kind: CursorKind
    file: str
    start: int
    end: int
    operator: int = 0
    children: list[Node] = field(default_factory=list)

    @classmethod
    def of(cls, cursor: Cursor) -> Node:
        kind = cursor.kind
        extent = cursor.extent
        file, start = file_position(extent.start)
        _, end = file_position(extent.end)
        operator = 0
        if kind in _BINARY:
            operator = binary_operator(cursor)
        elif kind == CursorKind.UNARY_OPERATOR:
            operator = unary_operator(cursor)
        return cls(cursor, kind, file, start, end, operator, [cls.of(child) for child in cursor.get_children()])

    def walk(self) -> Iterator[Node]:
        """The node and all beneath it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def inner(self) -> Node:
        """The expression without the parentheses and implicit conversions around it."""
        node = self
        while node.kind in _TRANSPARENT and len(node.children) == 1:
            node = node.children[0]
        return node

    @property
    def is_array(self) -> bool:
        """Whether the expression is an array, which is used by its address."""
        return self.cursor.type.get_canonical().kind in _ARRAYS

    @property
    def is_function(self) -> bool:
        return self.cursor.type.get_canonical().kind in _FUNCTIONS

    @property
    def is_volatile(self) -> bool:
        return bool(self.cursor.type.is_volatile_qualified())

    @property
    def is_open(self) -> bool:
        """Whether its type, in a template, depends on the template's arguments."""
        return self.cursor.type.kind == TypeKind.DEPENDENT

    @property
    def is_undecided(self) -> bool:
        """Whether, in a template, it is an object or not as the template's arguments are."""
        return self.cursor.type.get_canonical().kind in _UNDECIDED

    def is_unary(self, *operators: Unary) -> bool:
        return self.kind == CursorKind.UNARY_OPERATOR and self.operator in operators

    def is_binary(self, operator: Binary) -> bool:
        return self.kind == CursorKind.BINARY_OPERATOR and self.operator == operator

    def is_constant(self, but_for: frozenset[int] = frozenset()) -> bool:
        """Whether nothing in it is known only at run time, but for variables given by their hash."""
        if _is_static_member(self):
            return True
        return _is_constant(self, but_for) and all(child.is_constant(but_for) for child in self.children)


_CONSTANT_KINDS = {
    CursorKind.INTEGER_LITERAL,
    CursorKind.CHARACTER_LITERAL,
    CursorKind.CXX_BOOL_LITERAL_EXPR,
    CursorKind.PAREN_EXPR,
    CursorKind.UNEXPOSED_EXPR,
    CursorKind.BINARY_OPERATOR,
    CursorKind.UNARY_OPERATOR,
    CursorKind.CXX_UNARY_EXPR,
    CursorKind.TYPE_REF,
    CursorKind.CSTYLE_CAST_EXPR,
    CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
    CursorKind.CXX_STATIC_CAST_EXPR,
}
_CONSTANT_NAMES = (CursorKind.ENUM_CONSTANT_DECL, CursorKind.TEMPLATE_NON_TYPE_PARAMETER)


def _is_static_member(node: Node) -> bool:
    """Whether a node names a class's constant, by an object (``fragment.num_elements``)."""
    named = node.cursor.referenced if node.kind == CursorKind.MEMBER_REF_EXPR else None
    return named is not None and named.kind == CursorKind.VAR_DECL and named.type.is_const_qualified()


def _is_constant(node: Node, but_for: frozenset[int]) -> bool:
    if node.kind == CursorKind.UNARY_OPERATOR:
        return node.operator not in INCREMENTS and node.operator != Unary.dereference
    if node.kind == CursorKind.DECL_REF_EXPR:
        named = node.cursor.referenced
        if named is None or named.kind in _CONSTANT_NAMES:
            return named is not None
        return named.hash in but_for or named.kind == CursorKind.VAR_DECL and named.type.is_const_qualified()
    return node.kind in _CONSTANT_KINDS
