"""Looking packets up in L2: finding their lines, giving ways to those that are absent, and what follows from it.

A packet from an SM covers one L1 line, hence one or more L2 lines ("four consecutive L2 blocks are accessed on an L1
miss", Baghsorkhi 2012, 2.1).
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.cache.index import recall
from memsim.hierarchy.cache.replacement import replace, touch, victim
from memsim.hierarchy.cache.ways import oldest_way, way_of_slot
from memsim.hierarchy.codes import (
    ALL,
    FETCH,
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
from memsim.hierarchy.l2.state import FETCH_MISS, NO_ALLOCATE, UPDATE_MEMORY, VALIDATE
from memsim.hierarchy.requests import schedule, take
from memsim.jit.compiled import inlined


@inlined
def reply(m, r, time):
    """Answer an SM; the data's way back ends `return_cycles` later."""
    m.requests[r].time = time + m.p[0].return_cycles
    m.requests[r].key = m.requests[r].target
    m.requests[r].target = m.requests[r].sm
    schedule(m.to_sms, m.requests, r)


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
def evict(m, s, way, time):
    """Write the dirty sectors of a way back and, if inclusive, invalidate the copies above."""
    tag = np.int64(m.cache.tags[way])
    line = tag >> m.p[0].packet_bits
    shift = (tag - (line << m.p[0].packet_bits)) * m.p[0].sectors_per_line
    dirty = np.int64(m.cache.ways[way].dirty)
    if dirty:
        to_memory(m, s, WRITE_BACK, line, dirty << shift, m.writers[way], time)
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
def write(m, r, demand, valid, pending, activated):
    """Carry a write of the sectors `demand` out; returns (hits, sectors to fetch, sectors to write to DRAM)."""
    p = m.p[0]
    policy = p.write_miss if m.requests[r].kind == STORE else FETCH_MISS
    op = m.requests[r].op
    missing = demand & (ALL ^ valid) & (ALL ^ pending)
    through = missing if policy == UPDATE_MEMORY or policy == NO_ALLOCATE else 0
    active = demand ^ missing if policy == NO_ALLOCATE else demand
    for position in range(p.lines_per_packet):
        shift = position * p.sectors_per_line
        of_line = demand >> shift & p.line_mask
        way = m.packet_ways[position]
        if of_line and way >= 0:
            if policy == VALIDATE:
                m.cache.ways[way].valid = m.cache.ways[way].valid | missing >> shift & p.line_mask
            written = of_line & (ALL ^ through >> shift)
            if p.max_dirty and written and m.cache.ways[way].dirty == 0:
                m.dirty_ways[m.sets_of[(m.requests[r].line << p.packet_bits) + position]] += 1
            m.cache.ways[way].dirty = m.cache.ways[way].dirty | written
            m.cache.ways[way].activated = m.cache.ways[way].activated | active >> shift & p.line_mask
            m.writers[way] = op
    hits = demand & valid
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
            held = np.int64(m.cache.tags[way])
            line = held >> p.packet_bits
            shift = (held - (line << p.packet_bits)) * p.sectors_per_line
            to_memory(m, s, WRITE_BACK, line, np.int64(m.cache.ways[way].dirty) << shift, m.writers[way], time)
            m.cache.ways[way].dirty = 0
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
