"""Two partitions of L2, as from the A100 on: a request enters that of its SM, and crosses to the other if need be.

Each partition caches what the SMs connected to it access (NVIDIA A100 whitepaper, A100 L2 Cache), wherever its home:
walks through linked lists find a plateau of nearby hits up to the size of one partition. Slices s and s + half lie
across from each other. Every line has a home, the slice that its address gives, which alone reads and writes DRAM. A
request from an SM of the other partition is first looked up in the slice across from the home. A load that finds all
its sectors in a copy there is answered. Everything else is sent to the home, is carried out there, and comes back
through the slice across, which keeps a copy of what a load read. A write lets the slice across drop its copy, so the
home is the point of coherence. A lookup is counted once: in a copy that it hits, else at home.

With `merges_copies`, a load whose missing sectors are all on their way to the slice across, for one earlier load, waits
there for that load, as for an MSHR, and counts as a merge. On an H100, the sectors that cross are about half of those
that memory reads, though loads request each up to 58 times (`l2_fabric_sectors`, experiments/silicon).

The slice across never waits for what it passes on, so two partitions cannot wait for each other.
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.cache.replacement import touch
from memsim.hierarchy.cache.ways import recall
from memsim.hierarchy.codes import ALL, HIT, INVALIDATE, MERGE, READS, reads
from memsim.hierarchy.l2.lookup import allocate, count, reply, wait_for
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
def load_that_brings(m, line, sectors):
    """The one load under way that brings all of some sectors of a copy, or -1."""
    p = m.p[0]
    found = np.int64(-1)
    for sector in range(p.sectors_per_line):
        if sectors >> sector & 1:
            load = np.int64(m.crossing[line * p.sectors_per_line + sector])
            if load < 0 or (found >= 0 and load != found):
                return np.int64(-1)
            found = load
    return found


@inlined
def begin_crossing(m, r):
    """Note that load `r` brings its sectors to the slice across, where others may wait for it."""
    p = m.p[0]
    m.requests[r].waiters = -1
    for sector in range(p.sectors_per_line):
        if m.requests[r].mask >> sector & 1:
            m.crossing[m.requests[r].line * p.sectors_per_line + sector] = r


@inlined
def end_crossing(m, r, time):
    """Answer the requests that waited for load `r`, which has arrived at the slice across."""
    p = m.p[0]
    for sector in range(p.sectors_per_line):
        at = m.requests[r].line * p.sectors_per_line + sector
        if m.crossing[at] == r:
            m.crossing[at] = -1
    waiting = m.requests[r].waiters
    while waiting >= 0:
        after = m.requests[waiting].next
        reply(m, waiting, time)
        waiting = after


@inlined
def look_up_copy(m, s, r, time):
    """Look a request up in the slice across from its home.

    It is answered from a copy, or waits for one that is on its way (True), or is sent on (False).
    """
    p = m.p[0]
    if reads(m.requests[r].kind):
        tag = m.requests[r].line + p.n_lines
        mask = np.int64(m.requests[r].mask)
        way = recall(m.way_of, m.cache, tag)
        valid = np.int64(m.cache.ways[way].valid) if way >= 0 else 0
        if mask & valid == mask:
            touch(m.cache, m.sets_of[tag], way)
            op = m.requests[r].op
            m.counters[op, READS + HIT, 0] += 1
            m.counters[op, READS + HIT, 1] += m.sectors[mask]
            reply(m, r, time)
            return True
        if p.merges_copies:
            load = load_that_brings(m, m.requests[r].line, mask & (ALL ^ valid))
            if load >= 0:
                if way >= 0:
                    touch(m.cache, m.sets_of[tag], way)
                m.counters[m.requests[r].op, READS + MERGE, 0] += 1
                count(m, r, mask & valid, mask & (ALL ^ valid), 0, 0)
                wait_for(m, r, load)
                return True
            begin_crossing(m, r)
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
    read = reads(m.requests[r].kind)
    reply(m, r, time)
    if read and p.merges_copies:
        end_crossing(m, r, time)
