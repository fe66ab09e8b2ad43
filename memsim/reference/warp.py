"""The state of an SM's thread blocks, warps and memory instructions, and the trace's mbarriers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import simpy

from memsim.reference.clock import Clock, Signal
from memsim.trace.schema import LoadClass, OpKind
from memsim.trace.transactions import Transactions


@dataclass(eq=False)
class Block:
    """A thread block, or the part of one, that runs in a block slot."""

    slot: int
    live: int  # warps that have not ended
    barrier: Signal  # the barrier opens; its value is the cycle in which the warps go on
    waiting: int = 0  # warps at the barrier
    arrival: int = 0  # cycle in which the SM took the last arrival at the barrier


@dataclass(eq=False)
class Warp:
    """A warp, or one of its two divergent paths."""

    slot: int  # warp slot of the SM; second paths have slots behind all warps
    age: int  # blocks launch in order, so a lower number is older
    pc: int  # next instruction of the trace
    end: int  # of its path
    block: Block
    weight: int  # turns in a row that weighted round-robin gives it
    in_sequence: bool = False  # some memory instructions of its sequence have issued, and some have not
    diverged: bool = False  # it runs two divergent paths
    host: Warp | None = None  # of a second path: the warp that it belongs to
    # Succeeds when its memory instruction has issued, with the cycle in which it continues.
    issued: simpy.Event | None = None
    # Loads that no instruction has waited for yet.
    loads: dict[LoadClass, list[OutstandingLoad]] = field(default_factory=lambda: {each: [] for each in LoadClass})
    # Of machine code: what sets each scoreboard, and the cycle from which the next instruction may issue.
    scoreboards: dict[int, list[OutstandingLoad]] = field(default_factory=lambda: defaultdict(list))
    next_issue: int = 0
    groups: list[int] = field(default_factory=list)  # when each group of products of its warp group is done


@dataclass(eq=False)
class OutstandingLoad:
    """A load, or another instruction of variable latency, as the scoreboard sees it."""

    answered: simpy.Event  # succeeds when it is certain when all data are in registers, with that cycle
    phase: int = 0  # of an mbarrier, at which the load arrives then; 0 for none


@dataclass(eq=False)
class OutstandingAccess:
    """A warp's memory instruction in the load-store unit, or past it and waiting for data."""

    warp: Warp
    op: int
    kind: OpKind
    start: int  # cycle of its first lookup
    first: int  # of its transactions in the trace
    stop: int
    done: int  # cycle in which the last of its data arrive, as far as that is certain
    bypasses_l1: bool
    outstanding: int = 0  # transactions that wait for data
    issued: bool = False  # all transactions have been looked up
    load: OutstandingLoad | None = None  # its entry in the scoreboard


class Mbarriers:
    """mbarriers in shared memory (PTX ISA, mbarrier): a phase completes when all its arrivals have come.

    The trace says which phase each arrival and each wait belongs to, so no parities or byte counts are replayed.

    Attributes:
        complete: by phase; succeeds when it is certain when the last arrival comes, with that cycle.
    """

    def __init__(self, clock: Clock, trace: Transactions) -> None:
        self.trace = trace
        self.left = trace.arrivals.tolist()
        self.last = [0] * len(self.left)
        self.complete = [clock.event() if left else clock.event().succeed(0) for left in self.left]

    def phase_of(self, instruction: int) -> int:
        """The phase at which an instruction arrives or for which it waits; 0 for none."""
        return int(self.trace.phase[instruction]) if len(self.trace.phase) else 0

    def arrive(self, phase: int, time: int) -> None:
        """Arrive at a phase at `time`, which is now or later."""
        self.left[phase] -= 1
        self.last[phase] = max(self.last[phase], time)
        if not self.left[phase]:
            self.complete[phase].succeed(self.last[phase])
