"""Page walks: loads of page tables, one after the other, that go through L2 like an SM's."""

from __future__ import annotations

from memsim.hierarchy.cache.replacement import replace, victim
from memsim.hierarchy.codes import BYPASS
from memsim.hierarchy.requests import append, give, pop, schedule, take
from memsim.hierarchy.sm.l1 import send
from memsim.jit.compiled import inlined


@inlined
def begin_walk(m, entry, page, time):
    """Walk for a page whose entry the shared TLB lacks, or let the walk wait for a walker; returns the walk."""
    w = take(m.free_walks)
    m.walk_of[entry] = w
    m.walks[w].page = page
    m.walks[w].step = 0
    m.walks[w].head = -1
    if m.walking[0] < m.p[0].walkers:
        m.walking[0] += 1
        load_entry(m, w, time)
    else:
        append(m.waiting, 0, m.walks, w)
    return w


@inlined
def load_entry(m, w, time):
    """Send a walk's next load to L2, in the name of the SM behind the last: the walkers' replies go there."""
    p = m.p[0]
    at = m.walks[w].page * p.walk_levels + m.walks[w].step
    send(m, p.sms, BYPASS, m.steps[at].line, m.steps[at].mask, 0, p.no_op, -1, w, time)


@inlined
def receive(m, time):
    """Go on with the walks whose loads are answered by `time`."""
    p = m.p[0]
    while m.replies[p.sms].head >= 0 and m.requests[m.replies[p.sms].head].time <= time:
        r = pop(m.replies, p.sms, m.requests)
        w = m.requests[r].load
        give(m.free_requests, r)
        m.walks[w].step += 1
        if m.walks[w].step < p.walk_levels:
            load_entry(m, w, time)
        else:
            end_walk(m, w, time)


@inlined
def end_walk(m, w, time):
    """Put what a walk found into the shared TLB, answer the misses that waited, and give the walker to the next."""
    entry = m.pages[m.walks[w].page].entry
    s = m.entry_sets[entry]
    way = victim(m.shared, s)
    m.way_of[entry] = way
    replace(m.shared, s, way, entry)
    m.walk_of[entry] = -1
    n = m.walks[w].head
    while n >= 0:
        after = m.misses[n].next
        answer(m, n, time)
        n = after
    give(m.free_walks, w)
    if m.waiting[0].head >= 0:
        load_entry(m, pop(m.waiting, 0, m.walks), time)
    else:
        m.walking[0] -= 1


@inlined
def answer(m, n, time):
    """The shared TLB answers miss `n`; both ways between it and the SM's TLB are counted here."""
    m.misses[n].time = time + m.p[0].shared_latency
    m.misses[n].key = 0
    schedule(m.fills, m.misses, n)
