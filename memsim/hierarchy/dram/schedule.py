"""Which command a DRAM channel issues next.

The next row and the next column command are found by comparing all banks, and kept in the channel (`row_at`, `row_age`,
`column_at`, `column_age`: cycle and age) until one of their sort goes: a request that comes, or a command of the other
sort, changes no bank but its own.
"""

from __future__ import annotations

from memsim.hierarchy.codes import NEVER
from memsim.hierarchy.dram.commands import bus_ready
from memsim.hierarchy.dram.policy import row_hits_first
from memsim.hierarchy.dram.queues import bank_of
from memsim.hierarchy.dram.state import AGE_BITS, NO_AGE, UNKNOWN
from memsim.support.compiled import inlined


@inlined
def forget(m, c):
    """Both commands have to be found anew."""
    m.channels[c].row_at = m.channels[c].column_at = UNKNOWN


@inlined
def plan(m, c, clock):
    """Find the next commands that are not known."""
    direction = m.channels[c].direction
    if m.channels[c].row_at == UNKNOWN:
        m.channels[c].row_at, m.channels[c].row_age = next_row(m, c, direction, clock)
    if m.channels[c].column_at == UNKNOWN:
        m.channels[c].column_at, m.channels[c].column_age = next_column(m, c, direction, clock)


@inlined
def take_turns(m, c):
    """Choose whose turn it is: writes' while they are drained, or when there is nothing else; reads' otherwise."""
    writes = m.channels[c].writes
    m.channels[c].draining = writes > m.p[0].write_low if m.channels[c].draining else writes >= m.p[0].write_high
    direction = 1 if m.channels[c].draining or m.channels[c].reads == 0 else 0
    if direction != m.channels[c].direction:
        m.channels[c].direction = direction
        forget(m, c)


@inlined
def offer_row(m, c, bank, clock):
    """A bank has become one whose row nobody wants: is it the one to open another next?"""
    direction, banks = m.channels[c].direction, m.p[0].banks
    q = (c * 2 + direction) * banks + bank
    age = m.head_age[q] if m.hit_age[q] == NO_AGE else NO_AGE
    at = max(clock, m.row_ready[c * banks + bank]) if age < NO_AGE else NEVER
    best, least = m.channels[c].row_at, m.channels[c].row_age
    better = (at < best) | ((at == best) & (age < least))
    m.channels[c].row_at = at if better else best
    m.channels[c].row_age = age if better else least


@inlined
def offer_column(m, c, bank, clock):
    """A bank has got a request to its open row: is it the one to be accessed next?"""
    direction = m.channels[c].direction
    q = (c * 2 + direction) * m.p[0].banks + bank
    at, age = max(clock, bus_ready(m, c, direction), m.column_ready[q]), m.hit_age[q]
    best, least = m.channels[c].column_at, m.channels[c].column_age
    better = (at < best) | ((at == best) & (age < least))
    m.channels[c].column_at = at if better else best
    m.channels[c].column_age = age if better else least


@inlined
def next_row(m, c, direction, clock):
    """(Cycle, age) of the next row command: of the bank that can soonest begin to open the row of its oldest request,
    none of its own being open. (NEVER, NO_AGE) if no bank needs one."""
    base, banks = (c * 2 + direction) * m.p[0].banks, c * m.p[0].banks
    best = NO_AGE
    for k in range(m.p[0].banks):
        age = m.head_age[base + k] if m.hit_age[base + k] == NO_AGE else NO_AGE
        best = min(best, (max(m.row_ready[banks + k] - clock, 0) << AGE_BITS) + age)
    return ranked(best, clock)


@inlined
def next_column(m, c, direction, clock):
    """(Cycle, age) of the next column command: of the bank whose open row can soonest be accessed, or with FCFS of the
    oldest request. (NEVER, NO_AGE) if there is none."""
    base = (c * 2 + direction) * m.p[0].banks
    start = max(clock, bus_ready(m, c, direction))
    best = NO_AGE
    if row_hits_first(m.p[0].policy):
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


@inlined
def ranked(rank, start):
    """(Cycle, age) of a rank: cycles from `start` on, then the age."""
    if rank >= NO_AGE:
        return NEVER, NO_AGE
    return start + (rank >> AGE_BITS), rank & ((1 << AGE_BITS) - 1)
