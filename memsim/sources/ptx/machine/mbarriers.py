"""mbarrier objects in shared memory (PTX ISA 9.0, section 9.7.13.15): arrivals, bytes that are expected, phases.

An object is 8 bytes that only its own instructions understand; ours: pending arrivals in bits 0 to 19, all arrivals
of a phase in 20 to 39, bytes still to come in 40 to 61 (signed), the phase in bit 62.

Machine code before sm_90 initializes, tests and changes objects by ordinary instructions, which show their two words:
the lower is 2^30 less the arrivals of a phase, the upper holds the phase in its highest bit and below it 2^31 less
the pending arrivals.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, inlined, loop
from memsim.sources.ptx.machine.access import DONE, OUTSIDE, YIELDED, host_of, read, write
from memsim.sources.ptx.machine.codes import COUNT, DST, LANES, LIST, MIX, SPINS, STATUS, A, B, X, Y
from memsim.sources.ptx.machine.log import find
from memsim.sources.ptx.machine.phases import (
    BEFORE,
    NOW,
    end_phase,
    forget,
    log_arrival,
    log_arrival_of_copies,
    log_wait,
    object_at,
    own,
)
from memsim.sources.ptx.machine.tables import BASE_WARP, TRACING

(INIT, INVALIDATE, ARRIVE, EXPECT, COMPLETE, TEST, TEST_PARITY, ARRIVE_EXPECT, PENDING, DROP, ARRIVE_COPIES,
 ARRIVE_AT_WORDS, ARRIVE_COPIES_AT_WORDS, TESTED) = range(14)  # fmt: skip
COUNT_BITS, FIELD = 20, (1 << 20) - 1
BYTES_AT, PHASE_AT = 40, 62
BYTES_BITS = PHASE_AT - BYTES_AT
WORD = 0xFFFFFFFF


@loop
def mbarrier(m, w, pc, active):
    """One operation of every active lane: A and X the object, B a count, bytes, a state or a parity, Y which.

    COUNT is the predicate of a test. A test that fails gives other warps their turn; so does TESTED, behind a test that
    machine code made by itself.
    """
    record, r, row, warp = m.records[w], m.registers[w], m.code[pc], m.status[BASE_WARP] + w
    predicates = m.predicates[w]
    what, true, n_logged = row[Y], np.int64(0), np.int64(0)
    if what == TESTED:
        _follow_test(m, record, w, warp, r, row, predicates[row[COUNT]] & active, active)
        return DONE
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
            continue
        index = own(m, record, object_at(m, host))
        arrives = not (what == INIT or what == INVALIDATE or what == EXPECT or what == PENDING)
        if arrives and _is_new(m, index, n_logged):
            n_logged += 1
            if what == ARRIVE_COPIES or what == ARRIVE_COPIES_AT_WORDS:
                log_arrival_of_copies(m, record, warp, index, active)
            else:
                log_arrival(m, record, warp, index, active)
        _change(m, host, what, old, value, row[LIST])
        if row[DST] > 0:
            r[row[DST], lane] = old & FIELD if what == PENDING else old
    if what == TEST or what == TEST_PARITY:
        predicates[row[COUNT]] = (predicates[row[COUNT]] & ~active) | true
        if m.grid[TRACING]:
            _log_waits(m, record, w, warp, r, row, true)
        if true != active:
            record[STATUS] = YIELDED
    return DONE


@called
def _follow_test(m, record, w, warp, r, row, true, active):
    """Machine code has tested a phase; between tests in vain nothing is charged."""
    if true != active:
        record[STATUS] = YIELDED
    if m.grid[TRACING] == 0:
        return
    if true != 0:
        record[SPINS] = 0
        _log_waits(m, record, w, warp, r, row, true)
    elif _is_object(m, w, r[row[A]], row[X], active):
        record[MIX], record[SPINS] = 0, 1


@called
def _is_object(m, w, addresses, added, active):
    """Whether something has arrived at an object where the lowest active lane looks."""
    for lane in range(LANES):
        if (active >> lane) & 1:
            address = addresses[lane] + added
            region = find(m, address)
            if address + 8 > m.stops[region]:
                return False
            index = object_at(m, host_of(m, w, region, lane, address))
            return index >= 0 and (m.phases[index, NOW] | m.phases[index, BEFORE]) != 0
    return False


@called
def _is_new(m, index, n_logged):
    """Whether an object is the block's own and none of the `n_logged` in `m.some`; it is put behind them then."""
    if index < 0:
        return False
    for k in range(n_logged):
        if m.some[k] == index:
            return False
    m.some[n_logged] = index
    return True


@called
def _log_waits(m, record, w, warp, r, row, true):
    """Log what the lanes whose test came true have waited for, an object once."""
    n_logged = np.int64(0)
    for lane in range(LANES):
        if (true >> lane) & 1:
            address = r[row[A], lane] + row[X]
            index = own(m, record, object_at(m, host_of(m, w, find(m, address), lane, address)))
            if _is_new(m, index, n_logged):
                n_logged += 1
                log_wait(m, record, warp, index, true)


@called
def _change(m, host, what, old, value, arrivals):
    """Have an operation change the object at `host`."""
    new = _changed(what, old, value, arrivals)
    write(m, host, np.int64(8), new)
    if what == INIT or what == INVALIDATE:
        forget(m, object_at(m, host))
    elif (old ^ new) >> _phase_at(what) & 1:
        end_phase(m, object_at(m, host))


@inlined
def _phase_at(what):
    return np.int64(63) if what == ARRIVE_AT_WORDS or what == ARRIVE_COPIES_AT_WORDS else np.int64(PHASE_AT)


@called
def _changed(what, old, value, arrivals):
    """The object after an operation."""
    if what == INIT:
        return (value & FIELD) | (value & FIELD) << COUNT_BITS
    if what == INVALIDATE:
        return np.int64(0)
    if what == PENDING:
        return old
    if what == ARRIVE_AT_WORDS or what == ARRIVE_COPIES_AT_WORDS:
        return _arrived_at_words(old, value)
    if what == DROP:
        return _settled(old - (value << COUNT_BITS), -value, np.int64(0))
    if what == ARRIVE or what == ARRIVE_COPIES:
        return _settled(old, -value, np.int64(0))
    if what == ARRIVE_EXPECT:
        return _settled(old, -arrivals, value)
    return _settled(old, np.int64(0), value if what == EXPECT else -value)


@inlined
def _arrived_at_words(old, arrivals):
    """An object of two words with arrivals; the last one of a phase begins the next."""
    low, high = old & WORD, (old >> 32) & WORD
    new = (high + arrivals) & WORD
    if (new ^ high) >> 31:
        every = ((np.int64(1) << 30) - low) & ((np.int64(1) << 30) - 1)
        new = (new & (np.int64(1) << 31)) | ((new - every) & ((np.int64(1) << 31) - 1))
    return low | new << 32


@called
def _settled(old, arrivals, size):
    """An object with arrivals and bytes added; a phase ends when none of both is missing."""
    pending, every = (old & FIELD) + arrivals, (old >> COUNT_BITS) & FIELD
    missing = ((old << (64 - PHASE_AT)) >> (64 - BYTES_BITS)) + size
    phase = (old >> PHASE_AT) & 1
    if pending <= 0 and missing == 0:
        pending, phase = every, phase ^ 1
    return (pending & FIELD) | every << COUNT_BITS | (missing & ((1 << BYTES_BITS) - 1)) << BYTES_AT | phase << PHASE_AT


@called
def complete_bytes(m, w, address, size):
    """Bytes have come that an object waits for."""
    region = find(m, address)
    if address + 8 > m.stops[region]:
        return
    host = host_of(m, w, region, np.int64(0), address)
    _change(m, host, COMPLETE, read(m, host, np.int64(8)), size, np.int64(0))


@called
def mbarrier_of(m, record, w, address):
    """The row of `phases` of the object that a copy is to complete, -1 where a trace cannot wait for it."""
    region = find(m, address)
    if address + 8 > m.stops[region]:
        return np.int64(-1)
    return own(m, record, object_at(m, host_of(m, w, region, np.int64(0), address)))
