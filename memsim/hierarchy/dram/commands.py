"""The commands of a DRAM channel: what each does to its bank and to the first cycle of those that follow."""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.dram.queues import find_hit
from memsim.hierarchy.dram.state import ACTIVATE, NO_AGE, PRECHARGE, READ, REFRESH, WRITE
from memsim.jit.compiled import inlined


@inlined
def log_command(m, c, name, bank, row, clock):
    """Keep a command for those who check timing."""
    n = m.logged[0]
    if n < len(m.commands):
        m.commands[n].time = clock
        m.commands[n].name = name
        m.commands[n].bank = bank
        m.commands[n].channel = c
        m.commands[n].row = row
        m.logged[0] = n + 1


@inlined
def bus_ready(m, c, direction):
    """First cycle at which the channel as a whole allows a column command."""
    p = m.p[0]
    column = m.channels[c].last_column + p.ccd
    if direction:
        return max(column, m.channels[c].read_end, m.channels[c].bus_free - p.cwl)
    return max(column, m.channels[c].write_end, m.channels[c].bus_free - p.cl)


@inlined
def may_activate(m, c):
    """First cycle at which the channel as a whole allows an activate."""
    p = m.p[0]
    return max(m.channels[c].activate + p.rrd, m.channels[c].window[m.channels[c].at] + p.faw)


@inlined
def open_row(m, c, direction, bank, clock):
    """Precharge if need be, and activate the row of a bank's oldest request as early as the table allows."""
    p = m.p[0]
    b = c * p.banks + bank
    q = (c * 2 + direction) * p.banks + bank
    row = m.requests[m.bank_queues[q].head].row
    ready = clock
    if m.banks[b].row >= 0:
        log_command(m, c, PRECHARGE, bank, m.banks[b].row, clock)
        ready = clock + p.rp
    activate = max(ready, m.banks[b].activate, may_activate(m, c))
    log_command(m, c, ACTIVATE, bank, row, activate)
    m.banks[b].row = row
    m.banks[b].fresh = 1
    m.row_ready[b] = activate + p.ras
    m.channels[c].activate = activate
    at = m.channels[c].at
    m.channels[c].window[at] = activate
    m.channels[c].at = (at + 1) & 3
    if p.groups > 1:
        for k in range(bank % p.groups, p.banks, p.groups):
            m.banks[c * p.banks + k].activate = activate + p.rrd_l
    for direction in range(2):
        q = (c * 2 + direction) * p.banks + bank
        m.column_ready[q] = max(m.column_ready[q], activate + p.rcd)
        find_hit(m, q, m.bank_queues[q].head, bank, row)


@inlined
def close_row(m, c, bank):
    """Precharge an open row by itself (auto-precharge), as early as the table allows."""
    p = m.p[0]
    b = c * p.banks + bank
    log_command(m, c, PRECHARGE, bank, m.banks[b].row, m.row_ready[b])
    m.banks[b].row = -1
    m.row_ready[b] += p.rp


@inlined
def transfer(m, c, bank, direction, n, column):
    """Column commands of `n` sectors of the open row, the first at `column`; returns the end of their data."""
    p = m.p[0]
    b = c * p.banks + bank
    step = max(p.ccd, p.burst)
    last = column + (n - 1) * step
    for k in range(n if len(m.commands) else 0):
        log_command(m, c, WRITE if direction else READ, bank, m.banks[b].row, column + k * step)
    end = last + (p.cwl if direction else p.cl) + p.burst
    m.channels[c].last_column = last
    m.channels[c].bus_free = end
    if direction:
        m.channels[c].write_end = end + p.wtr
        m.row_ready[b] = max(m.row_ready[b], end + p.wr)
    else:
        m.channels[c].read_end = last + p.rtw
        m.row_ready[b] = max(m.row_ready[b], last + p.rtp)
    if p.groups > 1:
        delay_group(m, c, bank, direction, column, end)
    return end


@inlined
def delay_group(m, c, bank, direction, column, end):
    """Keep the banks of a group as far apart as it asks, after a column command whose data end at `end`."""
    p = m.p[0]
    for k in range(bank % p.groups, p.banks, p.groups):
        reads, writes = c * 2 * p.banks + k, (c * 2 + 1) * p.banks + k
        m.column_ready[reads] = max(m.column_ready[reads], column + p.ccd_l, end + p.wtr_l if direction else 0)
        m.column_ready[writes] = max(m.column_ready[writes], column + p.ccd_l)


@inlined
def refresh(m, c, clock):
    """Close every row and refresh all banks, as early as the table allows."""
    p = m.p[0]
    close = ready = np.int64(clock)  # closed ones may be precharging by themselves
    for b in range(c * p.banks, (c + 1) * p.banks):
        if m.banks[b].row >= 0:
            close = max(close, m.row_ready[b])
            ready = max(ready, close + p.rp)
        else:
            ready = max(ready, m.row_ready[b])
    for bank in range(p.banks):
        b = c * p.banks + bank
        if m.banks[b].row >= 0:
            log_command(m, c, PRECHARGE, bank, m.banks[b].row, close)
        m.banks[b].row = -1
        m.row_ready[b] = ready + p.rfc
        for direction in range(2):
            q = (c * 2 + direction) * p.banks + bank
            m.bank_queues[q].hit = -1
            m.hit_age[q] = NO_AGE
    log_command(m, c, REFRESH, 0, -1, ready)
    m.channels[c].refresh += p.refi
