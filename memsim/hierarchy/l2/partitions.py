"""Two partitions of L2, as from the A100 on: a request enters that of its SM, and crosses to the other if need be.

Each partition caches what the SMs connected to it access (NVIDIA A100 whitepaper, A100 L2 Cache), wherever its home:
walks through linked lists find a plateau of nearby hits up to the size of one partition. Slices s and s + half lie
across from each other. Every line has a home, the slice that its address gives, which alone reads and writes DRAM. A
request from an SM of the other partition is first looked up in the slice across from the home. A load that finds all
its sectors in a copy there is answered. Everything else is sent to the home, is carried out there, and comes back
through the slice across, which keeps a copy of what a load read. A write lets the slice across drop its copy, so the
home is the point of coherence. A lookup is counted once: in a copy that it hits, else at home.

The slice across never waits for what it passes on, so two partitions cannot wait for each other.
"""

from __future__ import annotations

from memsim.hierarchy.cache.index import recall
from memsim.hierarchy.cache.replacement import touch
from memsim.hierarchy.codes import HIT, INVALIDATE, READS, reads
from memsim.hierarchy.l2.lookup import allocate, reply
from memsim.hierarchy.requests import forward, give, take
from memsim.jit.compiled import inlined


@inlined
def opposite_slice(m, s):
    """The slice of the other partition that lies across from slice `s`."""
    half = m.p[0].half
    return s - half if s >= half else s + half


@inlined
def of_other_partition(m, s, sm):
    """Whether an SM is connected to the partition that slice `s` is not in; SMs take turns."""
    return (sm & 1) != (1 if s >= m.p[0].half else 0)


@inlined
def enter(m, r):
    """Lead a request of an SM, which is on its way to its line's home, to the partition of the SM."""
    home = m.requests[r].target
    m.requests[r].home = home
    if of_other_partition(m, home, m.requests[r].sm):
        m.requests[r].target = opposite_slice(m, home)


@inlined
def look_up_copy(m, s, r, time):
    """Look a request up in the slice across from its home: answer it from a copy (True), or send it on (False)."""
    p = m.p[0]
    if reads(m.requests[r].kind):
        tag = m.requests[r].line + p.n_lines
        mask = m.requests[r].mask
        way = recall(m.way_of, m.cache, tag)
        if way >= 0 and mask & m.cache.ways[way].valid == mask:
            touch(m.cache, m.sets_of[tag], way)
            op = m.requests[r].op
            m.counters[op, READS + HIT, 0] += 1
            m.counters[op, READS + HIT, 1] += m.sectors[mask]
            reply(m, r, time)
            return True
    forward(m.to_home, m.requests, r, time + p.ahead_cycles, s, m.requests[r].home)
    return False


@inlined
def answer(m, s, r, time):
    """Answer a request at its home: the SM, or the slice across through which it came."""
    if m.p[0].half and of_other_partition(m, s, m.requests[r].sm):
        if reads(m.requests[r].kind):
            m.copied[m.requests[r].line] = 1
        forward(m.to_near, m.requests, r, time + m.p[0].back_cycles, s, opposite_slice(m, s))
    else:
        reply(m, r, time)


@inlined
def drop_copy(m, s, r, time):
    """A write changes the line at its home: the copy across goes."""
    line = m.requests[r].line
    m.copied[line] = 0
    d = take(m.free_requests)
    m.requests[d].line = line
    m.requests[d].kind = INVALIDATE
    forward(m.to_near, m.requests, d, time + m.p[0].back_cycles, s, opposite_slice(m, s))


@inlined
def come_back(m, s, r, time):
    """Handle what comes from the home across: a copy to drop, or a request carried out, with the data if it read."""
    p = m.p[0]
    tag = m.requests[r].line + p.n_lines
    way = recall(m.way_of, m.cache, tag)
    if m.requests[r].kind == INVALIDATE:
        if way >= 0:
            m.cache.ways[way].valid = 0
        give(m.free_requests, r)
        return
    if reads(m.requests[r].kind):
        if way < 0:
            way = allocate(m, s, tag, time)
        else:
            touch(m.cache, m.sets_of[tag], way)
        if way >= 0:
            m.cache.ways[way].valid = m.cache.ways[way].valid | m.requests[r].mask
    reply(m, r, time)
