"""Statements of a device function: declarations, decisions, returns, lambdas."""

from __future__ import annotations

import re

from clang.cindex import CursorKind

from memsim.sources.capture.frontend import constants, loops, variables
from memsim.sources.capture.frontend.declarations import attributes
from memsim.sources.capture.frontend.expressions import COPIED, OPERAND
from memsim.sources.capture.frontend.flow import NOTHING, Deps, Symbol, decided
from memsim.sources.capture.frontend.places import THIS
from memsim.sources.capture.frontend.probing import Context
from memsim.sources.capture.frontend.repetition import DECLARING, Repetition
from memsim.sources.capture.frontend.source import closing
from memsim.sources.capture.frontend.tree import SCALARS, Node, is_reference


class Statements(Repetition):
    """Walks the body of one device function."""

    def __init__(self, context: Context, where: tuple[str, int], body: Node) -> None:
        super().__init__(context, where, body)
        self._labels: set[str] = set()
        self._returns_reference = False
        self._returned = COPIED  # decides whether an object that is returned is loaded whole

    def function(self, node: Node) -> None:
        """Walk a whole function: parameters, initial values of members, body."""
        parameters = [child for child in node.children if child.kind == CursorKind.PARM_DECL]
        for index, parameter in enumerate(parameters):
            self.values.set(parameter.cursor.hash, frozenset({Symbol("param", self.key, index)}))
        self.values.set(THIS, frozenset({Symbol("this", self.key)}))
        result = node.cursor.result_type
        self._returns_reference = is_reference(result)
        if result.get_canonical().kind in SCALARS:
            self._returned = OPERAND
        initials = constants.initial_values(self.file.text, node)
        for child in node.children:
            if child.kind.is_statement():
                self.statement(child)
            elif child in initials:
                self.initial = child.inner
                self.value(child)

    def statement(self, node: Node) -> Deps:
        """Walk a statement; an expression's value is not used."""
        walk = _WALKS.get(node.kind)
        if walk is not None:
            walk(self, node)
        elif node.kind.is_expression() or node.kind == CursorKind.ASM_STMT:
            return self.value(node, used=False)
        else:
            for child in node.children:
                self.statement(child)
        return NOTHING

    def _block(self, node: Node) -> None:
        for child in node.children:
            self.constructors = []
            self.statement(child)
            if child.kind == CursorKind.DECL_STMT and self.constructors:
                self.mark_statement(child, tuple(self.constructors))

    # -- declarations

    def _declaration(self, node: Node) -> None:
        for child in node.children:
            if child.kind == CursorKind.VAR_DECL:
                self.variable(child)
        variables.rewrite_local(self.context, node)

    def variable(self, node: Node) -> None:
        variable = node.cursor.hash
        self.loaded.forget(variable)
        if attributes(node.cursor):
            return
        if constants.is_constexpr(self.file.text, node):
            return
        initial = constants.initial_value(node)
        if initial and is_reference(node.cursor.type) and self.can_bind(initial[-1].inner):
            self.values.set(variable, self._bound(initial[-1].inner))
            return
        if initial and initial[-1].inner.kind == CursorKind.LAMBDA_EXPR:
            self.context.lambdas[variable] = _place_of(initial[-1].inner)
        if initial:
            decided_by = COPIED if self._is_deduced(node) else f"copied<decltype({node.cursor.spelling})>"
            self.values.set(variable, self.converted(initial[-1], decided_by) | decided(self.control))
        else:
            self.values.set(variable, decided(self.control))

    def _is_deduced(self, variable: Node) -> bool:
        """Whether a variable's type is that of its first value."""
        return re.search(r"\bauto\b", self.file.text[variable.start : variable.cursor.location.offset]) is not None

    # -- decisions

    def _if(self, node: Node) -> None:
        parts = node.children
        first = next(index for index, child in enumerate(parts) if self._is_behind_header(node, child))
        decision = NOTHING
        for child in parts[:first]:
            if child.kind in DECLARING:
                decision |= self.declared(child)
            elif not constants.is_constant_if(self.file.text, node):
                decision |= self.scalar(child)
        self._ways(decision, parts[first:], exhaustive=len(parts) - first > 1)

    def _is_behind_header(self, node: Node, child: Node) -> bool:
        return child.start > loops.closing(self.file.text, self.file.text.index("(", node.start))

    def _ways(self, decision: Deps, ways: list[Node], exhaustive: bool) -> None:
        """Walk statements of which one is reached, or none unless they are exhaustive."""
        control, values, loaded = self.control, self.values, self.loaded
        leaving, returning = self._leaving, self._returning
        self._leaving = self._returning = NOTHING
        ends = [] if exhaustive else [(values.copy(), loaded.copy())]
        for way in ways:
            self.values, self.loaded, self.control = values.copy(), loaded.copy(), control | decision
            self.arithmetic = 0
            self.statement(way)
            ends.append((self.values, self.loaded))
        self.values, self.loaded = ends[0]
        for other_values, other_loaded in ends[1:]:
            self.values, self.loaded = self.values.join(other_values), self.loaded.both(other_loaded)
        self.arithmetic = 0
        # What a way has left decides on whether what follows is reached.
        self.control = control | self._leaving | self._returning
        self._leaving, self._returning = self._leaving | leaving, self._returning | returning

    def _switch(self, node: Node) -> None:
        *conditions, body = node.children
        decision = self.all_of(conditions)
        with self._loop():
            self._ways(decision, [body], exhaustive=False)

    def _case(self, node: Node) -> None:
        self.loaded.clear()
        self.statement(node.children[-1])

    # -- jumps

    def _return(self, node: Node) -> None:
        for child in node.children:
            bound = self._returns_reference and self.can_bind(child.inner)
            known = self._bound(child.inner) if bound else self.converted(child, self._returned)
            self.context.facts.add(Symbol("return", self.key), known | decided(self.control))
        self._returning |= self.control

    def _label(self, node: Node) -> None:
        self._labels.add(node.cursor.spelling)
        self.loaded.clear()
        for child in node.children:
            self.statement(child)

    def _goto(self, node: Node) -> None:
        if any(child.cursor.spelling in self._labels for child in node.walk()):
            raise self.context.refuse(node, "goto", "it jumps back; write the loop as for or while")
        self._returning |= self.control

    # -- lambdas

    def closure(self, node: Node) -> Deps:
        """A lambda: its body is a function of its own, which sees the variables around."""
        body = node.children[-1]
        where = _place_of(node)
        inner = Statements(self.context, where, body)
        inner.values = self.values.copy()
        parameters = [child for child in node.children if child.kind == CursorKind.PARM_DECL]
        for index, parameter in enumerate(parameters):
            inner.values.set(parameter.cursor.hash, frozenset({Symbol("param", where, index)}))
        inner.statement(body)
        self.context.calls[self.key].add(where)
        for child in node.children[:-1]:
            if child.kind.is_expression() and child.start < closing(self.file.text, node.start):
                self.value(child)
        return NOTHING


def _place_of(node: Node) -> tuple[str, int]:
    return node.file, node.start


_WALKS = {
    CursorKind.COMPOUND_STMT: Statements._block,
    CursorKind.DECL_STMT: Statements._declaration,
    CursorKind.IF_STMT: Statements._if,
    CursorKind.SWITCH_STMT: Statements._switch,
    CursorKind.CASE_STMT: Statements._case,
    CursorKind.DEFAULT_STMT: Statements._case,
    CursorKind.FOR_STMT: Statements._for,
    CursorKind.WHILE_STMT: Statements._while,
    CursorKind.DO_STMT: Statements._do,
    CursorKind.CXX_FOR_RANGE_STMT: Statements._for_range,
    CursorKind.BREAK_STMT: Statements._leave,
    CursorKind.CONTINUE_STMT: Statements._leave,
    CursorKind.RETURN_STMT: Statements._return,
    CursorKind.LABEL_STMT: Statements._label,
    CursorKind.GOTO_STMT: Statements._goto,
}
