"""Expressions in the order in which they are evaluated: what is loaded, what is stored, what depends on what."""

from __future__ import annotations

import json
from abc import abstractmethod

from clang.cindex import CursorKind

from memsim.sources.capture.frontend.declarations import attributes, is_static
from memsim.sources.capture.frontend.flow import NOTHING, Deps, Draft, Symbol, decided
from memsim.sources.capture.frontend.parsing import is_system, operator_spelling
from memsim.sources.capture.frontend.places import CASTS, THIS, Place, Places, Probe
from memsim.sources.capture.frontend.probing import PROBE, Held
from memsim.sources.capture.frontend.tree import INCREMENTS, Binary, Node, Unary, is_reference
from memsim.sources.capture.sites import Role
from memsim.trace.schema import Kind

# Forms of the runtime's that decide, when a template is instantiated, whether an object is accessed (operand.h).
OPERAND, COPIED = "operand", "copied<void>"
INLINE_PTX = "inline PTX"  # as refusals call it
_SHIFTS = (Binary.shift_left, Binary.shift_right, Binary.shift_left_assign, Binary.shift_right_assign)
_OPERATORS = (CursorKind.UNARY_OPERATOR, CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR)
_UNEVALUATED = (CursorKind.CXX_UNARY_EXPR, CursorKind.CXX_TYPEID_EXPR, CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF)


class Expressions(Places):
    """Walks expressions. Calls are the next layer's."""

    @abstractmethod
    def closure(self, node: Node) -> Deps:
        """Walk a lambda's body."""

    @abstractmethod
    def statement(self, node: Node) -> Deps:
        """Walk a statement."""

    @abstractmethod
    def open_operator(self, node: Node, operator: str, operands: list[Node]) -> Deps:
        """Evaluate an operator in a template that may be the language's own or a function of the user's."""

    def value(self, node: Node, used: bool = True) -> Deps:
        node = node.inner
        if self.is_place(node):
            return self._read(self.place(node), used, COPIED if node.is_undecided else "")
        if node.kind in _UNEVALUATED:
            return NOTHING
        if node.kind in _OPERATORS:
            if node.is_open and (operator := operator_spelling(node.cursor)) in self.context.operators.functions:
                return self.open_operator(node, operator, node.children)
            return self._unary(node) if node.kind == CursorKind.UNARY_OPERATOR else self._binary(node)
        if node.kind == CursorKind.CONDITIONAL_OPERATOR:
            return self.conditional(node, used)
        if node.kind == CursorKind.CALL_EXPR:
            return self.call(node, used)
        if node.kind == CursorKind.LAMBDA_EXPR:
            return self.closure(node)
        if node.kind == CursorKind.CXX_THIS_EXPR:
            return self.values.get(THIS)
        if node.kind == CursorKind.ASM_STMT:
            return self._assembly(node)
        if node.kind.is_statement():
            return self.statement(node)
        used = used and not self.text(node).startswith("(void)")
        # What stands before a cast's operand is the type's.
        return self.all_of(node.children[-1:] if node.kind in CASTS else node.children, used)

    def scalar(self, node: Node) -> Deps:
        return self.operand(node, objects=not node.inner.is_undecided)

    def converted(self, node: Node, decided_by: str) -> Deps:
        """Evaluate an expression for its value, which goes to where it may be another type's."""
        inner = node.inner
        if not (inner.is_undecided and self.is_place(inner)):
            return self.value(node)
        return self._read(self.place(inner), True, decided_by)

    def _assembly(self, node: Node) -> Deps:
        """Inline PTX; headers are full of it, so it is refused only if a kernel gets here."""
        here = node.file, node.start
        if here in self.context.rewritten:  # loops are walked more than once
            return NOTHING
        self.context.rewritten.add(here)
        if not self.context.assembly:
            self.context.refused.append((self.key, self.context.refuse(node, INLINE_PTX, "write it in CUDA C++")))
        where = json.dumps(self.context.where(node))
        self.edits.remove(node.start, node.end)
        self.edits.insert(node.end, lambda: f"{PROBE}refuse_assembly({where})")
        return NOTHING

    def all_of(self, nodes: list[Node], used: bool = True) -> Deps:
        return NOTHING.union(*(self.value(node, used) for node in nodes))

    # -- loads and stores

    def _read(self, place: Place, used: bool, decided_by: str = "") -> Deps:
        """Load what lies at a place, if anything uses it; if it turns out to be an object, as `decided_by` says."""
        node = place.node
        known = place.address | self.values.get(place.variable)
        if place.probe is Probe.never or node.is_array or node.is_function:
            return known
        if not (used or node.is_volatile):
            return NOTHING
        text, names = self.normal_text(node), self._names(node)
        held = self.loaded.get(text)
        if held is not None and held.names == names and not self.context.keep_redundant:
            return frozenset({held.draft})
        draft, new = self.site(node, Role.access, Kind.load, place.address)
        if new:
            self._probe(place, place.probe.value, draft, decided_by=decided_by)
        if names is not None and not node.is_volatile and not decided_by:
            self.loaded[text] = Held(draft, names, lasts=all(_lasts(one) for one in node.walk()))
        return frozenset({draft})

    def operand(self, node: Node, objects: bool) -> Deps:
        """Evaluate an operand for its value; of an object only where it lies, unless `objects`."""
        if objects or not self.is_place(node.inner):
            return self.value(node)
        return self._read(self.place(node.inner), used=True, decided_by=OPERAND)

    def store(self, place: Place, data: Deps, decided_by: str = "") -> None:
        """Store at a place what depends on `data`; if an object lies there, as `decided_by` says."""
        self._change(place, data)
        if place.probe is Probe.never:
            return
        draft, new = self.site(place.node, Role.access, Kind.store, place.address)
        draft.data_from |= data
        if new:
            self._probe(place, place.probe.value, draft, decided_by=decided_by)

    def modify(self, place: Place, data: Deps, objects: bool = True) -> Deps:
        """Load, compute, store at the same place; if an object lies there, only if `objects`."""
        if place.probe is Probe.never:
            before = self.values.get(place.variable)
            self._change(place, data | before)
            return data | before
        load, new = self.site(place.node, Role.access, Kind.load, place.address)
        store, _ = self.site(place.node, Role.access, Kind.store, place.address)
        store.data_from |= data | {load}
        if new:
            form = "update" if place.probe is Probe.always else "memory_update"
            self._probe(place, form, load, store, decided_by="" if objects else OPERAND)
        self._change(place, data | {load})
        return data | {load}

    def _probe(self, place: Place, form: str, *drafts: Draft, decided_by: str = "") -> None:
        node = place.node
        if place.bit_field and node.children:
            base = node.children[0]
            arrow = "->" in self.file.text[base.end : node.end]
            self.around(base, "pointer" if arrow else place.probe.value, drafts[-1])
        elif not place.bit_field:
            self.around(node, form, *drafts, decided_by=decided_by)

    def _change(self, place: Place, data: Deps) -> None:
        """Remember what a place holds now; what was loaded may be old."""
        data |= decided(self.control)
        if place.variable is not None:
            self.loaded.forget(place.variable)
            if place.whole:
                self.values.set(place.variable, data)
            else:
                self.values.add(place.variable, data)
        if place.probe is not Probe.never:
            self.loaded.stored()
            self.context.facts.add(Symbol("out", self.key), data)

    def _names(self, node: Node) -> frozenset[int] | None:
        """The variables that an lvalue names; None if evaluating it again may give another place."""
        names = set()
        for one in node.walk():
            if one.kind in (CursorKind.CALL_EXPR, CursorKind.LAMBDA_EXPR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR):
                return None
            if one.is_unary(*INCREMENTS) or one.is_binary(Binary.assign) or one.is_volatile:
                return None
            if one.kind == CursorKind.DECL_REF_EXPR and one.cursor.referenced is not None:
                names.add(one.cursor.referenced.hash)
        return frozenset(names)

    # -- operators

    def _unary(self, node: Node) -> Deps:
        operand = node.children[0]
        if node.is_unary(*INCREMENTS):
            return self.modify(self.place(operand), NOTHING, not operand.inner.is_undecided)
        if node.is_unary(Unary.address):
            place = self.place(operand)
            return place.address | self.values.get(place.variable)
        self.arithmetic += 1
        return self.scalar(operand)

    def _binary(self, node: Node) -> Deps:
        left, right = node.children[0], node.children[-1]
        if node.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
            data = self.scalar(right)
            place = self.place(left)
            self.arithmetic += 1
            if not place.bit_field:  # which the host's function could not get a reference to
                self._shift(node, left, right)
            return self.modify(place, data, not place.node.is_undecided)
        if node.is_binary(Binary.assign):
            return self._assign(left, right)
        if node.is_binary(Binary.comma):
            self.value(left, used=False)
            return self.value(right)
        if node.operator in (Binary.logical_and, Binary.logical_or):
            decision = self.scalar(left)
            return decision | self.branch(decision, [right])
        known = self.scalar(left) | self.scalar(right)
        self.arithmetic += 1
        self._shift(node, left, right)
        return known

    def _assign(self, left: Node, right: Node) -> Deps:
        """Store; of objects in a template, only what is copied whole, for others see to it themselves."""
        data = self.converted(right, f"assigned<{self.type_of(left)}>")
        place = self.place(left)
        self.store(place, data, f"stored<{self.type_of(right)}>" if place.node.is_undecided else "")
        return data

    def _shift(self, node: Node, left: Node, right: Node) -> None:
        """Let the host shift as a GPU does, if this is a shift and its distance may be too long."""
        here = node.file, left.end
        if node.operator not in _SHIFTS or right.is_constant() or self.context.gpu or here in self.context.rewritten:
            return
        self.context.rewritten.add(here)
        form = f"{PROBE}{Binary(node.operator).name}("
        self.edits.wrap(node.start, node.end, lambda: form, lambda: ")")
        self.edits.remove(left.end, right.start)
        self.edits.insert(right.start, lambda: ", ")

    def conditional(self, node: Node, used: bool) -> Deps:
        condition, *ways = node.children
        decision = self.scalar(condition)
        return decision | self.branch(decision, ways, used)

    def branch(self, decision: Deps, ways: list[Node], used: bool = True) -> Deps:
        """Evaluate expressions of which at most one is reached, as `decision` decides."""
        control, values, loaded = self.control, self.values, self.loaded
        after, still = values.copy() if len(ways) == 1 else None, loaded.copy()
        known: Deps = NOTHING
        self.control = control | decision
        for way in ways:
            self.values, self.loaded = values.copy(), loaded.copy()
            known |= self.value(way, used)
            after = self.values if after is None else after.join(self.values)
            still = still.both(self.loaded)
        assert after is not None
        self.control, self.values, self.loaded = control, after, still
        return known


def _lasts(node: Node) -> bool:
    """Whether a part of an lvalue stays as it is while the kernel runs, but for changes of local variables.

    Constant memory does, and what a restricted pointer to constants points to.
    """
    if node.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR or node.is_unary(Unary.dereference):
        base = node.children[0].inner
        pointer = base.cursor.type
        return base.is_array or (pointer.is_restrict_qualified() and pointer.get_pointee().is_const_qualified())
    if node.kind not in (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR):
        return True
    named = node.cursor.referenced
    if named is None or is_system(named):  # threadIdx and the like
        return named is not None
    if node.is_array or attributes(named):
        return attributes(named) == {CursorKind.CUDACONSTANT_ATTR}
    is_variable = node.kind == CursorKind.DECL_REF_EXPR and not is_reference(named.type)
    return is_variable and (not is_static(named) or named.type.is_const_qualified())
