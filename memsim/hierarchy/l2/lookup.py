"""Looking packets up in L2: finding their lines, giving ways to those that are absent, and what follows from it.

A packet from an SM covers one L1 line, hence one or more L2 lines ("four consecutive L2 blocks are accessed on an L1
miss", Baghsorkhi 2012, 2.1).
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.cache.replacement import replace, touch, victim
from memsim.hierarchy.cache.ways import oldest_way, recall, way_of_slot
from memsim.hierarchy.codes import (
    ALL,
    FETCH,
    FILL,
    HIT,
    INVALIDATE,
    MERGE,
    MISS,
    SECTOR_MISS,
    STORE,
    WRITE_BACK,
    first_event,
    reads,
)
from memsim.hierarchy.l2.prefetcher import forget_prefetched, use_prefetched
from memsim.hierarchy.l2.state import FETCH_MISS, NO_ALLOCATE, UPDATE_MEMORY, VALIDATE
from memsim.hierarchy.requests import forward, schedule, take
from memsim.jit.compiled import inlined


@inlined
def reply(m, r, time):
    """Answer an SM; the data's way back ends `return_cycles` later."""
    time += m.p[0].return_cycles
    forward(m.to_sms, m.requests, r, time, m.requests[r].target, m.requests[r].sm)


@inlined
def wait_for(m, r, bringer):
    """Let request `r` wait for one that brings its data: a fetch, or a load from the other partition."""
    m.requests[r].next = m.requests[bringer].waiters
    m.requests[bringer].waiters = r


@inlined
def to_memory(m, s, kind, line, mask, op, time):
    """Send a fetch or a write-back to DRAM."""
    r = take(m.free_requests)
    m.requests[r].time = time
    m.requests[r].line = line
    m.requests[r].key = s
    m.requests[r].waiters = -1
    m.requests[r].slice = s
    m.requests[r].op = op
    m.requests[r].target = m.mapping[line].channel
    m.requests[r].bank = m.mapping[line].bank
    m.requests[r].row = m.mapping[line].row
    m.requests[r].kind = kind
    m.requests[r].mask = mask
    schedule(m.to_dram, m.requests, r)
    if kind == FETCH:
        m.slices[s].fetches += 1
    else:
        m.slices[s].write_backs += 1
    return r


@inlined
def invalidate_sharers(m, s, line, mask, time):
    """An inclusive L2 takes the line out of the L1s that got it."""
    if m.p[0].l1_unsectored:
        mask = m.p[0].all_sectors
    for word in range(m.p[0].sharer_words):
        at = line * m.p[0].sharer_words + word
        bits = np.int64(m.sharers[at])
        sm = word << 5
        while bits:
            if bits & 1:
                r = take(m.free_requests)
                m.requests[r].line = line
                m.requests[r].sm = sm
                m.requests[r].target = s
                m.requests[r].kind = INVALIDATE
                m.requests[r].mask = mask
                reply(m, r, time)
            bits >>= 1
            sm += 1
        if m.p[0].l1_unsectored or m.p[0].lines_per_packet == 1:
            m.sharers[at] = 0


@inlined
def partial_sectors(m, way):
    """Sectors of a way that stores covered in part, whose rest is in memory alone and is not on its way."""
    held = np.int64(m.cache.ways[way].valid) | np.int64(m.cache.ways[way].pending)
    return np.int64(m.cache.ways[way].dirty) & (ALL ^ held)


@inlined
def write_back(m, s, way, line, shift, time):
    """Write the dirty sectors of a way to DRAM; memory that cannot write parts of a sector reads their rest first."""
    if m.p[0].max_partial:
        partial = partial_sectors(m, way)
        if partial:
            to_memory(m, s, FILL, line, partial << shift, m.writers[way], time)
    to_memory(m, s, WRITE_BACK, line, np.int64(m.cache.ways[way].dirty) << shift, m.writers[way], time)


@inlined
def clean_way(m, s, way, time):
    """Write the dirty sectors of a way back; the line stays, and is complete now."""
    p = m.p[0]
    tag = np.int64(m.cache.tags[way])
    line = tag >> p.packet_bits
    write_back(m, s, way, line, (tag - (line << p.packet_bits)) * p.sectors_per_line, time)
    if p.max_partial:
        m.cache.ways[way].valid = m.cache.ways[way].valid | partial_sectors(m, way)
    m.cache.ways[way].dirty = 0


@inlined
def evict(m, s, way, time):
    """Write the dirty sectors of a way back and, if inclusive, invalidate the copies above."""
    tag = np.int64(m.cache.tags[way])
    line = tag >> m.p[0].packet_bits
    shift = (tag - (line << m.p[0].packet_bits)) * m.p[0].sectors_per_line
    if m.cache.ways[way].dirty:
        write_back(m, s, way, line, shift, time)
    if m.p[0].inclusive:
        valid = np.int64(m.cache.ways[way].valid)
        if valid:
            invalidate_sharers(m, s, line, valid << shift, time)


@inlined
def allocate(m, s, tag, time):
    """A way for an L2 line, or -1 when all of its set wait for DRAM."""
    p = m.p[0]
    at = m.sets_of[tag]
    way = victim(m.cache, at)
    if way >= 0:
        if m.cache.tags[way] >= 0:
            if p.max_dirty and m.cache.ways[way].dirty:
                m.dirty_ways[at] -= 1
            evict(m, s, way, time)
        m.way_of[tag] = way
        replace(m.cache, at, way, tag)
        m.cache.ways[way].activated = 0
        if p.max_partial:
            m.written[way] = 0
        if p.prefetcher:
            forget_prefetched(m, way)
    return way


@inlined
def find_lines(m, tag, demand):
    """Note the ways of the L2 lines that the sectors `demand` lie in; returns the sectors whose line is absent."""
    p = m.p[0]
    absent = 0
    for position in range(p.lines_per_packet):
        of_line = demand & p.line_mask << position * p.sectors_per_line
        if of_line:
            way = recall(m.way_of, m.cache, tag + position)
            m.packet_ways[position] = way
            absent |= of_line if way < 0 else 0
    return absent


@inlined
def allocate_lines(m, s, tag, absent, time):
    """Give ways to the lines of the sectors `absent`, in order; returns the sectors from the first without one on."""
    p = m.p[0]
    for position in range(p.lines_per_packet):
        shift = position * p.sectors_per_line
        if absent & p.line_mask << shift:
            way = allocate(m, s, tag + position, time)
            if way < 0:
                return ALL & ALL << shift
            m.packet_ways[position] = way
    return 0


@inlined
def gather(m, tag, present):
    """What the ways hold of the lines that were found, as masks of the packet: (valid, pending, activated).

    They were used now. Of the sectors asked for, `present` are those whose line was not absent.
    """
    p = m.p[0]
    valid = 0
    pending = 0
    activated = 0
    for position in range(p.lines_per_packet if present else 0):
        shift = position * p.sectors_per_line
        if present & p.line_mask << shift:
            way = m.packet_ways[position]
            valid |= np.int64(m.cache.ways[way].valid) << shift
            pending |= np.int64(m.cache.ways[way].pending) << shift
            activated |= np.int64(m.cache.ways[way].activated) << shift
            touch(m.cache, m.sets_of[tag + position], way)
    return valid, pending, activated


@inlined
def partial_of_packet(m, demand):
    """Sectors of the packet that earlier stores covered in part, of the lines that `demand` lies in."""
    p = m.p[0]
    partial = 0
    for position in range(p.lines_per_packet):
        shift = position * p.sectors_per_line
        if demand & p.line_mask << shift and m.packet_ways[position] >= 0:
            partial |= partial_sectors(m, m.packet_ways[position]) << shift
    return partial


@inlined
def still_partial(m, way, sectors, words):
    """Note the words that a store writes of a line; returns those of `sectors` that are not complete with them."""
    written = np.int64(m.written[way]) | np.int64(words) & ((1 << 8 * m.p[0].sectors_per_line) - 1)
    m.written[way] = written
    partial = 0
    for k in range(m.p[0].sectors_per_line):
        if sectors >> k & 1 and written >> 8 * k & 0xFF != 0xFF:
            partial |= 1 << k
    return partial


@inlined
def write(m, r, demand, valid, pending, activated):
    """Carry a write of the sectors `demand` out; returns (hits, sectors to fetch, sectors to write to DRAM)."""
    p = m.p[0]
    policy = p.write_miss if m.requests[r].kind == STORE else FETCH_MISS
    op = m.requests[r].op
    here = valid
    if p.max_partial and policy == VALIDATE:
        here |= partial_of_packet(m, demand)
    missing = demand & (ALL ^ here) & (ALL ^ pending)
    through = missing if policy == UPDATE_MEMORY or policy == NO_ALLOCATE else 0
    active = demand ^ missing if policy == NO_ALLOCATE else demand
    for position in range(p.lines_per_packet):
        shift = position * p.sectors_per_line
        of_line = demand >> shift & p.line_mask
        way = m.packet_ways[position]
        if of_line and way >= 0:
            if policy == VALIDATE:
                known = demand & (ALL ^ valid) & (ALL ^ pending)
                if p.max_partial and m.requests[r].partial & known:
                    stored = (m.requests[r].partial & known) >> shift & p.line_mask
                    known ^= still_partial(m, way, stored, m.requests[r].words >> 8 * shift) << shift
                m.cache.ways[way].valid = m.cache.ways[way].valid | known >> shift & p.line_mask
            written = of_line & (ALL ^ through >> shift)
            if p.max_dirty and written and m.cache.ways[way].dirty == 0:
                m.dirty_ways[m.sets_of[(m.requests[r].line << p.packet_bits) + position]] += 1
            m.cache.ways[way].dirty = m.cache.ways[way].dirty | written
            m.cache.ways[way].activated = m.cache.ways[way].activated | active >> shift & p.line_mask
            m.writers[way] = op
    hits = demand & here
    if p.write_hit and m.requests[r].kind == STORE:
        hits &= activated
    return hits, missing if policy == FETCH_MISS or policy == UPDATE_MEMORY else 0, through


@inlined
def write_through(m, s, r, sectors, time):
    """Send what a store's policy does not keep on to DRAM, a request an L2 line."""
    p = m.p[0]
    for position in range(p.lines_per_packet):
        of_line = sectors & p.line_mask << position * p.sectors_per_line
        if of_line:
            to_memory(m, s, WRITE_BACK, m.requests[r].line, of_line, m.requests[r].op, time)


@inlined
def clean(m, s, r, time):
    """Write the oldest dirty lines back, which stay, of the sets where request `r` made more dirty than may be."""
    p = m.p[0]
    tag = m.requests[r].line << p.packet_bits
    mask = np.int64(m.requests[r].mask)
    for position in range(p.lines_per_packet):
        at = m.sets_of[tag + position]
        if mask & p.line_mask << position * p.sectors_per_line and m.dirty_ways[at] > p.max_dirty:
            way = oldest_way(m.cache, at)
            while m.cache.ways[way].dirty == 0:
                way = way_of_slot(m.cache, at, m.cache.ways[way].newer)
            clean_way(m, s, way, time)
            m.dirty_ways[at] -= 1


@inlined
def surplus_partial_way(m, at):
    """The oldest way with partial sectors of a set that has more of these than may be, or -1."""
    found, oldest, way = 0, np.int64(-1), oldest_way(m.cache, at)
    for _ in range(m.cache.shape[0].ways):
        if partial_sectors(m, way):
            found += 1
            oldest = way if oldest < 0 else oldest
        way = way_of_slot(m.cache, at, m.cache.ways[way].newer)
    return oldest if found > m.p[0].max_partial else np.int64(-1)


@inlined
def complete(m, s, r, time):
    """Complete the oldest partial lines from memory of the sets where request `r` left more of these than may be."""
    p = m.p[0]
    tag = m.requests[r].line << p.packet_bits
    stored = np.int64(m.requests[r].partial)
    for position in range(p.lines_per_packet):
        if stored & p.line_mask << position * p.sectors_per_line:
            at = m.sets_of[tag + position]
            way = surplus_partial_way(m, at)
            if way >= 0:
                clean_way(m, s, way, time)
                if p.max_dirty:
                    m.dirty_ways[at] -= 1


@inlined
def await_sectors(m, fetch):
    """Mark the sectors that a fetch brings as pending."""
    p = m.p[0]
    for position in range(p.lines_per_packet):
        of_line = fetch >> position * p.sectors_per_line & p.line_mask
        if of_line:
            way = m.packet_ways[position]
            m.cache.ways[way].pending = m.cache.ways[way].pending | of_line


@inlined
def count(m, r, hits, merges, sector_misses, misses):
    """Count the sectors of a lookup under their outcomes; returns the severity of the worst."""
    op = m.requests[r].op
    kind = m.requests[r].kind
    first = first_event(kind)
    worst = 0
    if hits:
        m.counters[op, first + HIT, 1] += m.sectors[hits]
    if merges:
        m.counters[op, first + MERGE, 1] += m.sectors[merges]
        worst = 1
    if sector_misses:
        m.counters[op, first + SECTOR_MISS, 1] += m.sectors[sector_misses]
        worst = 2
    if misses:
        m.counters[op, first + MISS, 1] += m.sectors[misses]
        worst = 3
    return worst


@inlined
def look_up_lines(m, s, r, demand, time):
    """Look sectors of a packet up whose L2 lines lie in different sets: (looked up, to fetch, to write to DRAM).

    All lines are found, then ways given to those that are absent, then the outcome worked out for all at once on masks
    of the packet: loads that do not wait for each other, and few branches. When a line finds all ways of its set
    pending, it and those after it are left.
    """
    p = m.p[0]
    kind = m.requests[r].kind
    tag = m.requests[r].line << p.packet_bits
    absent = find_lines(m, tag, demand)
    if absent and not (kind == STORE and p.write_miss == NO_ALLOCATE):
        left = allocate_lines(m, s, tag, absent, time)
        demand &= ALL ^ left
        absent &= ALL ^ left
    valid, pending, activated = gather(m, tag, demand & (ALL ^ absent))
    if p.prefetcher:
        use_prefetched(m, s, demand & (ALL ^ absent), valid)
    hits = demand & valid
    fetch = demand & (ALL ^ valid) & (ALL ^ pending)
    through = 0
    if not reads(kind):
        hits, fetch, through = write(m, r, demand, valid, pending, activated)
    merges = demand & (ALL ^ valid) & pending
    rest = demand ^ hits ^ merges
    if fetch:
        fetch = np.int64(m.fetch_bytes_mask[fetch]) & (ALL ^ valid) & (ALL ^ pending)
        await_sectors(m, fetch)
    m.requests[r].need = m.requests[r].need | demand & (fetch | merges)
    missed = rest if p.sectors_per_line == 1 else rest & absent
    worst = count(m, r, hits, merges, rest ^ missed, missed)
    m.slices[s].worst = max(m.slices[s].worst, worst)
    return demand, fetch, through
