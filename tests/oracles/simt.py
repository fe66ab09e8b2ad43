"""How a warp executes a structured program, by masks of active lanes: slow, and independent of the merge.

Both sides of an ``if`` are executed one after the other, a loop until no lane is left in it. Lanes that break, continue
or return wait at the end of what they left, off the masks of everything in between. So lanes meet again at the
immediate post-dominator of where they parted. A lane that leaves early does not keep the others apart, as it would on
the textbook's stack (``tests/oracles/ipdom.py``), where the rest of an ``if`` that holds a ``break`` is executed twice.
Hardware takes such lanes off the masks, too: by BRK, CONT and RET up to Pascal, by BREAK since Volta (CUDA Binary
Utilities, instruction set reference).
"""

from __future__ import annotations

from collections import Counter

from memsim.trace.schema import Flag, Kind
from tests.oracles.simt_programs import Access, Barrier, Call, Choices, Exit, If, Loop

BARRIER = -1


class Warp:
    """Executes a program for some lanes.

    Attributes:
        executed: list of (site or BARRIER, {lane: address}, flags), in order.
    """

    def __init__(self, program, lanes):
        self.program, self.choices, self.executed = program, Choices(program), []
        self._sites = {site.id: site for site in program.sites}
        self._start, self._issued = True, set()  # a sequence is due; sites issued in the current one
        self._latched = Counter()  # by loop, how often the warp came to its latch
        self._again = []  # of every loop under way: the lanes that begin another iteration, until one does something
        self._function(0, frozenset(lanes))

    def _event(self, lanes):
        """Some lanes do something: if they do it in another iteration, the warp has taken a back-edge."""
        for k, beginning in enumerate(self._again):
            if beginning & lanes:
                self._start, self._again[k] = True, frozenset()

    def _access(self, access, lanes):
        if not access or not lanes:
            return
        self._event(lanes)
        flags, site = 0, self._sites[access.site]
        if self._start or self._issued & set(site.waits_for):
            self._start, self._issued, flags = False, set(), int(Flag.sequence)
        elif self._issued & set(site.data_from):
            flags = int(Flag.data)
        if access.kind in (Kind.load, Kind.atomic):
            self._issued.add(access.site)
        self.executed.append((access.site, {lane: self.choices.address(access, lane) for lane in sorted(lanes)}, flags))

    def _function(self, number, lanes):
        left = {"return": frozenset()}
        self._run(self.program.functions[number], lanes, left)

    def _run(self, statements, lanes, left):
        """Execute statements; the lanes that come to their end. Those that leave early are added to ``left[kind]``."""
        for node in statements:
            if not lanes:
                break
            match node:
                case Access():
                    self._access(node, lanes)
                case If():
                    holds = self._holding(node.condition, lanes)
                    lanes = self._run(node.then, holds, left) | self._run(node.other, lanes - holds, left)
                case Loop():
                    lanes = self._loop(node, lanes, left)
                case Exit():
                    left[node.kind] |= lanes
                    lanes = frozenset()
                case Call():
                    for argument in node.arguments:
                        self._access(argument, lanes)
                    self._function(node.function, lanes)
                case Barrier():
                    self.executed.append((BARRIER, dict.fromkeys(sorted(lanes), 0), int(Flag.barrier | Flag.sequence)))
                    self._start, self._issued = True, set()
        return lanes

    def _holding(self, condition, lanes):
        """The lanes where a condition holds."""
        undecided, decided = lanes, frozenset()
        for k, term in enumerate(condition.terms):
            self._access(term, undecided)
            now = frozenset(i for i in undecided if self.choices.holds(condition, k, i) != condition.every)
            undecided, decided = undecided - now, decided | now
        return undecided if condition.every else decided

    def _loop(self, loop, lanes, left):
        """Execute a loop; the lanes that come to its end."""
        trips = {lane: self.choices.trips(loop, lane) for lane in lanes}
        inside, out, done = lanes, frozenset(), 0
        self._again.append(frozenset())
        while inside:
            if loop.form != "do":
                self._access(loop.test, inside)
                over = frozenset(lane for lane in inside if done >= trips[lane])
                inside, out = inside - over, out | over
            here = {"break": frozenset(), "continue": frozenset(), "return": frozenset()}
            inside = self._run(loop.body, inside, here)
            leaving = here["break"] | here["return"] if loop.form == "range" else frozenset()
            self._event(leaving)
            out, left["return"] = out | here["break"], left["return"] | here["return"]
            inside |= here["continue"]
            done += 1
            self._access(loop.step, inside)
            if loop.form == "do":
                self._access(loop.test, inside)
                over = frozenset(lane for lane in inside if done >= trips[lane])
                inside, out = inside - over, out | over
            self._event(inside)
            self._latched[id(loop)] += bool(inside | leaving)
            if loop.unroll and self._latched[id(loop)] % loop.unroll == 0:
                self._again[-1] = inside
        self._again.pop()
        return out
