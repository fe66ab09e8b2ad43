"""The messages that travel between the levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import simpy

if TYPE_CHECKING:
    from memsim.reference.cache_set import Way

DramLocation = tuple[int, int, int]  # DRAM channel, bank, row


class Request(StrEnum):
    """What a packet asks of L2."""

    load = "load"  # data for a line of L1
    bypass = "bypass"  # data that L1 does not keep
    atomic = "atomic"  # an atomic operation whose old value returns
    store = "store"
    reduction = "reduction"  # an atomic operation without an answer
    prefetch = "prefetch"  # from the prefetcher: data that nobody waits for
    invalidate = "invalidate"  # from L2 to an L1: drop the line (inclusive L2)


READS = (Request.load, Request.bypass)
WITH_DATA = (*READS, Request.atomic)  # whose replies carry sectors


def sectors(mask: int) -> set[int]:
    """The sectors (of 32 bytes) of a line that a mask names."""
    return {s for s in range(8) if mask >> s & 1}


def mask_of(numbers: set[int]) -> int:
    """The mask that names some sectors."""
    return sum(1 << s for s in numbers)


@dataclass(eq=False)
class Packet:
    """A request of an SM for sectors of one L1 line, and its reply."""

    request: Request
    line: int  # number of the L1 line
    mask: int  # its sectors
    sm: int  # who sent it; the number behind the last SM is the page walkers'
    op: int  # static memory operation that caused it
    time: int  # cycle in which it was sent; then, in which it entered its L2 slice
    filled: simpy.Event | None = None  # the reply is there: the MSHR that transactions share; None for stores
    partial: int = 0  # sectors of which a store writes some bytes only
    words: int = 0  # that a store writes of these: bit 8 * s + w is word w of sector s
    l2_sets: list[int] = field(default_factory=list)  # set within its slice of each L2 line of the L1 line
    location: DramLocation = (0, 0, 0)  # of the line in DRAM
    awaits: set[Fetch] = field(default_factory=set)  # fetches from DRAM whose data the reply needs

    @property
    def access(self) -> str:
        """The kind of access that it is counted as."""
        if self.request in READS:
            return "read"
        return "write" if self.request is Request.store else "atomic"


@dataclass(eq=False)
class Fetch:
    """A request of an L2 slice to memory: a read of sectors, which is the slice's MSHR, or a write.

    A read that completes sectors belongs to the write after it.
    """

    time: int
    line: int
    mask: int
    op: int
    location: DramLocation
    slice: int
    write: bool = False
    completes: bool = False  # a read of sectors of which stores covered parts
    fills: list[tuple[Way, int]] = field(default_factory=list)  # (way, sector) that a read brings
    targets: list[Packet] = field(default_factory=list)  # packets that wait for it, the last served first


Receiver = Callable[[Fetch, int], None]  # takes an answered request and the SM cycle of the answer


@dataclass(eq=False)
class DropCopy:
    """From the home slice of a line to the slice of the other partition: the copy there is out of date."""

    line: int
    l2_sets: list[int]
