"""How a warp executes a program by the textbook: a stack of masks, reconvergence at immediate post-dominators.

The program becomes a control-flow graph with its calls inlined; post-dominators are computed on that graph, early exits
and all (Fung et al., "Dynamic Warp Formation and Scheduling for Efficient GPU Control Flow", MICRO 2007, section 2).
Where a break, continue or return is nested in an ``if``, the immediate post-dominator of that ``if`` is no longer its
end, and the rest of the loop's body runs in parts; neither hardware nor the merge does so: tests do not compare there.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracles.simt import BARRIER
from tests.oracles.simt_programs import Access, Barrier, Call, Choices, Exit, If, Loop


class Graph:
    """Instructions: (operation, argument, where to go if the argument does not hold)."""

    def __init__(self, program):
        self._program, self.code = program, []
        self._function(0)
        self.successors = [self._after(at) for at in range(len(self.code))] + [set()]

    def _after(self, at):
        operation, _, target = self.code[at]
        return {"jump": {target}, "branch": {at + 1, target}}.get(operation, {at + 1})

    def _put(self, operation, argument=None, target=None):
        self.code.append((operation, argument, target))
        return len(self.code) - 1

    def _aim(self, sources, target=None):
        """Let jumps and branches go to an instruction, or to the next one."""
        for at in sources:
            self.code[at] = (*self.code[at][:2], len(self.code) if target is None else target)

    def _access(self, access):
        if access:
            self._put("access", access)

    def _function(self, number):
        exits = {"return": []}
        self._body(self._program.functions[number], exits)
        self._aim(exits["return"])

    def _body(self, statements, exits):
        for node in statements:
            match node:
                case Access():
                    self._access(node)
                case If():
                    (term,) = node.condition.terms
                    self._access(term)
                    branch = self._put("branch", node.condition)
                    self._body(node.then, exits)
                    over = self._put("jump")
                    self._aim([branch])
                    self._body(node.other, exits)
                    self._aim([over])
                case Loop():
                    self._loop(node, exits)
                case Exit():
                    exits[node.kind].append(self._put("jump"))
                case Call():
                    for argument in node.arguments:
                        self._access(argument)
                    self._function(node.function)
                case Barrier():
                    self._put("barrier")

    def _loop(self, loop, exits):
        self._put("enter", loop)
        here = {"break": [], "continue": [], "return": exits["return"]}
        top = len(self.code)
        if loop.form != "do":
            self._access(loop.test)
            here["break"].append(self._put("branch", loop))
        self._body(loop.body, here)
        self._aim(here["continue"])
        self._put("count", loop)
        self._access(loop.step)
        if loop.form == "do":
            self._access(loop.test)
            here["break"].append(self._put("branch", loop))
        self._aim([self._put("jump")], top)
        self._aim(here["break"])

    def reconvergence(self):
        """The immediate post-dominator of each instruction."""
        n = len(self.code)
        dominators = [set(range(n + 1)) for _ in range(n)] + [{n}]
        changed = True
        while changed:
            changed = False
            for at in reversed(range(n)):
                new = {at} | set.intersection(*(dominators[after] for after in self.successors[at]))
                changed |= new != dominators[at]
                dominators[at] = new
        # The nearest of an instruction's post-dominators is the one that all others post-dominate.
        return [max(dominators[at] - {at}, key=lambda other: len(dominators[other])) for at in range(n)]


@dataclass
class Entry:
    at: int
    until: int
    lanes: frozenset


def execute(program, lanes):
    """The instructions of a warp, in order: (site or BARRIER, {lane: address})."""
    graph, choices, trips, executed = Graph(program), Choices(program), {}, []
    meet, end = graph.reconvergence(), len(graph.code)
    stack = [Entry(0, end, frozenset(lanes))]
    while stack:
        top = stack[-1]
        if top.at == top.until:
            stack.pop()
            continue
        operation, argument, target = graph.code[top.at]
        at, top.at = top.at, top.at + 1
        if operation == "access":
            executed.append((argument.site, {i: choices.address(argument, i) for i in sorted(top.lanes)}))
        elif operation == "barrier":
            executed.append((BARRIER, dict.fromkeys(sorted(top.lanes), 0)))
        elif operation == "jump":
            top.at = target
        elif operation == "enter":
            trips |= {(id(argument), i): choices.trips(argument, i) for i in top.lanes}
        elif operation == "count":
            for i in top.lanes:
                trips[id(argument), i] -= 1
        else:
            if isinstance(argument, Loop):
                holds = frozenset(i for i in top.lanes if trips[id(argument), i] > 0)
            else:
                holds = frozenset(i for i in top.lanes if choices.holds(argument, 0, i))
            if not holds or holds == top.lanes:
                top.at = top.at if holds else target
                continue
            top.at = meet[at]
            stack += [Entry(target, meet[at], top.lanes - holds), Entry(at + 1, meet[at], holds)]
    return executed
