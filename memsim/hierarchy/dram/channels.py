"""DRAM channels, advanced by one quantum of time in their own command clock.

A channel issues one command after the other, each in the first cycle in which the timing table allows it. A bank whose
open row nobody wants precharges and activates the next as soon as it can; a column command goes to the oldest request
whose row is open (first-ready FCFS), or to the oldest of all once its row is open (FCFS). So a bank that is busy delays
nobody else. Row and column commands have a bus each. When writes go is `dram.write_turns`: in drains that reads wait
for, alone or after what banks have opened rows for, or in batches among the reads.
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.codes import NEVER
from memsim.hierarchy.dram.commands import close_row, may_activate, open_row, refresh, transfer
from memsim.hierarchy.dram.parameters import closes_rows, finishes_opened, joins_reads, oldest_first
from memsim.hierarchy.dram.queues import admit, bank_of, direction_at, direction_of, has_room, leave, remove, start
from memsim.hierarchy.dram.request_log import log_request
from memsim.hierarchy.dram.schedule import forget, next_row, offer_column, offer_row, plan, plan_started, take_turns
from memsim.hierarchy.dram.state import NO_AGE, UNKNOWN
from memsim.hierarchy.requests import append, forward, take_slot
from memsim.jit.compiled import inlined
from memsim.jit.prefetch_host import prefetch
from memsim.jit.struct_pointer import pointer_to


@inlined
def to_clock(p, time):
    """First DRAM cycle at or after an SM cycle."""
    return (time * p.clock_up + p.clock_down - 1) // p.clock_down


@inlined
def to_time(p, clock):
    """First SM cycle at or after a DRAM cycle; unsigned, for Python's division asks which sign its result has."""
    return np.int64(np.uint64(clock * p.clock_down + p.clock_up - 1) // np.uint64(p.clock_up))


@inlined
def receive(m, c, clock, stop):
    """Admit what comes before `stop` and no later than the next command; returns the clock after it.

    Ends early when a command has to be found anew.
    """
    r = m.queues[c].head
    while r >= 0 and m.requests[r].time <= min(stop - 1, m.channels[c].column_at, m.channels[c].row_at):
        prefetch(m.requests, m.requests[r].next)
        direction = direction_of(m, r)
        if not has_room(m, c, direction):
            break
        clock = max(clock, m.requests[r].time)
        admit(m, c, r, direction)
        take_turns(m, c)
        if oldest_first(m.p[0].policy):
            forget(m, c)
        elif direction == m.channels[c].direction:
            offer(m, c, r, direction, clock)
        r = m.queues[c].head
    return clock


@inlined
def offer(m, c, r, direction, clock):
    """Compare a request that has just come with those whose turn is next."""
    bank = m.requests[r].bank
    q = (c * 2 + direction) * m.p[0].banks + bank
    if m.bank_queues[q].hit == r:
        offer_column(m, c, direction, bank, clock)
        if m.channels[c].row_age != NO_AGE and bank_of(m.channels[c].row_age) == bank:
            m.channels[c].row_at = UNKNOWN  # the row stays open
    elif m.bank_queues[q].head == r:
        offer_row(m, c, bank, clock)


@inlined
def access(m, c, column):
    """Issue the column commands of the request whose turn is next; when it has all, send it to its slice.

    With bank groups one sector goes at a time, so that another group's come between.
    """
    p = m.p[0]
    bank = bank_of(m.channels[c].column_age)
    direction = direction_at(m, c, bank, m.hit_age, m.channels[c].column_age)
    b = c * p.banks + bank
    q = (c * 2 + direction) * p.banks + bank
    r = m.bank_queues[q].hit
    left = np.int64(m.requests[r].left)
    if m.sectors[m.requests[r].mask] == left:
        count(m, r, 4 * direction + m.banks[b].fresh, left)
    m.banks[b].fresh = 0
    now = left if p.groups == 1 else 1
    end = transfer(m, c, bank, direction, now, column)
    m.channels[c].column_at = UNKNOWN
    m.requests[r].left = left - now
    if left > now:
        return
    if finishes_opened(p.write_turns) and m.started[q] < NO_AGE:
        m.started[q] = NO_AGE
        m.channels[c].started -= 1
    else:
        leave(m, c, r, direction)
    remove(m, q, r, bank, m.banks[b].row)
    if closes_rows(p.row_policy) and m.bank_queues[q].hit < 0:
        other = (c * 2 + 1 - direction) * p.banks + bank
        if m.bank_queues[other].hit < 0:
            close_row(m, c, bank)
    answer(m, c, r, to_time(p, end) + p.latency)
    offer_row(m, c, bank, column)


@inlined
def open_next(m, c, clock):
    """Open the row that the bank whose turn is next wants for its oldest request.

    None is opened whose activate would come after the next refresh is due: shortly before it, banks that have to
    precharge give way to those that are closed.
    """
    p = m.p[0]
    bank, due = bank_of(m.channels[c].row_age), m.channels[c].refresh
    if m.banks[c * p.banks + bank].row >= 0 and clock + p.rp >= due:
        at, m.channels[c].row_age = next_row(m, c, m.channels[c].direction, clock, True)
        m.channels[c].row_at = min(at, due)
        return
    if may_activate(m, c) >= due:
        m.channels[c].row_at, m.channels[c].row_age = due, NO_AGE
        return
    direction = direction_at(m, c, bank, m.head_age, m.channels[c].row_age)
    open_row(m, c, direction, bank, clock)
    if finishes_opened(p.write_turns):
        q = (c * 2 + direction) * p.banks + bank
        start(m, c, q, direction)
        take_turns(m, c)
    m.channels[c].row_at = UNKNOWN
    if oldest_first(p.policy) or joins_reads(p.write_turns):
        m.channels[c].column_at = UNKNOWN  # with reads, a younger one of the other direction may go first
    else:
        offer_column(m, c, direction, bank, clock)


@inlined
def count(m, r, event, sectors):
    """Count a request at its first column command."""
    m.counters[m.requests[r].op, event, 0] += 1
    m.counters[m.requests[r].op, event, 1] += sectors


@inlined
def answer(m, c, r, time):
    """Send a request back to its slice."""
    if m.channels[c].reads + m.channels[c].writes:
        take_turns(m, c)
    forward(m.from_dram, m.requests, r, time, c, m.requests[r].slice)


@inlined
def prefetch_heads(m, c):
    """Prefetch the oldest request of each bank, if there are about as many: since the last quantum, other levels have
    used the host's caches."""
    queued = m.channels[c].reads + m.channels[c].writes
    if queued >= m.p[0].banks:
        for q in range(2 * c * m.p[0].banks, 2 * (c + 1) * m.p[0].banks):
            prefetch(m.requests, m.bank_queues[q].head)


@inlined
def advance_channel(m, c, end):
    """Advance one channel to the DRAM cycle `end`."""
    prefetch_heads(m, c)
    clock = m.channels[c].clock
    while clock < end:
        due = clock >= m.channels[c].refresh
        if due and m.channels[c].started == 0:
            refresh(m, c, clock)
            forget(m, c)
            continue  # one that is late may have made the next one due
        if due:
            plan_started(m, c, clock)
            stop = end
        else:
            plan(m, c, clock)
            stop = min(m.channels[c].refresh, end)
            clock = receive(m, c, clock, stop)
        row_at, column_at = m.channels[c].row_at, m.channels[c].column_at
        at = min(row_at, column_at)
        if at == UNKNOWN:
            continue
        if at >= stop:
            if at == NEVER and m.queues[c].head < 0:
                break
            clock = stop
        elif column_at <= row_at:
            clock = at
            access(m, c, at)
        else:
            clock = at
            open_next(m, c, at)
    m.channels[c].clock = clock


@inlined
def rests(m, c, end):
    """Whether nothing comes to a channel, and none of its commands is due, before the DRAM cycle `end`."""
    due = min(m.channels[c].row_at, m.channels[c].column_at, m.channels[c].refresh)
    return due >= end and m.queues[c].head < 0


@inlined
def accept(m, start, end):
    """Hand what is due in [start, end) to the channels, and log it, in the order in which it comes.

    From here on a request's time is counted in the channels' clock.
    """
    p = m.p[0]
    clock = to_clock(p, start)
    reached = clock * p.clock_down
    for time in range(start, end):
        r = take_slot(m.to_dram, m.requests, time)
        if r < 0:
            continue
        while reached < time * p.clock_up:
            clock += 1
            reached += p.clock_down
        while r >= 0:
            after = m.requests[r].next
            m.requests[r].time = clock
            log_request(m, m.requests[r].line, np.int64(m.requests[r].mask))
            append(m.queues, m.requests[r].target, m.requests, r)
            r = after


@inlined
def advance_channels(m, start, end):
    """Advance every channel over the SM cycles [start, end)."""
    m = pointer_to(m)
    accept(m, start, end)
    clock_end = to_clock(m.p[0], end)
    for c in range(len(m.channels)):
        if not rests(m, c, clock_end):
            advance_channel(m, c, clock_end)
