"""Which command a DRAM channel issues next.

The next row and the next column command are found by comparing all banks, and kept in the channel (`row_at`, `row_age`,
`column_at`, `column_age`: cycle and age) until one of their sort goes: a request that comes, or a command of the other
sort, changes no bank but its own.
"""

from __future__ import annotations

from memsim.hierarchy.codes import NEVER
from memsim.hierarchy.dram.commands import bus_ready
from memsim.hierarchy.dram.parameters import finishes_opened, joins_reads, oldest_first, takes_turns_alone
from memsim.hierarchy.dram.queues import bank_of, begin_batch
from memsim.hierarchy.dram.state import AGE_BITS, NO_AGE, UNKNOWN
from memsim.jit.compiled import inlined


@inlined
def forget(m, c):
    """Both commands have to be found anew."""
    m.channels[c].row_at = m.channels[c].column_at = UNKNOWN


@inlined
def plan(m, c, clock):
    """Find the next commands that are not known."""
    direction = m.channels[c].direction
    if m.channels[c].row_at == UNKNOWN:
        m.channels[c].row_at, m.channels[c].row_age = next_row(m, c, direction, clock, False)
    if m.channels[c].column_at == UNKNOWN:
        m.channels[c].column_at, m.channels[c].column_age = next_column(m, c, direction, clock)


@inlined
def plan_started(m, c, clock):
    """Find the next command while a refresh is due: of the requests that banks have opened rows for, and no other."""
    m.channels[c].row_at, m.channels[c].row_age = NEVER, NO_AGE
    at, age = first_ready(m, c, m.started, 0, clock)
    others_at, others_age = first_ready(m, c, m.started, 1, clock)
    m.channels[c].column_at, m.channels[c].column_age = earlier(at, age, others_at, others_age)


@inlined
def earlier(at, age, others_at, others_age):
    """(Cycle, age) of the command that goes first of two, the older one in the same cycle."""
    better = (others_at < at) | ((others_at == at) & (others_age < age))
    return others_at if better else at, others_age if better else age


@inlined
def take_turns(m, c):
    """Choose whose turn it is: writes' while they are drained, or when there is nothing else; reads' otherwise."""
    p = m.p[0]
    writes = m.channels[c].writes
    if joins_reads(p.write_turns):
        if writes >= p.write_high or (writes > 0 and m.channels[c].reads == 0):
            begin_batch(m, c)
            forget(m, c)
        return
    m.channels[c].draining = writes > p.write_low if m.channels[c].draining else writes >= p.write_high
    idle = m.channels[c].reads == 0
    if finishes_opened(p.write_turns):
        m.channels[c].draining |= idle
    direction = 1 if m.channels[c].draining or idle else 0
    if direction != m.channels[c].direction:
        m.channels[c].direction = direction
        forget(m, c)


@inlined
def offer_row(m, c, bank, clock):
    """A bank has become one whose row nobody wants: is it the one to open another next?"""
    age = wants_row(m, c, m.channels[c].direction, bank)
    if age == NO_AGE:
        return
    at = max(clock, m.row_ready[c * m.p[0].banks + bank])
    m.channels[c].row_at, m.channels[c].row_age = earlier(m.channels[c].row_at, m.channels[c].row_age, at, age)


@inlined
def offer_column(m, c, direction, bank, clock):
    """A bank has got a request to its open row: is it the one to be accessed next?"""
    q = (c * 2 + direction) * m.p[0].banks + bank
    at, age = max(clock, bus_ready(m, c, direction), m.column_ready[q]), m.hit_age[q]
    m.channels[c].column_at, m.channels[c].column_age = earlier(
        m.channels[c].column_at, m.channels[c].column_age, at, age
    )


@inlined
def wants_row(m, c, direction, bank):
    """Age of the oldest request of a bank's whose turn it is, if the bank may open its row; NO_AGE if not."""
    p = m.p[0]
    q, other = (c * 2 + direction) * p.banks + bank, (c * 2 + 1 - direction) * p.banks + bank
    age = m.head_age[q] if m.hit_age[q] == NO_AGE else NO_AGE
    if finishes_opened(p.write_turns):
        return age if m.started[other] == NO_AGE else NO_AGE
    if joins_reads(p.write_turns):
        return min(m.head_age[q], m.head_age[other]) if min(m.hit_age[q], m.hit_age[other]) == NO_AGE else NO_AGE
    return age


@inlined
def next_row(m, c, direction, clock, closed):
    """(Cycle, age) of the next row command: of the bank that can soonest begin to open the row of its oldest request,
    none of its own being open; with `closed` only of banks that need no precharge. (NEVER, NO_AGE) if there is none."""
    oldest = NO_AGE
    for k in range(m.p[0].banks):
        oldest = min(oldest, wants_next(m, c, direction, k, closed))
    banks = c * m.p[0].banks
    if oldest == NO_AGE or m.row_ready[banks + bank_of(oldest)] <= clock:
        return NEVER if oldest == NO_AGE else clock, oldest
    rank = NO_AGE
    for k in range(m.p[0].banks):
        rank = min(rank, rank_of(wants_next(m, c, direction, k, closed), m.row_ready[banks + k], clock))
    return ranked(rank, clock)


@inlined
def wants_next(m, c, direction, bank, closed):
    """As `wants_row`; with `closed`, NO_AGE of a bank whose row is open."""
    if closed and m.banks[c * m.p[0].banks + bank].row >= 0:
        return NO_AGE
    return wants_row(m, c, direction, bank)


@inlined
def next_column(m, c, direction, clock):
    """(Cycle, age) of the next column command: of the bank whose open row can soonest be accessed, or with FCFS of the
    oldest request. (NEVER, NO_AGE) if there is none."""
    if oldest_first(m.p[0].policy):
        return first_in_order(m, c, direction, clock)
    at, age = first_ready(m, c, m.hit_age, direction, clock)
    if takes_turns_alone(m.p[0].write_turns):
        return at, age
    ages = m.hit_age if joins_reads(m.p[0].write_turns) else m.started
    others_at, others_age = first_ready(m, c, ages, 1 - direction, clock)
    return earlier(at, age, others_at, others_age)


@inlined
def first_ready(m, c, ages, direction, clock):
    """(Cycle, age) of the column command that can soonest go, of those of a direction with an age in `ages`."""
    base = (c * 2 + direction) * m.p[0].banks
    start = max(clock, bus_ready(m, c, direction))
    oldest = NO_AGE
    for k in range(m.p[0].banks):
        oldest = min(oldest, ages[base + k])
    if oldest == NO_AGE or m.column_ready[base + bank_of(oldest)] <= start:
        return NEVER if oldest == NO_AGE else start, oldest
    rank = NO_AGE
    for k in range(m.p[0].banks):
        rank = min(rank, rank_of(ages[base + k], m.column_ready[base + k], start))
    return ranked(rank, start)


@inlined
def rank_of(age, ready, start):
    """The rank of a command: the cycles from `start` until its bank is ready, then the age. The least goes first."""
    return (max(ready - start, 0) << AGE_BITS) + age


@inlined
def ranked(rank, start):
    """(Cycle, age) of the command of a rank."""
    if rank >= NO_AGE:
        return NEVER, NO_AGE
    return start + (rank >> AGE_BITS), rank & ((1 << AGE_BITS) - 1)


@inlined
def first_in_order(m, c, direction, clock):
    """(Cycle, age) of the column command of the oldest request of a direction, if its row is open."""
    base = (c * 2 + direction) * m.p[0].banks
    start = max(clock, bus_ready(m, c, direction))
    earliest = NO_AGE
    for k in range(m.p[0].banks):
        earliest = min(earliest, m.head_age[base + k])
    if earliest == NO_AGE or m.hit_age[base + bank_of(earliest)] == NO_AGE:
        return NEVER, NO_AGE
    return max(start, m.column_ready[base + bank_of(earliest)]), earliest
