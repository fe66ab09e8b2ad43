"""mbarrier objects in shared memory (PTX ISA 9.0, section 9.7.13.15): arrivals, bytes that are expected, phases.

An object is 8 bytes that only its own instructions understand; ours: pending arrivals in bits 0 to 19, all arrivals
of a phase in 20 to 39, bytes still to come in 40 to 61 (signed), the phase in bit 62.
"""

from __future__ import annotations

import numpy as np

from memsim.sources.ptx.machine.access import DONE, OUTSIDE, YIELDED, host_of, read, write
from memsim.sources.ptx.machine.codes import (
    COUNT,
    DST,
    LANES,
    LIST,
    MOST_GROUPS,
    STATUS,
    A,
    B,
    X,
    Y,
)
from memsim.sources.ptx.machine.log import find, wait_for
from memsim.sources.ptx.machine.tables import TRACING
from memsim.sources.waits import COPIES, LOADS
from memsim.support.compiled import inlined

INIT, INVALIDATE, ARRIVE, EXPECT, COMPLETE, TEST, TEST_PARITY, ARRIVE_EXPECT, PENDING, DROP = range(10)
COUNT_BITS, FIELD = 20, (1 << 20) - 1
BYTES_AT, PHASE_AT = 40, 62
BYTES_BITS = PHASE_AT - BYTES_AT


@inlined
def mbarrier(m, record, w, warp, pc, r, row, predicates, active):
    """One operation of every active lane: A and X the object, B a count, bytes, a state or a parity, Y which.

    COUNT is the predicate of a test. A test that fails gives other warps their turn.
    """
    what, true = row[Y], np.int64(0)
    for lane in range(LANES):
        if not (active >> lane) & 1:
            continue
        address = r[row[A], lane] + row[X]
        region = find(m, address)
        if address + 8 > m.stops[region]:
            return OUTSIDE
        host = host_of(m, w, region, lane, address)
        value = r[row[B], lane]
        old = read(m, host, np.int64(8))
        if what == TEST or what == TEST_PARITY:
            phase = (value >> PHASE_AT) & 1 if what == TEST else value & 1
            true |= np.int64(((old >> PHASE_AT) & 1) != phase) << lane
            if (true >> lane) & 1 and m.grid[TRACING]:
                _wait(m, record, w, warp, host, active)
        else:
            write(m, host, np.int64(8), _changed(what, old, value, row[LIST]))
            if row[DST] > 0:
                r[row[DST], lane] = old & FIELD if what == PENDING else old
    if what == TEST or what == TEST_PARITY:
        predicates[row[COUNT]] = (predicates[row[COUNT]] & ~active) | true
        if true != active:
            record[STATUS] = YIELDED
    return DONE


@inlined
def _changed(what, old, value, arrivals):
    """The object after an operation."""
    if what == INIT:
        return (value & FIELD) | (value & FIELD) << COUNT_BITS
    if what == INVALIDATE:
        return np.int64(0)
    if what == PENDING:
        return old
    if what == DROP:
        old -= np.int64(1) << COUNT_BITS
        return _settled(old, np.int64(-1), np.int64(0))
    if what == ARRIVE:
        return _settled(old, -value, np.int64(0))
    if what == ARRIVE_EXPECT:
        return _settled(old, -arrivals, value)
    return _settled(old, np.int64(0), value if what == EXPECT else -value)


@inlined
def _settled(old, arrivals, size):
    """An object with arrivals and bytes added; a phase ends when none of both is missing."""
    pending, every = (old & FIELD) + arrivals, (old >> COUNT_BITS) & FIELD
    missing = ((old << (64 - PHASE_AT)) >> (64 - BYTES_BITS)) + size
    phase = (old >> PHASE_AT) & 1
    if pending <= 0 and missing == 0:
        pending, phase = every, phase ^ 1
    return (pending & FIELD) | every << COUNT_BITS | (missing & ((1 << BYTES_BITS) - 1)) << BYTES_AT | phase << PHASE_AT


@inlined
def complete_bytes(m, w, warp, address, size):
    """Bytes have come that an object waits for; remember which of the warp's copies brought them."""
    region = find(m, address)
    if address + 8 > m.stops[region]:
        return
    host = host_of(m, w, region, np.int64(0), address)
    write(m, host, np.int64(8), _settled(read(m, host, np.int64(8)), np.int64(0), -size))
    slot = (host >> 3) % (MOST_GROUPS // 2)
    m.committed[w, 2 * slot] = host
    m.committed[w, 2 * slot + 1] = m.state[warp, LOADS + COPIES]


@inlined
def _wait(m, record, w, warp, host, active):
    """A warp that passes a barrier waits for those of its own copies that the barrier stood for."""
    slot = (host >> 3) % (MOST_GROUPS // 2)
    if m.committed[w, 2 * slot] == host:
        wait_for(m, record, warp, np.int64(COPIES), m.committed[w, 2 * slot + 1], active)
