"""Phases of mbarriers in a trace: who arrives at them, and who waits for them.

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
    index = (host - m.grid[SHARED_HOST]) >> 3
    return index if m.grid[TRACING] and 0 <= index < len(m.phases) else np.int64(-1)


@inlined
def own(m, record, index):
    """The row of an object if it is the warp's block's own, else -1."""
    return index if index >= 0 and (index << 3) // m.grid[SHARED_BYTES] == record[BLOCK] else np.int64(-1)


@inlined
def forget(m, index):
    """An object begins anew."""
    if index >= 0:
        m.phases[index, NOW] = m.phases[index, BEFORE] = 0


@inlined
def end_phase(m, index):
    """A phase is over."""
    if index >= 0:
        m.phases[index, BEFORE], m.phases[index, NOW] = m.phases[index, NOW], 0


@called
def _number(m, index):
    """The number of an object's phase, at which something arrives."""
    if m.phases[index, NOW] == 0:
        m.n_phases[0] += 1
        m.phases[index, NOW] = m.n_phases[0]
    return m.phases[index, NOW]


@called
def let_copies_arrive(m, index, first):
    """Have the rows from `first` on, copies of one instruction, arrive at an object's phase once they have answered."""
    if index < 0 or first == m.cursor[0]:
        return
    number = _number(m, index)
    for k in range(first, m.cursor[0]):
        _let_arrive(m, k, number)


@called
def _let_arrive(m, k, number):
    m.rows[k]["flags"] |= ARRIVES
    m.rows[k]["phase"] = number


@called
def log_arrival(m, record, warp, index, active):
    """Log that a warp arrives at an object's phase itself."""
    log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(active), ARRIVES)
    m.rows[m.cursor[0] - 1]["phase"] = _number(m, index)


@called
def log_arrival_of_copies(m, record, warp, index, active):
    """Log that a warp's copies (cp.async) since it last did this arrive, each once it has answered.

    Where there is none the warp waits for those before, which arrive elsewhere already, and arrives itself.
    """
    first = record[FIRST_COPY] - 1
    record[FIRST_COPY] = 0
    if first < 0:
        need(m.state, warp, np.int64(COPIES), m.state[warp, LOADS + COPIES])
        log_arrival(m, record, warp, index, active)
        return
    number = _number(m, index)
    for k in range(first, m.cursor[0]):
        op = m.rows[k]["op"]
        if m.rows[k]["warp"] == warp and op != NO_OP and m.code[m.made[op, 0], OP] == COPY_ASYNC:
            _let_arrive(m, k, number)


@called
def log_wait(m, record, warp, index, active):
    """Log that a warp has waited for the phase of an object that is over, if anything of the trace arrived at it.

    A phase that its last wait was for is not recorded again: lanes may test until others' objects are ready, too.
    """
    if m.phases[index, BEFORE] == 0 or m.phases[index, BEFORE] == record[AWAITED]:
        return
    record[AWAITED] = m.phases[index, BEFORE]
    log_no_access(m.rows, m.cursor, record, m.state, m.compute_runs, warp, np.int64(active), AWAITS)
    m.rows[m.cursor[0] - 1]["phase"] = m.phases[index, BEFORE]
    m.state[warp, START] = 1
