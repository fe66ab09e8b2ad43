"""Small structured programs: what they are made of, and what one lane logs of them.

A program is a list of functions, each a list of statements. The first is the kernel; a function calls later ones only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from zlib import crc32

from memsim.sources.capture.sites import Role, Site
from memsim.trace.schema import Kind
from tests import capture_logs as log

BASE, SIZE = 1 << 40, 1 << 20  # of the array that every access is in


@dataclass(eq=False)
class Access:
    """A load or store; ``stride`` is None for addresses that look random."""

    kind: Kind = Kind.load
    stride: int | None = 4
    waits_for: list[Access] = field(default_factory=list)
    data_from: list[Access] = field(default_factory=list)
    site: int = 0


@dataclass(eq=False)
class Condition:
    """Terms joined by && (``every``) or ||, evaluated as far as need be; a term may access memory at first."""

    terms: list[Access | None]
    every: bool = True
    uniform: bool = False  # the same for all lanes


@dataclass(eq=False)
class If:
    condition: Condition
    then: list
    other: list


@dataclass(eq=False)
class Loop:
    """``form`` is for, while, do, or range: a range-for's latch is also passed by lanes that leave its body early."""

    form: str
    body: list
    most: int = 3  # iterations
    test: Access | None = None  # in the condition
    step: Access | None = None  # in a for's increment
    uniform: bool = False
    unroll: int = 1  # iterations before a back-edge; 0: there is none
    latch: int = 0


@dataclass(eq=False)
class Exit:
    kind: str  # break, continue or return


@dataclass(eq=False)
class Call:
    function: int
    arguments: list[Access]
    site: int = 0


@dataclass(eq=False)
class Barrier:
    pass


class Program:
    """Functions whose sites are numbered as the front end does: callers first, each in the order of evaluation."""

    def __init__(self, functions, seed=0):
        self.functions, self.seed, self.sites = functions, seed, []
        numbered = [entry for body in functions for entry in _numbered(body)]
        for number, (node, _) in enumerate(numbered, 1):
            setattr(node, "latch" if isinstance(node, Loop) else "site", number)
        for number, (node, role) in enumerate(numbered, 1):
            of_access = dict(kind=None)
            if isinstance(node, Access):
                waits, data = (tuple(a.site for a in which) for which in (node.waits_for, node.data_from))
                of_access = dict(kind=node.kind, waits_for=waits, data_from=data)
            unroll = node.unroll if isinstance(node, Loop) else 1
            self.sites.append(
                Site(number, role, file="app.cu", line=number, column=1, text=role.name, unroll=unroll, **of_access)
            )
        self._labels = {id(node): k for k, node in enumerate(_nodes(functions))}

    def chosen(self, node, lane, visit):
        """A number that looks random: a lane's at its n-th visit to a node."""
        who = 0 if getattr(node, "uniform", False) else lane
        return crc32(f"{self.seed} {self._labels[id(node)]} {who} {visit}".encode()) >> 7

    def address(self, access, lane, visit):
        """What an access accesses, of 4 bytes."""
        if access.stride is None:
            return BASE + 4 * (self.chosen(access, lane, visit) % (SIZE // 4))
        return BASE + 4 * 32768 + access.stride * lane + 256 * visit + 8 * access.site


def _numbered(statements):
    """The sites of a function in order, with their roles."""
    for node in statements:
        match node:
            case Access():
                yield node, Role.access
            case If():
                yield from _numbered([term for term in node.condition.terms if term])
                yield from _numbered(node.then)
                yield from _numbered(node.other)
            case Loop():
                test, step = ([a] if a else [] for a in (node.test, node.step))
                for part in [node.body, test] if node.form == "do" else [test, node.body, step]:
                    yield from _numbered(part)
                yield node, Role.latch
            case Call():
                yield node, Role.call
                yield from _numbered(node.arguments)


def _nodes(part):
    """Every node at which a lane may choose."""
    if isinstance(part, list):
        for each in part:
            yield from _nodes(each)
    elif isinstance(part, (Access, If, Loop, Call)):
        yield part
        for name in ("condition", "then", "other", "body", "test", "step", "arguments"):
            yield from _nodes(getattr(part, name, None))
    elif isinstance(part, Condition):
        yield part
        yield from _nodes(part.terms)


class Choices:
    """What the lanes of a warp choose: each lane's own visits are counted, so the order among lanes changes nothing."""

    def __init__(self, program):
        self.program, self._visits = program, Counter()

    def _visit(self, node, lane):
        self._visits[id(node), lane] += 1
        return self._visits[id(node), lane]

    def holds(self, condition, term, lane):
        """Whether a term of a condition holds, in two of three cases."""
        return self.program.chosen(condition, lane, 8 * self._visit(condition, lane) + term) % 3 > 0

    def trips(self, loop, lane):
        """Iterations of a loop that a lane enters; a do loop has one at least."""
        return self.program.chosen(loop, lane, self._visit(loop, lane)) % (loop.most + 1)

    def address(self, access, lane):
        return self.program.address(access, lane, self._visit(access, lane))


class _Left(Exception):
    """A lane leaves early; ``kind`` as in Exit."""

    def __init__(self, kind):
        self.kind = kind


def lane_words(program, lane):
    """The words that one lane logs."""
    return _LaneRun(program, lane).words


class _LaneRun:
    def __init__(self, program, lane):
        self.program, self.lane, self.choices, self.words = program, lane, Choices(program), []
        self._function(0)

    def _function(self, number):
        try:
            self._run(self.program.functions[number])
        except _Left as left:
            assert left.kind == "return"

    def _access(self, access):
        if access:
            self.words.append(log.access(access.site, self.choices.address(access, self.lane)))

    def _run(self, statements):
        for node in statements:
            match node:
                case Access():
                    self._access(node)
                case If():
                    self._run(node.then if self._holds(node.condition) else node.other)
                case Loop():
                    self._loop(node)
                case Exit():
                    raise _Left(node.kind)
                case Barrier():
                    self.words.append(log.WAITED)
                case Call():
                    self.words.append(log.call(node.site))
                    for argument in node.arguments:
                        self._access(argument)
                    self._function(node.function)
                    self.words.append(log.RETURNED)

    def _holds(self, condition):
        for k, term in enumerate(condition.terms):
            self._access(term)
            if self.choices.holds(condition, k, self.lane) != condition.every:
                return not condition.every
        return condition.every

    def _loop(self, loop):
        trips, done = self.choices.trips(loop, self.lane), 0
        while True:
            if loop.form != "do":
                self._access(loop.test)
                if done >= trips:
                    return
            try:
                self._run(loop.body)
            except _Left as left:
                if left.kind != "continue":
                    if loop.form == "range":
                        self.words.append(log.latch(loop.latch))
                    if left.kind == "break":
                        return
                    raise
            done += 1
            self._access(loop.step)
            if loop.form == "do":
                self._access(loop.test)
                if done >= trips:
                    return
            self.words.append(log.latch(loop.latch))
