"""Lvalues: where they lie, whether that is memory, and what their address depends on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum

from clang.cindex import CursorKind

from memsim.sources.capture.frontend.declarations import CLASSES, attributes, is_static
from memsim.sources.capture.frontend.flow import NOTHING, Deps
from memsim.sources.capture.frontend.parsing import is_system
from memsim.sources.capture.frontend.probing import Probing
from memsim.sources.capture.frontend.tree import Binary, Node, Unary, is_reference


class Probe(Enum):
    """Whether an lvalue lies in memory. ``unless_stack``: if not on its thread's stack, which is known when it runs: a
    compiler keeps what it can name there in registers."""

    never = ""
    unless_stack = "memory"
    always = "access"


@dataclass(frozen=True)
class Place:
    """Where an lvalue lies.

    Attributes:
        node: the expression.
        probe: whether to probe it.
        address: what its address depends on.
        variable: the local variable it is, or is part of.
        whole: it is all of that variable.
        bit_field: C++ has no reference to it.
        dynamic: an index on the way to it is known only at run time.
    """

    node: Node
    probe: Probe
    address: Deps = NOTHING
    variable: int | None = None
    whole: bool = False
    bit_field: bool = False
    dynamic: bool = False


_VARIABLES = (CursorKind.VAR_DECL, CursorKind.PARM_DECL)
_OUTSIDE = (CursorKind.TRANSLATION_UNIT, CursorKind.NAMESPACE, *CLASSES)
_LVALUES = (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.ARRAY_SUBSCRIPT_EXPR)
CASTS = (
    CursorKind.CSTYLE_CAST_EXPR,
    CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
    CursorKind.CXX_STATIC_CAST_EXPR,
    CursorKind.CXX_REINTERPRET_CAST_EXPR,
    CursorKind.CXX_CONST_CAST_EXPR,
)
THIS = 0  # stands for the variable `this`


def is_lvalue(node: Node) -> bool:
    return node.kind in _LVALUES or node.is_unary(Unary.dereference)


def explicit_base(member: Node) -> Node | None:
    """The expression before the dot or arrow of a member; not what stands in a template's arguments."""
    first = member.children[0] if member.children else None
    return first if first is not None and first.kind.is_expression() and first.start == member.start else None


def _variable_of(node: Node) -> int | None:
    """The local variable that an expression names."""
    named = node.cursor.referenced if node.kind == CursorKind.DECL_REF_EXPR else None
    return named.hash if named is not None and named.kind in _VARIABLES and not attributes(named) else None


class Places(Probing, ABC):
    """Walks lvalues. What they are made of is the next layers'."""

    unrolled: frozenset[int] = frozenset()  # variables of loops that a compiler unrolls

    @abstractmethod
    def value(self, node: Node, used: bool = True) -> Deps:
        """Evaluate an expression for its value; returns what the value depends on."""

    @abstractmethod
    def scalar(self, node: Node) -> Deps:
        """Evaluate an expression for a use that an object, if a template makes it one, sees to itself."""

    @abstractmethod
    def open_call(self, node: Node, operator: str, operand: Node, given: Deps) -> Deps:
        """Evaluate an operator in a template that, if its operand is an object, is the user's; what it gives."""

    @abstractmethod
    def conditional(self, node: Node, used: bool) -> Deps:
        """Evaluate ``condition ? one : other``."""

    @abstractmethod
    def call(self, node: Node, used: bool) -> Deps:
        """Evaluate a call: its arguments, then what it does; returns what its value depends on."""

    @abstractmethod
    def returns_reference(self, node: Node) -> bool:
        """Whether a call is of a user's function that returns a reference."""

    def place(self, node: Node) -> Place:
        """Evaluate an expression for where it lies, without accessing it."""
        node = node.inner
        if node.kind == CursorKind.DECL_REF_EXPR:
            return self._named(node)
        if node.kind == CursorKind.MEMBER_REF_EXPR:
            return self._member(node)
        if node.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
            return self._element(node)
        if node.is_unary(Unary.dereference):
            return self._pointee(node)
        if node.is_binary(Binary.comma):
            self.value(node.children[0], used=False)
            return self.place(node.children[1])
        if node.kind == CursorKind.CONDITIONAL_OPERATOR:
            return Place(node, Probe.unless_stack, self.conditional(node, used=False))
        if self._casts_place(node):
            return replace(self.place(node.children[-1]), node=node, whole=False)
        if self.returns_reference(node):
            return Place(node, Probe.unless_stack, self.call(node, used=True))
        return Place(node, Probe.never, self.value(node))

    def is_place(self, node: Node) -> bool:
        """Whether an expression is an lvalue, reference casts and calls that return a reference included."""
        return is_lvalue(node) or self._casts_place(node) or self.returns_reference(node)

    def can_bind(self, node: Node) -> bool:
        """Whether a reference can be bound to what an expression names, which loads nothing."""
        if node.kind == CursorKind.CONDITIONAL_OPERATOR:
            return all(self.can_bind(way.inner) for way in node.children[1:])
        return self.is_place(node)

    def _casts_place(self, node: Node) -> bool:
        """Whether an expression casts an lvalue to a reference."""
        if node.kind not in CASTS or not node.children or not self.is_place(node.children[-1].inner):
            return False
        return "&" in self.file.text[node.start : node.children[-1].start]

    def _named(self, node: Node) -> Place:
        named = node.cursor.referenced
        if named is None or named.kind not in _VARIABLES:
            return Place(node, Probe.never)
        if is_system(named):  # threadIdx and the like
            return Place(node, Probe.never)
        variable = named.hash
        if is_reference(named.type):
            return Place(node, Probe.unless_stack, self.values.get(variable), variable)
        if attributes(named):
            return Place(node, Probe.always)
        if named.kind == CursorKind.VAR_DECL and named.semantic_parent.kind in _OUTSIDE:
            return Place(node, Probe.never)
        if is_static(named):
            return Place(node, Probe.never if named.type.get_canonical().is_const_qualified() else Probe.always)
        return Place(node, Probe.never, variable=variable, whole=True)

    def _member(self, node: Node) -> Place:
        member = node.cursor.referenced
        if member is not None and member.kind == CursorKind.VAR_DECL:  # a static member
            return Place(node, Probe.always if attributes(member) else Probe.never)
        if member is not None and member.kind == CursorKind.ENUM_CONSTANT_DECL:
            return Place(node, Probe.never)
        bits = member is not None and member.kind == CursorKind.FIELD_DECL and member.is_bitfield()
        base = explicit_base(node)
        if base is None:
            return Place(node, Probe.unless_stack, self.values.get(THIS), bit_field=bits)
        if "->" in self.file.text[base.end : node.end]:
            return Place(node, Probe.unless_stack, self.scalar(base), bit_field=bits)
        return replace(self.place(base), node=node, whole=False, bit_field=bits)

    def _element(self, node: Node) -> Place:
        base, index = node.children[0].inner, node.children[1]
        holder = self.place(base) if base.is_array else None
        pointer = self.scalar(base) if holder is None else NOTHING
        arithmetic = self.arithmetic
        position = self.scalar(index)
        self.arithmetic = arithmetic  # the address's own arithmetic comes free
        dynamic = not self._is_constant(index)
        if base.is_undecided:  # it may overload the operator
            address = self.open_call(node, "[]", base, pointer | position)
            return Place(node, Probe.unless_stack, address, _variable_of(base))
        if holder is None:
            return Place(node, Probe.always if dynamic else Probe.unless_stack, pointer | position)
        dynamic |= holder.dynamic
        probe = holder.probe if not dynamic else Probe.always
        return Place(
            node, probe, holder.address | position, holder.variable if probe is Probe.never else None, dynamic=dynamic
        )

    def _pointee(self, node: Node) -> Place:
        operand = node.children[0].inner
        address = self.scalar(operand)
        if operand.is_undecided:
            address = self.open_call(node, "*", operand, address)
        if node.is_function:
            return Place(node, Probe.never, address)
        moved = operand.kind == CursorKind.BINARY_OPERATOR and not self._is_constant(operand.children[-1])
        return Place(node, Probe.always if moved else Probe.unless_stack, address)

    def _is_constant(self, index: Node) -> bool:
        """Whether a compiler knows an index: a constant, or counted by a loop that it unrolls."""
        return index.is_constant(self.unrolled)
