"""The integers that the compiled loops stand names for: kinds of requests, events, masks, and a time that never comes.

The loops compare plain integers; an event's number is that of :class:`~memsim.hierarchy.counters.Event`, counted from
the first event of its kind of access.
"""

from __future__ import annotations

from memsim.hierarchy.counters import Event
from memsim.jit.compiled import inlined

NEVER = 1 << 62
ALL = 0xFF  # every sector of a line

READS, WRITES, ATOMICS = int(Event.read_hit), int(Event.write_hit), int(Event.atomic_hit)  # first event of each access
HIT, MISS, SECTOR_MISS, MERGE = (
    int(event) - READS for event in (Event.read_hit, Event.read_miss, Event.read_sector_miss, Event.read_merge)
)

# Kinds of requests, in the order that the questions below use. LOAD fills an L1 line; BYPASS is a load that L1 does not
# serve; FETCH and WRITE_BACK go from L2 to DRAM, and so does FILL, which reads sectors that are written in part.
# PREFETCH comes from the prefetcher of L2.
LOAD, BYPASS, ATOMIC, STORE, REDUCTION, INVALIDATE, FETCH, FILL, WRITE_BACK, PREFETCH = range(10)


@inlined
def reads(kind):
    """Whether a request of an SM only reads: a load, by way of L1 or bypassing it."""
    return kind <= BYPASS


@inlined
def returns_data(kind):
    """Whether the answer to a request of an SM carries data."""
    return kind <= ATOMIC


@inlined
def first_event(kind):
    """The first event of the access that a request of an SM carries out: read, write or atomic."""
    return READS if kind <= BYPASS else (WRITES if kind == STORE else ATOMICS)
