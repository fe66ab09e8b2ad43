"""Loops: their latches, what is carried around them, and how they are left."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from clang.cindex import CursorKind

from memsim.sources.capture.frontend import loops, unrolling
from memsim.sources.capture.frontend.calls import Calls
from memsim.sources.capture.frontend.flow import NOTHING, Deps, Values
from memsim.sources.capture.frontend.probing import PROBE, Context, Loaded
from memsim.sources.capture.frontend.source import find
from memsim.sources.capture.frontend.tree import Node
from memsim.sources.capture.sites import Role

MOST_PASSES = 4  # over a loop until what variables depend on is settled
DEEPEST = 3  # loops inside loops that are walked repeatedly

DECLARING = (CursorKind.DECL_STMT, CursorKind.VAR_DECL)
_NESTING = (CursorKind.IF_STMT, CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.SWITCH_STMT)


class Repetition(Calls):
    """Walks loops. Other statements are the next layer's."""

    def __init__(self, context: Context, where: tuple[str, int], body: Node) -> None:
        super().__init__(context, where, body)
        self._leaving: Deps = NOTHING  # what decides on break and continue in the loop around
        self._left: list[Values] = []  # values where the loop around is left
        self._returning: Deps = NOTHING
        self._depth = 0

    @abstractmethod
    def variable(self, node: Node) -> None:
        """Walk the declaration of one variable."""

    def _for(self, node: Node) -> None:
        head = loops.header(self.file.text, node)
        begin, condition, increment = (*head.parts, [], [], [])[:3]
        for child in begin:
            self.statement(child)
        counted = unrolling.counter(head)
        unroll = unrolling.factor(self.file.text, node)
        outer = self.unrolled
        if counted is not None:
            self.unrolled = outer | {counted}

        def once() -> None:
            self._condition(condition)
            self.statement(head.body)
            for child in increment:
                self.value(child, used=False)
            self._latch(node, unroll, head.closing, ", " if increment else "")

        self._repeat(once)
        self.unrolled = outer

    def _while(self, node: Node) -> None:
        head = loops.header(self.file.text, node)
        if not self.is_made(node, Role.latch):
            self.edits.remove(node.start, node.start + len("while"))
            self.edits.insert(node.start + len("while"), lambda: "for")
            self.edits.insert(head.opening + 1, lambda: ";")

        def once() -> None:
            self._condition(node.children[:-1])
            self.statement(head.body)
            self._latch(node, unrolling.factor(self.file.text, node), head.closing, "; ")

        self._repeat(once)

    def _do(self, node: Node) -> None:
        body, condition = node.children

        def once() -> None:
            self.statement(body)
            decision = self.scalar(condition)
            self.control |= decision
            latch, new = self.site(node, Role.latch, None)
            if new:
                self.around(condition, "latched", latch)

        self._repeat(once)

    def _for_range(self, node: Node) -> None:
        *before, body = node.children
        for child in before:
            if child.kind == CursorKind.VAR_DECL:
                self.variable(child)
            elif child.kind.is_expression():
                self._bound(child.inner) if self.can_bind(child.inner) else self.value(child)
        end = self._statement_end(body)

        def once() -> None:
            self.statement(body)
            latch, new = self.site(node, Role.latch, None)
            if new:
                form = f"{PROBE}Latch<"
                self.edits.wrap(body.start, end, lambda: f"{{ {form}{latch.id}> memsim_latch; ", lambda: " }")

        self._repeat(once)

    def _condition(self, nodes: list[Node]) -> None:
        for child in nodes:
            if child.kind in DECLARING:
                self.control |= self.declared(child)
            else:
                self.control |= self.scalar(child)

    def _latch(self, node: Node, unroll: int | None, offset: int, before: str) -> None:
        latch, new = self.site(node, Role.latch, None)
        latch.unroll = unroll
        if new:
            self.edits.insert(offset, lambda: f"{before}{PROBE}latch<{latch.id}>()")

    def _repeat(self, once: Callable[[], None]) -> None:
        """Walk a loop until nothing new is learnt of what its variables depend on."""
        control = self.control
        self._depth += 1
        self.loaded = Loaded()
        with self._loop():
            for _ in range(MOST_PASSES if self._depth <= DEEPEST else 1):
                before = self.values.copy()
                returning = self._returning
                once()
                for left in self._left:
                    self.values = self.values.join(left)
                self.values = self.values.join(before)
                self.loaded = Loaded()
                self.control |= self._leaving
                if self.values == before and returning == self._returning:
                    break
        self._depth -= 1
        self.control = control | self._returning

    @contextmanager
    def _loop(self) -> Iterator[None]:
        """What is left by break and continue."""
        leaving, left = self._leaving, self._left
        self._leaving, self._left = NOTHING, []
        yield
        for values in self._left:
            self.values = self.values.join(values)
        self._leaving, self._left = leaving, left

    def _leave(self, node: Node) -> None:
        self._leaving |= self.control
        self._left.append(self.values.copy())

    def declared(self, node: Node) -> Deps:
        """Walk what a condition declares; returns what its variables depend on."""
        declared = [one for one in node.walk() if one.kind == CursorKind.VAR_DECL]
        for one in declared:
            self.variable(one)
        return NOTHING.union(*(self.values.get(one.cursor.hash) for one in declared))

    def _statement_end(self, node: Node) -> int:
        """Where a statement ends, its semicolon included."""
        text = self.file.text
        if node.kind in _NESTING:
            return self._statement_end(node.children[-1])
        if node.kind in (CursorKind.COMPOUND_STMT, CursorKind.DECL_STMT, CursorKind.NULL_STMT):
            return node.end
        return find(text, ";", node.end) + 1
