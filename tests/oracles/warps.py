"""What an SM of the oracle keeps of the trace: blocks, warps, instructions and transactions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from oracles.cache import Way

from memsim.trace.schema import Kind, LoadClass


@dataclass(eq=False)
class Block:
    live: int
    slot: int
    arrival: int = 0  # when the last one at its barrier was taken
    warps: list[Warp] = field(default_factory=list)


@dataclass(eq=False)
class Warp:
    slot: int
    age: int
    pc: int
    end: int
    block: Block
    weight: int
    gap_issued: bool = False
    in_sequence: bool = False  # some of the sequence is issued, some not
    at_barrier: bool = False
    released: bool = False  # from a barrier, and has not acted since
    phase: int = 0  # of an mbarrier, that it waits for
    whole_end: int = 0  # while its lanes are apart: its own end, where its first side's is `end`
    join: int = 0  # where it goes on then
    sides: int = 0  # that have not ended
    host: Warp | None = None  # of a second side: the warp that it is part of
    stalled: int | None = None  # since when it waits for loads
    loads: dict[LoadClass, list[Load]] = field(default_factory=lambda: {each: [] for each in LoadClass})
    scoreboards: dict[int, list[Load]] = field(
        default_factory=lambda: defaultdict(list)
    )  # machine code: what sets each
    next_issue: int = 0  # machine code: before it issues nothing, by the stall count of its last access


@dataclass(eq=False)
class Load:
    done: int | None = None  # when it answered, or will for sure
    phase: int = 0  # of an mbarrier, at which it arrives then
    passed: bool = False  # an instruction has waited for it


@dataclass(eq=False)
class Flight:
    """A warp instruction at or past the load-store unit."""

    warp: Warp
    op: int
    kind: Kind
    start: int
    stop: int
    next: int
    done: int
    bypass: bool  # a load that L1 does not serve
    waits: int = 0
    issued: bool = False
    load: Load | None = None


@dataclass(eq=False)
class Transaction:
    flight: Flight
    time: int
    need: set[int]
    way: Way | None = None
