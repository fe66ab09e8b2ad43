"""The requests that a channel's scheduler sees: a queue a bank and direction (reads, writes), in order of arrival."""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.codes import WRITE_BACK
from memsim.hierarchy.dram.parameters import joins_reads, row_hits_first, takes_turns_alone
from memsim.hierarchy.dram.state import BANK_BITS, NO_AGE
from memsim.hierarchy.requests import append, pop
from memsim.jit.compiled import inlined


@inlined
def aged(number, bank):
    """A request's age for the scheduler to compare: its number, then its bank, so that the least names the bank."""
    return np.int64(number) << BANK_BITS | bank


@inlined
def bank_of(age):
    """The bank that an age or a rank names."""
    return age & ((1 << BANK_BITS) - 1)


@inlined
def direction_of(m, r):
    """0 for a request that reads, 1 for one that writes."""
    return 1 if m.requests[r].kind == WRITE_BACK else 0


@inlined
def direction_at(m, c, bank, ages, age):
    """Which of a bank's two queues the age of the next command is of: `ages` are those of all queues."""
    if takes_turns_alone(m.p[0].write_turns):
        return m.channels[c].direction
    return 0 if ages[c * 2 * m.p[0].banks + bank] == age else 1


@inlined
def has_room(m, c, direction):
    """Whether the scheduler can see one more request of this sort: an entry is free, for its first sectors at least."""
    p = m.p[0]
    return m.channels[c].writes < p.write_queue if direction else m.channels[c].reads < p.queue


@inlined
def admit(m, c, r, direction):
    """Move `r`, the first request that has come to a channel, into its bank's queue."""
    pop(m.queues, c, m.requests)
    m.requests[r].left = m.sectors[m.requests[r].mask]
    if direction:
        m.channels[c].writes += m.entries[m.requests[r].mask]
    else:
        m.channels[c].reads += m.entries[m.requests[r].mask]
    if direction and joins_reads(m.p[0].write_turns):
        append(m.held, c, m.requests, r)
    else:
        line_up(m, c, r, direction)


@inlined
def leave(m, c, r, direction):
    """Give a request's entries up: of the queue that it came into, or that its batch has joined."""
    if direction and not joins_reads(m.p[0].write_turns):
        m.channels[c].writes -= m.entries[m.requests[r].mask]
    else:
        m.channels[c].reads -= m.entries[m.requests[r].mask]


@inlined
def start(m, c, q, direction):
    """The bank of queue `q` serves its oldest request from now on, which so leaves the queue."""
    m.started[q] = m.head_age[q]
    m.channels[c].started += 1
    leave(m, c, m.bank_queues[q].head, direction)


@inlined
def begin_batch(m, c):
    """All writes that a channel holds join its reads."""
    r = m.held[c].head
    m.held[c].head = -1
    while r >= 0:
        after = m.requests[r].next
        line_up(m, c, r, 1)
        r = after
    m.channels[c].reads += m.channels[c].writes
    m.channels[c].writes = 0


@inlined
def line_up(m, c, r, direction):
    """Put a request at the end of its bank's queue."""
    p = m.p[0]
    age = m.channels[c].admitted
    m.channels[c].admitted = age + 1
    m.requests[r].key = age
    bank = m.requests[r].bank
    q = (c * 2 + direction) * p.banks + bank
    append(m.bank_queues, q, m.requests, r)
    first = m.bank_queues[q].head == r
    if first:
        m.head_age[q] = aged(age, bank)
    may_go = first or row_hits_first(p.policy)
    if may_go and m.bank_queues[q].hit < 0 and m.requests[r].row == m.banks[c * p.banks + bank].row:
        m.bank_queues[q].hit = r
        m.hit_age[q] = aged(age, bank)


@inlined
def find_hit(m, q, r, bank, row):
    """Note the first request from `r` on, all in `bank`, that goes to `row`; with FCFS, only `r` may."""
    if row_hits_first(m.p[0].policy):
        while r >= 0 and m.requests[r].row != row:
            r = m.requests[r].next
    elif r >= 0 and m.requests[r].row != row:
        r = -1
    m.bank_queues[q].hit = r
    m.hit_age[q] = aged(m.requests[r].key, bank) if r >= 0 else NO_AGE


@inlined
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
