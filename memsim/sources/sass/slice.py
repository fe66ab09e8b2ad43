"""What a kernel of machine code must compute for its trace: whatever feeds addresses, predicates and branches.

A backward slice (Weiser 1984) of micro-ops, as `memsim.sources.ptx.slice` takes one of PTX. Assemblers give a register
many uses, so a register is needed at some places and not at others: needed places flow from each micro-op to those
before it, as liveness does. Memory is distinguished by space only, unless the caller assumes that a kernel loads what
its addresses need from other arrays than those that it stores to, and checks that with the arrays it has accessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from memsim.sources.ptx.lowering.builder import SINK, TRUE
from memsim.sources.ptx.machine.access import POLLS, TESTS, VALUES
from memsim.sources.ptx.machine.codes import (
    CONSTANT_WINDOW,
    COUNT,
    DST,
    GUARD,
    LIST,
    LOCAL_WINDOW,
    NEGATED,
    OP,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    SHIFT,
    A,
    B,
    C,
    Float,
    Micro,
    X,
    Y,
)
from memsim.sources.ptx.machine.textures import QUERY, STORE_SURFACE
from memsim.sources.ptx.machine.warp_collectives import BALLOT
from memsim.sources.sass.builder import SassBuilder

GLOBAL, SHARED, LOCAL, CONSTANT = 1, 2, 4, 0  # spaces, a bit each; nothing is stored in constants and parameters
_WINDOWS = (
    (LOCAL_WINDOW, LOCAL), (SHARED_WINDOW, SHARED), (PARAMETER_WINDOW, CONSTANT), (CONSTANT_WINDOW, CONSTANT)
)  # fmt: skip
_MOST_OFFSET = 1 << 40  # offsets may be negative
_GENERIC = ("LD", "ST", "ATOM")  # instructions that may access any space
_ROWS = frozenset([*range(Micro.copy, Micro.equal), Micro.integer, Micro.convert, Micro.reduce])
_PREDICATED = frozenset([Micro.shuffle, Micro.match, Micro.elect])
_ACCESSES = frozenset(
    [
        Micro.load, Micro.store, Micro.matrix_load, Micro.matrix_store, Micro.atomic, Micro.copy_async, Micro.texture,
        Micro.surface,
    ]
)  # fmt: skip
_LOADS, _STORES = (Micro.load, Micro.matrix_load), (Micro.store, Micro.matrix_store)
_STEERING = {  # micro-ops that are always carried out, and their operands
    Micro.nop: (), Micro.branch: (), Micro.exit: (), Micro.trap: (), Micro.alias: (), Micro.commit: (),
    Micro.wait_group: (), Micro.branch_table: (A,), Micro.converge: (A,), Micro.leave: (A,), Micro.barrier: (A, B),
}  # fmt: skip


ALWAYS = 0  # the guard of what has none; others are twice the predicate's number plus one, plus one if it is negated

_Needs = dict[int, int]
"""Places that are needed, a bit each, by the guard under which they are."""


class _Unknown(Exception):
    """A micro-op whose operands the slice does not know."""


@dataclass
class _Flow:
    """What a micro-op writes and reads: sets of places, a bit each.

    Attributes:
        writes, reads: of its values.
        always: what it reads in any case.
        loads, stores: spaces.
        guard: under which it is carried out.
        changes_guard: whether it writes its guard's predicate.
        is_valued: whether its values are always needed.
        following: the micro-ops that a lane may carry out next.
    """

    writes: int = 0
    reads: int = 0
    always: int = 0
    loads: int = 0
    stores: int = 0
    guard: int = ALWAYS
    changes_guard: bool = False
    is_valued: bool = False
    following: Sequence[int] = field(default_factory=tuple)

    @property
    def opposite(self) -> int:
        """The guard under which what it writes is not met; -1 for none."""
        return -1 if self.guard == ALWAYS or self.changes_guard else self.guard ^ 1


@dataclass(frozen=True)
class Slice:
    """The micro-ops that remain.

    Attributes:
        code: i8 [n, FIELDS].
        by_data: whether addresses or branches depend on values in global memory.
        loads: micro-ops that bring such values.
        skipped: micro-ops that store to global memory without their values; only where `loads` were assumed to read
            other arrays, or where there are none.
    """

    code: np.ndarray
    by_data: bool
    loads: Sequence[int] = ()
    skipped: Sequence[int] = ()


def without_unneeded_values(builder: SassBuilder, code: np.ndarray, separate: bool = False) -> Slice:
    """The micro-ops without those that compute nothing that a trace needs; accesses stay, and move no such values.

    Args:
        separate: assume that values which addresses and branches depend on are loaded from other arrays in global
            memory than those that the kernel stores to. Not assumed of a kernel that polls global memory, which
            waits for what others store, nor of one that takes locks, which stores open.
    """
    try:
        slicing = _Slicing(builder, code.tolist())
    except _Unknown:
        return Slice(code, True)
    separate = separate and not slicing.polls()
    valued, spaces = slicing.run(~GLOBAL if separate else -1)
    if separate and slicing.takes_locks(valued):
        valued, spaces = slicing.run(-1)
    found = code.copy()
    for k, row in enumerate(found):
        if k not in valued and row[OP] in _ACCESSES:
            row[Y] &= ~VALUES
        elif k not in valued and row[OP] not in _STEERING:
            row[OP] = Micro.nop
    return Slice(found, bool(spaces & GLOBAL), *slicing.global_accesses(valued))


class _Slicing:
    """The micro-ops of a kernel with what they read and write."""

    def __init__(self, builder: SassBuilder, code: list[list[int]]) -> None:
        self._lists, self._n_rows = builder.lists, builder.n_rows
        self._nobody = 1 << SINK | 1 << self._predicate(TRUE)
        names = [one.name for one in builder.origin]
        self._generic = any(name in _GENERIC for name in names)
        self._flows = [self._flow(at, row) for at, row in enumerate(code)]
        self._atomics = {at for at, row in enumerate(code) if row[OP] == Micro.atomic}

    def polls(self) -> bool:
        """Whether the kernel waits for values in global memory."""
        return any(flow.is_valued and flow.loads & GLOBAL for flow in self._flows)

    def takes_locks(self, valued: set[int]) -> bool:
        """Whether addresses or branches depend on atomics in global memory, and stores would lack their values."""
        loads, stores = self.global_accesses(valued)
        return bool(stores) and not self._atomics.isdisjoint(loads)

    def global_accesses(self, valued: set[int]) -> tuple[list[int], list[int]]:
        """The micro-ops that bring values from global memory, and those that store to it without values."""
        loads = [k for k, flow in enumerate(self._flows) if k in valued and flow.loads & GLOBAL]
        return loads, [k for k, flow in enumerate(self._flows) if k not in valued and flow.stores & GLOBAL]

    def run(self, stored: int) -> tuple[set[int], int]:
        """The micro-ops whose values are needed, and the spaces that values are needed of.

        Args:
            stored: spaces in which values are needed of stores, too, not only of what lies there before.
        """
        spaces = -1
        found = 0
        while found != spaces:
            spaces = found
            valued = self._valued(spaces & stored)
            for k in valued:
                found |= self._flows[k].loads
        return valued, spaces

    def _valued(self, spaces: int) -> set[int]:
        """The micro-ops whose values are needed where values in these spaces are."""
        before: list[_Needs] = [{} for _ in range(len(self._flows) + 1)]
        valued = set[int]()
        changed = True
        while changed:
            changed = False
            for k in range(len(self._flows) - 1, -1, -1):
                flow = self._flows[k]
                now = _union([before[following] for following in flow.following])
                behind = 0
                for guard, places in now.items():
                    behind |= 0 if guard == flow.opposite else places
                is_valued = flow.is_valued or bool(flow.writes & behind or flow.stores & spaces)
                if is_valued:
                    valued.add(k)
                self._pass(flow, now, flow.always | (flow.reads if is_valued else 0))
                if now != before[k]:
                    before[k], changed = now, True
        return valued

    def _pass(self, flow: _Flow, now: _Needs, reads: int) -> None:
        """From the needs behind a micro-op to those before it: what it writes is not needed, what it reads is."""
        for guard in list(now):
            if flow.guard == ALWAYS or guard == flow.guard and not flow.changes_guard:
                now[guard] &= ~flow.writes
            if guard != ALWAYS and flow.writes >> self._predicate(guard // 2 - 1) & 1:
                now[ALWAYS] = now.get(ALWAYS, 0) | now.pop(guard)  # the guard is another one before
        now[flow.guard] = now.get(flow.guard, 0) | reads
        if flow.guard != ALWAYS:
            now[ALWAYS] = now.get(ALWAYS, 0) | (self._guard(flow.guard) if reads else 0)

    def _flow(self, at: int, row: list[int]) -> _Flow:
        flow, op = _Flow(), row[OP]
        if op in _ACCESSES:
            self._access(flow, row)
        elif op in _STEERING:
            flow.always = self._rows(row[k] for k in _STEERING[Micro(op)])
            if op == Micro.barrier:
                flow.always |= 1 << self._predicate(row[C])
        else:
            self._value(flow, row)
        if row[GUARD] >= 0:
            flow.guard = 2 * (row[GUARD] + 1) + row[NEGATED]
            flow.always |= self._guard(flow.guard) if op in _ACCESSES or op in _STEERING else 0
        for name in ("writes", "reads", "always"):
            setattr(flow, name, getattr(flow, name) & ~self._nobody)
        flow.changes_guard = flow.guard != ALWAYS and bool(flow.writes & self._guard(flow.guard))
        flow.following = tuple(self._following(at, row))
        return flow

    def _value(self, flow: _Flow, row: list[int]) -> None:
        """A micro-op that does nothing but to compute."""
        op, operands = row[OP], self._rows((row[A], row[B], row[C]))
        if op in _ROWS or op in (Micro.active, Micro.clock):
            flow.writes, flow.reads = 1 << row[DST], operands if op in _ROWS else 0
            if op == Micro.select:
                flow.reads |= 1 << self._predicate(row[X])
        elif Micro.equal <= op <= Micro.less_equal_signed:
            flow.writes = self._predicates(row[DST], row[COUNT])
            flow.reads = self._rows((row[A], row[B])) | self._predicates(row[C])
        elif op == Micro.predicate:
            flow.writes, flow.reads = self._predicates(row[DST]), self._predicates(row[A], row[B], row[C])
        elif op == Micro.floating:
            flow.reads = operands | self._predicates(row[C])
            tests = row[Y] in (Float.compare, Float.test)
            flow.writes = self._predicates(row[DST], (row[COUNT] >> 8) - 1) if tests else 1 << row[DST]
        elif op in _PREDICATED:
            flow.writes, flow.reads = 1 << row[DST] | self._predicates(row[COUNT]), operands
        elif op == Micro.vote:
            flow.writes = 1 << row[DST] if row[X] == BALLOT else self._predicates(row[DST])
            flow.reads = self._predicates(row[A]) | 1 << row[B]
        elif op == Micro.mma:
            results, counts = row[COUNT] & 255, (row[COUNT] >> 8 & 255) + (row[COUNT] >> 16 & 255) + (row[COUNT] >> 24)
            first = row[LIST] + results
            flow.writes = self._rows(self._lists[row[LIST] : first])
            flow.reads = self._rows(self._lists[first : first + counts])
        elif op == Micro.wgmma:  # sums in registers, one factor there or both in shared memory
            sums, factors = row[COUNT] & 255, row[COUNT] >> 8 & 255
            flow.writes = self._rows(self._lists[row[LIST] : row[LIST] + sums])
            flow.reads = flow.writes | self._rows(self._lists[row[LIST] + sums : row[LIST] + sums + factors])
            flow.reads |= self._rows((row[A], row[B])) | self._predicates(row[SHIFT])
            flow.loads = SHARED
        else:
            raise _Unknown

    def _access(self, flow: _Flow, row: list[int]) -> None:
        """An access, which is always made; only the values that it moves may not be needed."""
        op = row[OP]
        flow.always = 1 << row[A]
        if op in (Micro.texture, Micro.surface):
            return self._texture(flow, row)
        space = self._space(row[X])
        listed = self._rows(self._lists[row[LIST] : row[LIST] + row[COUNT]])
        if op in _LOADS:
            flow.writes, flow.loads = listed, space
            flow.is_valued = bool(op == Micro.load and row[Y] & (POLLS | TESTS))
        elif op in _STORES:
            flow.reads, flow.stores = listed, space
        elif op == Micro.atomic:
            flow.writes, flow.reads = 1 << row[DST], self._rows((row[B], row[C]))
            flow.loads = flow.stores = space
        else:
            flow.always |= self._rows((row[B], row[C]))
            flow.loads, flow.stores = self._space(row[X]), self._space(row[LIST])

    def _texture(self, flow: _Flow, row: list[int]) -> None:
        """A fetch, a surface's access or a query: where it goes stands before its values."""
        if row[DST] == QUERY:
            flow.writes = self._rows(self._lists[row[LIST] : row[LIST] + 1])
            flow.reads = 1 << row[C]
            return
        values = row[LIST] + row[X]
        flow.always |= 1 << row[C] | self._rows(self._lists[row[LIST] : values])
        listed = self._rows(self._lists[values : values + row[COUNT]])
        if row[DST] == STORE_SURFACE:
            flow.reads, flow.stores = listed, GLOBAL
        else:
            flow.writes, flow.loads = listed, GLOBAL

    def _space(self, added: int) -> int:
        """The space that an access goes to, by the window that is added to its address."""
        for window, space in _WINDOWS:
            if added > window - _MOST_OFFSET:
                return space
        return GLOBAL | SHARED | LOCAL if self._generic else GLOBAL

    def _following(self, at: int, row: list[int]) -> Iterator[int]:
        """The micro-ops that a lane may carry out next."""
        if row[OP] == Micro.branch_table:
            yield from self._lists[row[LIST] : row[LIST] + row[COUNT]]
        elif row[OP] == Micro.branch:
            yield row[X]
        if row[GUARD] >= 0 or row[OP] not in (Micro.branch, Micro.branch_table, Micro.exit):
            yield at + 1

    def _guard(self, guard: int) -> int:
        """The predicate of a guard."""
        return 1 << self._predicate(guard // 2 - 1) & ~self._nobody

    def _predicate(self, number: int) -> int:
        return self._n_rows + number

    def _predicates(self, *numbers: int) -> int:
        return sum({1 << self._predicate(number) for number in numbers if number >= 0})

    def _rows(self, rows: Iterator[int] | Sequence[int]) -> int:
        return sum({1 << row for row in rows})


def _union(several: Sequence[_Needs]) -> _Needs:
    if not several:
        return {}
    found = dict(several[0])
    for one in several[1:]:
        for guard, places in one.items():
            found[guard] = found.get(guard, 0) | places
    return found
