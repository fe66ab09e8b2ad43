"""DRAM channels, advanced by one window of time in their own command clock.

A channel issues one command after the other, each in the first cycle in which the timing table allows it. A bank whose
open row nobody wants precharges and activates the next as soon as it can; a column command goes to the oldest request
whose row is open (first-ready FCFS), or to the oldest of all once its row is open (FCFS). So a bank that is busy delays
nobody else. Row and column commands have a bus each. Writes are held and drained in batches.
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.compiled import loop
from memsim.hierarchy.dram_state import (
    ACTIVATE,
    AGE_BITS,
    BANK_BITS,
    NO_AGE,
    PRECHARGE,
    READ,
    REFRESH,
    WRITE,
)
from memsim.hierarchy.memory_log import log_request
from memsim.hierarchy.requests import FETCH, append, pop, schedule, take_bucket
from memsim.hierarchy.sm_state import NEVER


@loop
def to_clock(p, time):
    """First DRAM cycle at or after an SM cycle."""
    return (time * p.clock_up + p.clock_down - 1) // p.clock_down


@loop
def to_time(p, clock):
    """First SM cycle at or after a DRAM cycle."""
    return (clock * p.clock_down + p.clock_up - 1) // p.clock_up


@loop
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


@loop
def aged(number, bank):
    """A request's age for the scheduler to compare: its number, then its bank, so that the least names the bank."""
    return np.int64(number) << BANK_BITS | bank


@loop
def bank_of(age):
    """The bank that an age or a rank names."""
    return age & ((1 << BANK_BITS) - 1)


@loop
def has_room(m, c, write):
    """Whether the scheduler can see one more request of this sort."""
    p = m.p[0]
    return m.channels[c].writes < p.write_queue if write else m.channels[c].reads < p.queue


@loop
def admit(m, c, r, write):
    """Move the first request that has come to a channel into its bank's queue."""
    p = m.p[0]
    pop(m.queues, c, m.requests)
    if write:
        m.channels[c].writes += 1
    else:
        m.channels[c].reads += 1
    age = m.channels[c].admitted
    m.channels[c].admitted = age + 1
    m.requests[r].key = age
    m.requests[r].left = m.sectors[m.requests[r].mask]
    bank = m.requests[r].bank
    q = (c * 2 + write) * p.banks + bank
    append(m.bank_queues, q, m.requests, r)
    first = m.bank_queues[q].head == r
    if first:
        m.head_age[q] = aged(age, bank)
    if (first or p.policy) and m.bank_queues[q].hit < 0:
        find_hit(m, q, r, bank, m.banks[c * p.banks + bank].row)


@loop
def way_of(m, r):
    """0 for a request that reads, 1 for one that writes."""
    return 0 if m.requests[r].kind == FETCH else 1


@loop
def find_hit(m, q, r, bank, row):
    """Note the first request from `r` on, all in `bank`, that goes to `row`; with FCFS, only `r` may."""
    if m.p[0].policy:
        while r >= 0 and m.requests[r].row != row:
            r = m.requests[r].next
    elif r >= 0 and m.requests[r].row != row:
        r = -1
    m.bank_queues[q].hit = r
    m.hit_age[q] = aged(m.requests[r].key, bank) if r >= 0 else NO_AGE


@loop
def remove(m, q, r, bank, row):
    """Take request `r`, which goes to the open row, out of the queue of a bank."""
    at = m.bank_queues[q].head
    after = m.requests[r].next
    if at == r:
        m.bank_queues[q].head = after
        m.head_age[q] = aged(m.requests[after].key, bank) if after >= 0 else NO_AGE
    else:
        while m.requests[at].next != r:
            at = m.requests[at].next
        m.requests[at].next = after
        if m.bank_queues[q].tail == r:
            m.bank_queues[q].tail = at
    find_hit(m, q, after, bank, row)


@loop
def next_row(m, c, write, clock):
    """(Cycle, age) of the next row command: of the bank that can soonest begin to open the row of its oldest request,
    none of its own being open. (NEVER, NO_AGE) if no bank needs one."""
    base, banks = (c * 2 + write) * m.p[0].banks, c * m.p[0].banks
    best = NO_AGE
    for k in range(m.p[0].banks):
        age = m.head_age[base + k] if m.hit_age[base + k] == NO_AGE else NO_AGE
        best = min(best, (max(m.row_ready[banks + k] - clock, 0) << AGE_BITS) + age)
    return ranked(best, clock)


@loop
def next_column(m, c, write, clock):
    """(Cycle, age) of the next column command: of the bank whose open row can soonest be accessed, or with FCFS of the
    oldest request. (NEVER, NO_AGE) if there is none."""
    base = (c * 2 + write) * m.p[0].banks
    start = max(clock, bus_ready(m, c, write))
    best = NO_AGE
    if m.p[0].policy:
        for k in range(m.p[0].banks):
            best = min(best, m.hit_age[base + k])
        if best == NO_AGE or m.column_ready[base + bank_of(best)] <= start:
            return NEVER if best == NO_AGE else start, best
        best = NO_AGE
        for k in range(m.p[0].banks):
            best = min(best, (max(m.column_ready[base + k] - start, 0) << AGE_BITS) + m.hit_age[base + k])
        return ranked(best, start)
    for k in range(m.p[0].banks):
        best = min(best, m.head_age[base + k])
    if best == NO_AGE or m.hit_age[base + bank_of(best)] == NO_AGE:
        return NEVER, NO_AGE
    return max(start, m.column_ready[base + bank_of(best)]), best


@loop
def ranked(rank, start):
    """(Cycle, age) of a rank: cycles from `start` on, then the age."""
    if rank >= NO_AGE:
        return NEVER, NO_AGE
    return start + (rank >> AGE_BITS), rank & ((1 << AGE_BITS) - 1)


@loop
def earlier(at, age, other_at, other_age):
    """The earlier of two commands, or if both can be issued in one cycle the one for the older request."""
    if other_at < at or (other_at == at and other_age < age):
        return other_at, other_age
    return at, age


@loop
def bus_ready(m, c, write):
    """First cycle at which the channel as a whole allows a column command."""
    p = m.p[0]
    column = m.channels[c].column + p.ccd
    if write:
        return max(column, m.channels[c].read_end, m.channels[c].bus_free - p.cwl)
    return max(column, m.channels[c].write_end, m.channels[c].bus_free - p.cl)


@loop
def open_row(m, c, write, bank, clock):
    """Precharge if need be, and activate the row of a bank's oldest request as early as the table allows."""
    p = m.p[0]
    b = c * p.banks + bank
    q = (c * 2 + write) * p.banks + bank
    row = m.requests[m.bank_queues[q].head].row
    at = m.channels[c].at
    ready = clock
    if m.banks[b].row >= 0:
        log_command(m, c, PRECHARGE, bank, m.banks[b].row, clock)
        ready = clock + p.rp
    activate = max(ready, m.banks[b].activate, m.channels[c].activate + p.rrd, m.channels[c].window[at] + p.faw)
    log_command(m, c, ACTIVATE, bank, row, activate)
    m.banks[b].row = row
    m.banks[b].fresh = 1
    m.row_ready[b] = activate + p.ras
    m.channels[c].activate = activate
    m.channels[c].window[at] = activate
    m.channels[c].at = (at + 1) & 3
    if p.groups > 1:
        for k in range(bank % p.groups, p.banks, p.groups):
            m.banks[c * p.banks + k].activate = activate + p.rrd_l
    for way in range(2):
        q = (c * 2 + way) * p.banks + bank
        m.column_ready[q] = max(m.column_ready[q], activate + p.rcd)
        find_hit(m, q, m.bank_queues[q].head, bank, row)


@loop
def transfer(m, c, bank, write, n, column):
    """Column commands of `n` sectors of the open row, the first at `column`; returns the end of their data."""
    p = m.p[0]
    b = c * p.banks + bank
    step = max(p.ccd, p.burst)
    last = column + (n - 1) * step
    for k in range(n if len(m.commands) else 0):
        log_command(m, c, WRITE if write else READ, bank, m.banks[b].row, column + k * step)
    end = last + (p.cwl if write else p.cl) + p.burst
    m.channels[c].column = last
    m.channels[c].bus_free = end
    if write:
        m.channels[c].write_end = end + p.wtr
        m.row_ready[b] = max(m.row_ready[b], end + p.wr)
    else:
        m.channels[c].read_end = last + p.rtw
        m.row_ready[b] = max(m.row_ready[b], last + p.rtp)
    if p.groups > 1:
        delay_group(m, c, bank, write, column, end)
    return end


@loop
def delay_group(m, c, bank, write, column, end):
    """Keep the banks of a group as far apart as it asks, after a column command whose data end at `end`."""
    p = m.p[0]
    for k in range(bank % p.groups, p.banks, p.groups):
        reads, writes = c * 2 * p.banks + k, (c * 2 + 1) * p.banks + k
        m.column_ready[reads] = max(m.column_ready[reads], column + p.ccd_l, end + p.wtr_l if write else 0)
        m.column_ready[writes] = max(m.column_ready[writes], column + p.ccd_l)


@loop
def access(m, c, write, bank, column):
    """Issue the column commands of the oldest request to a bank's open row; when it has all, send it to its slice.

    With bank groups one sector goes at a time, so that another group's come between.
    """
    p = m.p[0]
    b = c * p.banks + bank
    q = (c * 2 + write) * p.banks + bank
    r = m.bank_queues[q].hit
    left = np.int64(m.requests[r].left)
    n = m.sectors[m.requests[r].mask]
    if left == n:
        event = 4 * write + m.banks[b].fresh
        m.counters[m.requests[r].op, event, 0] += 1
        m.counters[m.requests[r].op, event, 1] += n
    m.banks[b].fresh = 0
    now = left if p.groups == 1 else 1
    end = transfer(m, c, bank, write, now, column)
    m.requests[r].left = left - now
    if left > now:
        return
    remove(m, q, r, bank, m.banks[b].row)
    if write:
        m.channels[c].writes -= 1
    else:
        m.channels[c].reads -= 1
    m.requests[r].time = to_time(p, end) + p.latency
    m.requests[r].key = c
    m.requests[r].place = m.requests[r].sm
    schedule(m.to_l2, m.requests, r)


@loop
def refresh(m, c, clock):
    """Close every row and refresh all banks, as early as the table allows."""
    p = m.p[0]
    ready = clock
    for b in range(c * p.banks, (c + 1) * p.banks):
        ready = max(ready, max(clock, m.row_ready[b]) + p.rp if m.banks[b].row >= 0 else m.row_ready[b])
    for bank in range(p.banks):
        b = c * p.banks + bank
        if m.banks[b].row >= 0:
            log_command(m, c, PRECHARGE, bank, m.banks[b].row, ready - p.rp)
        m.banks[b].row = -1
        m.row_ready[b] = ready + p.rfc
        for write in range(2):
            q = (c * 2 + write) * p.banks + bank
            m.bank_queues[q].hit = -1
            m.hit_age[q] = NO_AGE
    log_command(m, c, REFRESH, 0, -1, ready)
    m.channels[c].refresh += p.refi


@loop
def turn(m, c):
    """Whether writes are served now: while they are drained, or when there is nothing else."""
    p = m.p[0]
    writes = m.channels[c].writes
    m.channels[c].draining = writes > p.write_low if m.channels[c].draining else writes >= p.write_high
    return 1 if m.channels[c].draining or m.channels[c].reads == 0 else 0


@loop
def advance_channel(m, c, end):
    """Advance one channel to the DRAM cycle `end`.

    The next row and the next column command are found by comparing all banks, and kept (`row_at`, `row`: cycle and
    age): a request that comes, or a command of the other sort, changes no bank but its own.
    """
    p = m.p[0]
    clock = m.channels[c].clock
    write = -1  # whose turn it is, not known yet
    seek_row, seek_column = True, True
    row_at, row, column_at, column = NEVER, NO_AGE, NEVER, NO_AGE
    while clock < end:
        if clock >= m.channels[c].refresh:
            refresh(m, c, clock)
            seek_row, seek_column = True, True
        queued = m.channels[c].reads + m.channels[c].writes
        if queued:
            now = turn(m, c)
            if seek_row or now != write:
                row_at, row = next_row(m, c, now, clock)
            if seek_column or now != write:
                column_at, column = next_column(m, c, now, clock)
            write, seek_row, seek_column = now, False, False
        stop = min(m.channels[c].refresh, end)
        r = m.queues[c].head
        while r >= 0 and m.requests[r].time < stop and m.requests[r].time <= min(column_at, row_at):
            way = way_of(m, r)
            if not has_room(m, c, way):
                break
            clock = max(clock, m.requests[r].time)
            admit(m, c, r, way)
            seek_row = seek_column = not p.policy or turn(m, c) != write
            if way == write:
                bank = m.requests[r].bank
                q = (c * 2 + way) * p.banks + bank
                if m.bank_queues[q].hit == r:
                    at = max(clock, bus_ready(m, c, way), m.column_ready[q])
                    column_at, column = earlier(column_at, column, at, m.hit_age[q])
                    seek_row = seek_row or (row != NO_AGE and bank_of(row) == bank)
                elif m.bank_queues[q].head == r:
                    row_at, row = earlier(row_at, row, max(clock, m.row_ready[c * p.banks + bank]), m.head_age[q])
            if seek_row:
                break
            r = m.queues[c].head
        if seek_row and m.channels[c].reads + m.channels[c].writes:
            continue
        at = min(column_at, row_at)
        if stop <= at:
            if not queued and r < 0:
                break
            clock = stop
            continue
        clock = max(clock, at)
        if column_at <= row_at:
            bank = bank_of(column)
            q = (c * 2 + write) * p.banks + bank
            access(m, c, write, bank, column_at)
            seek_column = True
            if m.hit_age[q] == NO_AGE and m.head_age[q] != NO_AGE:
                row_at, row = earlier(row_at, row, max(clock, m.row_ready[c * p.banks + bank]), m.head_age[q])
        else:
            bank = bank_of(row)
            q = (c * 2 + write) * p.banks + bank
            open_row(m, c, write, bank, clock)
            seek_row, seek_column = True, not p.policy
            if p.policy:
                at = max(clock, bus_ready(m, c, write), m.column_ready[q])
                column_at, column = earlier(column_at, column, at, m.hit_age[q])
        if m.channels[c].reads + m.channels[c].writes == 0:
            write, row_at, row, column_at, column = -1, NEVER, NO_AGE, NEVER, NO_AGE
    m.channels[c].clock = clock


@loop
def accept(m, start, end):
    """Hand what is due in [start, end) to the channels, and log it, in the order in which it comes.

    From here on a request's time is counted in the channels' clock.
    """
    p = m.p[0]
    clock = to_clock(p, start)
    for time in range(start, end):
        while clock * p.clock_down < time * p.clock_up:
            clock += 1
        r = take_bucket(m.from_l2, time)
        while r >= 0:
            after = m.requests[r].next
            m.requests[r].time = clock
            log_request(m, m.requests[r].line, np.int64(m.requests[r].mask))
            append(m.queues, m.requests[r].place, m.requests, r)
            r = after


@loop
def advance_channels(m, start, end):
    """Advance every channel over the SM cycles [start, end)."""
    accept(m, start, end)
    clock_end = to_clock(m.p[0], end)
    for c in range(len(m.channels)):
        advance_channel(m, c, clock_end)
