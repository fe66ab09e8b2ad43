"""The state of an SM's thread blocks, warps and memory instructions."""

from __future__ import annotations

from dataclasses import dataclass, field

import simpy

from memsim.trace.schema import SCOREBOARDS, Kind, LoadClass


@dataclass(eq=False)
class Block:
    """A thread block, or the part of one, that runs in a block slot.

    Attributes:
        live: warps that have not ended.
        waiting: warps that wait at the barrier.
        barrier: succeeds when the barrier opens, with the cycle in which the warps go on.
        arrival: cycle in which the SM took the last arrival at the barrier.
    """

    slot: int
    live: int
    barrier: simpy.Event
    waiting: int = 0
    arrival: int = 0


@dataclass(eq=False)
class Warp:
    """A warp, or one of its two divergent paths.

    Attributes:
        slot: warp slot of the SM; second paths have slots behind all warps.
        age: blocks launch in order, so a lower number is older.
        pc, end: the next instruction of the trace, and the end of its path.
        weight: turns in a row that weighted round-robin gives it.
        in_sequence: some memory instructions of its sequence have issued, and some have not (bulk scheduling).
        diverged: whether it runs two divergent paths.
        host: of a second path, the warp that it belongs to.
        issued: succeeds when its memory instruction has issued, with the cycle from which the warp goes on.
        loads: loads, by class, that no instruction has waited for yet.
        scoreboards: of machine code, by number what has set each scoreboard.
        next_issue: of machine code, the cycle before which a stall count keeps it from issuing.
    """

    slot: int
    age: int
    pc: int
    end: int
    block: Block
    weight: int
    in_sequence: bool = False
    diverged: bool = False
    host: Warp | None = None
    issued: simpy.Event | None = None
    loads: dict[LoadClass, list[Load]] = field(default_factory=lambda: {each: [] for each in LoadClass})
    scoreboards: dict[int, list[Load]] = field(default_factory=lambda: {k: [] for k in range(SCOREBOARDS)})
    next_issue: int = 0


@dataclass(eq=False)
class Load:
    """A load as the scoreboard sees it.

    Attributes:
        answered: succeeds when it is certain when all data are in registers, with that cycle.
        phase: of an mbarrier, at which the load arrives then; 0 for none.
    """

    answered: simpy.Event
    phase: int = 0


@dataclass(eq=False)
class Access:
    """A warp's memory instruction in the load-store unit, or past it and waiting for data.

    Attributes:
        start: cycle of its first lookup.
        first, stop: its transactions in the trace.
        done: cycle in which the last of its data arrive, as far as that is certain.
        bypasses_l1: a load that L1 does not serve.
        outstanding: transactions that wait for data.
        issued: whether all transactions have been looked up.
        load: its entry in the scoreboard, if it is a load.
    """

    warp: Warp
    op: int
    kind: Kind
    start: int
    first: int
    stop: int
    done: int
    bypasses_l1: bool
    outstanding: int = 0
    issued: bool = False
    load: Load | None = None
