"""Which phases of mbarriers a trace tells of: who arrives at them, and who waits for them.

A phase gets its number, of all in the trace, when the first of its arrivals is logged. What lies in another block of a
cluster is followed for its values, but a trace's warps wait within their block only.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, inlined
from memsim.sources.ptx.machine.codes import AWAITED, BLOCK, FIRST_COPY, OP
from memsim.sources.ptx.machine.log import COPY_ASYNC, log_no_access
from memsim.sources.ptx.machine.tables import SHARED_BYTES, SHARED_HOST, TRACING
from memsim.sources.rows import START
from memsim.sources.waits import COPIES, LOADS, need
from memsim.trace.schema import NO_OP, Flag

ARRIVES, AWAITS = int(Flag.arrives), int(Flag.awaits)
NOW, BEFORE = 0, 1  # columns of `phases`: of the phase that is not over, of the one before; 0 where none arrived


@inlined
def object_at(m, host):
    """The row of `phases` of an object; -1 where no trace is made, and outside shared memory."""
    place = (host - m.grid[SHARED_HOST]) >> 3
    return place if m.grid[TRACING] and 0 <= place < len(m.phases) else np.int64(-1)


@inlined
def own(m, record, place):
    """The row of an object if it is the warp's block's own, else -1."""
    return place if place >= 0 and (place << 3) // m.grid[SHARED_BYTES] == record[BLOCK] else np.int64(-1)


@inlined
def forget(m, place):
    """An object begins anew."""
    if place >= 0:
        m.phases[place, NOW] = m.phases[place, BEFORE] = 0


@inlined
def turn(m, place):
    """A phase is over."""
    if place >= 0:
        m.phases[place, BEFORE], m.phases[place, NOW] = m.phases[place, NOW], 0


@called
def _number(m, place):
    """The number of an object's phase, at which something arrives."""
    if m.phases[place, NOW] == 0:
        m.n_phases[0] += 1
        m.phases[place, NOW] = m.n_phases[0]
    return m.phases[place, NOW]


@called
def let_copies_arrive(m, place, first):
    """Have the rows from `first` on, copies of one instruction, arrive at an object's phase once they have answered."""
    if place < 0 or first == m.cursor[0]:
        return
    number = _number(m, place)
    for k in range(first, m.cursor[0]):
        _let_arrive(m, k, number)


@called
def _let_arrive(m, k, number):
    m.rows[k]["flags"] |= ARRIVES
    m.rows[k]["phase"] = number


@called
def log_arrival(m, record, warp, place, active):
    """Log that a warp arrives at an object's phase itself."""
    log_no_access(m.rows, m.cursor, record, m.state, m.gaps, warp, np.int64(active), ARRIVES)
    m.rows[m.cursor[0] - 1]["phase"] = _number(m, place)


@called
def log_arrival_of_copies(m, record, warp, place, active):
    """Log that a warp's copies (cp.async) since it last did this arrive, each once it has answered.

    Where there is none the warp waits for those before, which arrive elsewhere already, and arrives itself.
    """
    first = record[FIRST_COPY] - 1
    record[FIRST_COPY] = 0
    if first < 0:
        need(m.state, warp, np.int64(COPIES), m.state[warp, LOADS + COPIES])
        log_arrival(m, record, warp, place, active)
        return
    number = _number(m, place)
    for k in range(first, m.cursor[0]):
        op = m.rows[k]["op"]
        if m.rows[k]["warp"] == warp and op != NO_OP and m.code[m.made[op, 0], OP] == COPY_ASYNC:
            _let_arrive(m, k, number)


@called
def log_wait(m, record, warp, place, active):
    """Log that a warp has waited for the phase of an object that is over, if anything of the trace arrived at it.

    A phase that its last wait was for is not recorded again: lanes may test until others' objects are ready, too.
    """
    if m.phases[place, BEFORE] == 0 or m.phases[place, BEFORE] == record[AWAITED]:
        return
    record[AWAITED] = m.phases[place, BEFORE]
    log_no_access(m.rows, m.cursor, record, m.state, m.gaps, warp, np.int64(active), AWAITS)
    m.rows[m.cursor[0] - 1]["phase"] = m.phases[place, BEFORE]
    m.state[warp, START] = 1
