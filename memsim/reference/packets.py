"""The messages that travel between the levels, and what is counted on their way.

A mask names sectors of 32 bytes: bit s is sector s of a line.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import simpy

if TYPE_CHECKING:
    from memsim.reference.cache import Way

DramLocation = tuple[int, int, int]  # DRAM channel, bank, row


class Request(StrEnum):
    """What a packet requests from L2."""

    load = "load"  # data for a line of L1
    bypass = "bypass"  # data that L1 does not keep
    atomic = "atomic"  # an atomic operation whose old value returns
    store = "store"
    reduction = "reduction"  # an atomic operation without an answer
    prefetch = "prefetch"  # from the prefetcher: data that nobody waits for
    invalidate = "invalidate"  # from L2 to an L1: drop the line (inclusive L2)


READS = (Request.load, Request.bypass)
WITH_DATA = (*READS, Request.atomic)  # whose replies carry sectors


@dataclass(eq=False)
class Packet:
    """A request of an SM for sectors of one L1 line, and its reply."""

    request: Request
    line: int  # number of the L1 line
    mask: int
    sm: int  # who sent it; the number behind the last SM is the page walkers'
    op: int  # static memory operation that caused it
    time: int  # cycle in which it was sent; then, in which it entered its L2 slice
    filled: simpy.Event | None = None  # the reply is there: the MSHR that transactions share; None for stores
    partial: int = 0  # sectors of which a store writes some bytes only
    words: int = 0  # that a store writes of these: bit 8 * s + w is word w of sector s
    awaits: set[Fetch] = field(default_factory=set)  # fetches from memory whose data the reply needs
    followers: list[Packet] = field(default_factory=list)  # that wait for the copy it brings, the last served first

    @property
    def access(self) -> str:
        """The kind of access that it is counted as."""
        return "read" if self.request in READS else "write" if self.request is Request.store else "atomic"


@dataclass(eq=False)
class Fetch:
    """A request to memory for sectors of one L1 line: a read, which is the MSHR of an L2 slice, or a write."""

    time: int
    line: int
    mask: int
    op: int
    location: DramLocation
    slice: int
    write: bool = False
    completes: bool = False  # a read of sectors that stores covered in part; it belongs to the write after it
    ways: list[Way] = field(default_factory=list)  # that a read fills
    targets: list[Packet] = field(default_factory=list)  # packets that wait for it, the last served first


Receiver = Callable[[Fetch, int], None]  # takes an answered request and the SM cycle of the answer


class Statistics:
    """Counters and latencies of one replay, in the names of the result files."""

    def __init__(self) -> None:
        # (op, level, event, unit), as in (3, "l1", "read_hit", "sectors"); the other unit is "transactions".
        self.counts: Counter[tuple[int, str, str, str]] = Counter()
        # Cycles of each load transaction of an op, from lookup to data, and of each of its instructions as a whole.
        self.latencies: dict[int, list[int]] = defaultdict(list)
        self.instruction_latencies: dict[int, list[int]] = defaultdict(list)
        self.components: Counter[tuple[str, str]] = Counter()  # (section, counter) of memsim.gpu.components
        self.transactions = 0
        self.dram_requests: list[tuple[int, int]] = []  # (line, sector mask), in order

    def count(self, op: int, level: str, kind: str, event: str, sectors: dict[str, int]) -> None:
        """Count an access of a kind: the transaction under its worst sector's event, each sector under its own."""
        self.counts[op, level, f"{kind}_{event}", "transactions"] += 1
        for name, number in sectors.items():
            self.counts[op, level, f"{kind}_{name}", "sectors"] += number
