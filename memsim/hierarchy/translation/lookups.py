"""Lookups in the TLBs, advanced by one quantum of time.

L1 is tagged with virtual addresses, so what an SM sends to L2 is translated on the way (Jia et al., arXiv 1804.06826).
A request whose page is in its SM's TLB proceeds in the same cycle: the lookup is part of L2's latency. One whose page
is not waits for the shared TLB, and that for a page walk. An SM's requests are looked up in order; one that finds no
way or as many misses under way as may be waits, and those behind it, for the SM's next fill.

The TLBs of all SMs and the shared one are handled cycle by cycle in one pass: they are one level.
"""

from __future__ import annotations

import numpy as np

from memsim.gpu.translation import TRANSLATION
from memsim.hierarchy.cache.replacement import replace, touch, victim
from memsim.hierarchy.cache.ways import find, recall
from memsim.hierarchy.requests import append, give, pop, schedule, take, take_slot
from memsim.hierarchy.translation.walks import answer, begin_walk, receive
from memsim.jit.compiled import inlined
from memsim.jit.prefetch_host import prefetch
from memsim.jit.struct_pointer import pointer_to

SM_HIT, SM_MISS, SM_MERGE, SHARED_HIT, SHARED_MISS, SHARED_MERGE = range(len(TRANSLATION.counters))


@inlined
def go_on(m, r, time):
    """Send a translated request on to L2."""
    m.requests[r].time = time
    schedule(m.to_l2, m.requests, r)


@inlined
def look_up(m, sm, time):
    """Look the first request of an SM's queue up; False when it must wait for the SM's next fill."""
    p = m.p[0]
    r = m.queues[sm].head
    page = m.page_of[m.requests[r].line]
    s = sm * p.sm_sets + m.pages[page].set
    way = find(m.tlbs, s, page)
    if way < 0:
        way = victim(m.tlbs, s) if m.under_way[sm] < p.sm_misses else np.int64(-1)
        if way < 0:
            return False
        replace(m.tlbs, s, way, page)
        pop(m.queues, sm, m.requests)
        m.counters[SM_MISS] += 1
        miss(m, sm, way, page, r, time)
        return True
    pop(m.queues, sm, m.requests)
    touch(m.tlbs, s, way)
    if m.tlbs.ways[way].pending:
        m.counters[SM_MERGE] += 1
        append(m.misses, m.miss_of[way], m.requests, r)
    else:
        m.counters[SM_HIT] += 1
        go_on(m, r, time)
    return True


@inlined
def miss(m, sm, way, page, r, time):
    """Let request `r` wait until the shared TLB has answered a lookup of `page`."""
    m.tlbs.ways[way].pending = 1
    m.under_way[sm] += 1
    n = take(m.free_misses)
    m.miss_of[way] = n
    m.misses[n].sm = sm
    m.misses[n].page = page
    m.misses[n].way = way
    m.misses[n].head = -1
    append(m.misses, n, m.requests, r)
    entry = m.pages[page].entry
    found = recall(m.way_of, m.shared, entry)
    if found >= 0:
        m.counters[SHARED_HIT] += 1
        touch(m.shared, m.entry_sets[entry], found)
        answer(m, n, time)
        return
    w = m.walk_of[entry]
    if w >= 0:
        m.counters[SHARED_MERGE] += 1
    else:
        m.counters[SHARED_MISS] += 1
        w = begin_walk(m, entry, page, time)
    append(m.walks, w, m.misses, n)


@inlined
def fill(m, n, time):
    """A page arrives at its SM's TLB: its requests proceed; those that waited for a miss are looked up."""
    m.tlbs.ways[m.misses[n].way].pending = 0
    r = m.misses[n].head
    while r >= 0:
        after = m.requests[r].next
        go_on(m, r, time)
        r = after
    sm = m.misses[n].sm
    m.under_way[sm] -= 1
    give(m.free_misses, n)
    look_up_queue(m, sm, time)


@inlined
def look_up_queue(m, sm, time):
    """Look an SM's requests up, in order, until one must wait."""
    while m.queues[sm].head >= 0 and look_up(m, sm, time):
        pass


@inlined
def advance_translation(m, start, end):
    """Advance all TLBs and walks over [start, end)."""
    m = pointer_to(m)
    for time in range(start, end):
        receive(m, time)
        n = take_slot(m.fills, m.misses, time)
        while n >= 0:
            after = m.misses[n].next
            fill(m, n, time)
            n = after
        r = take_slot(m.from_sms, m.requests, time)
        while r >= 0:
            after = m.requests[r].next
            if after >= 0:
                prefetch(m.page_of, m.requests[after].line)
            sm = m.requests[r].sm
            waits = m.queues[sm].head >= 0
            append(m.queues, sm, m.requests, r)
            if not waits:
                look_up_queue(m, sm, time)
            r = after
