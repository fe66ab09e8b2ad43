"""The L2 slices, advanced by one window of time.

A slice takes its requests in order of arrival, one at a time, and is busy for each sector it looks up. A packet from an
SM covers one L1 line, hence one or more L2 lines ("four consecutive L2 blocks are accessed on an L1 miss",
Baghsorkhi 2012, 2.1). Sectors that miss are fetched from DRAM by one request a packet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.config import WriteHit, WriteMiss
from memsim.hierarchy.cache import find, replace, touch, victim
from memsim.hierarchy.compiled import loop
from memsim.hierarchy.requests import (
    ATOMIC,
    BYPASS,
    FETCH,
    INVALIDATE,
    LOAD,
    REDUCTION,
    STORE,
    WRITE_BACK,
    deliver,
    give,
    pop,
    schedule,
    take,
)
from memsim.hierarchy.sm_state import ALL, ATOMICS, HIT, MERGE, MISS, NEVER, READS, SECTOR_MISS, WRITES

SLICE = np.dtype(
    [
        ("free", "<i8"),  # when it can take the next request
        ("done", "<i4"),  # sectors of its first request that are looked up already
        ("fetches", "<i4"),  # under way to DRAM
        ("write_backs", "<i4"),
        ("worst", "<i4"),  # severity of the worst outcome so far of the first request
        ("fetched", "<i4"),  # fetches sent so far
        ("pad", "<i4"),
    ]
)
# Severity of an event, and back: hit < merge < sector miss < miss.
SEVERITY = np.array([0, 3, 2, 1])
WORST = np.array([HIT, MERGE, SECTOR_MISS, MISS])
AGAIN = -2  # a request that cannot be carried out yet
FETCH_MISS, VALIDATE, UPDATE_MEMORY, NO_ALLOCATE = range(4)
WRITE_MISS = {
    WriteMiss.fetch: FETCH_MISS,
    WriteMiss.validate: VALIDATE,
    WriteMiss.update_memory: UPDATE_MEMORY,
    WriteMiss.no_allocate: NO_ALLOCATE,
}
WRITE_HIT = {WriteHit.any: 0, WriteHit.write_activated: 1}


class Slices(NamedTuple):
    """All L2 slices: parameters and state."""

    p: np.ndarray
    place: np.ndarray
    sets_of: np.ndarray  # set of every L2 line (L1 line number * lines a packet + position)
    slices: np.ndarray
    ways: np.ndarray
    writers: np.ndarray  # [way] static op that last wrote there
    sets: np.ndarray
    buckets: np.ndarray  # of the cache's index
    fetch_of: np.ndarray  # [way * sectors a line + sector]: fetch of a pending sector, its slice's count << 32 | number
    spots: np.ndarray  # [position] way of each L2 line of the packet being looked up
    sharers: np.ndarray  # [line, word]: SMs that hold the L1 line (inclusive L2 only)
    requests: np.ndarray
    free_requests: np.ndarray
    from_sms: np.ndarray  # calendar
    queues: np.ndarray  # requests of each slice
    from_dram: np.ndarray  # calendar
    answers: np.ndarray  # queue of finished fetches and write-backs of each slice
    to_dram: np.ndarray  # calendar
    to_sms: np.ndarray  # calendar
    counters: np.ndarray  # [op, event, unit] of level l2
    sectors: np.ndarray
    whole: np.ndarray  # a mask widened to whole L2 sectors


@loop
def reply(m, r, time):
    """Answer an SM; the data's way back ends `return_cycles` later."""
    m.requests[r].time = time + m.p[0].return_cycles
    m.requests[r].key = m.requests[r].place
    m.requests[r].place = m.requests[r].sm
    schedule(m.to_sms, m.requests, r)


@loop
def to_memory(m, s, kind, line, mask, op, time):
    """Send a fetch or a write-back to DRAM."""
    r = take(m.free_requests)
    m.requests[r].time = time
    m.requests[r].line = line
    m.requests[r].key = s
    m.requests[r].waiters = -1
    m.requests[r].sm = s
    m.requests[r].op = op
    m.requests[r].place = m.place[line].channel
    m.requests[r].bank = m.place[line].bank
    m.requests[r].row = m.place[line].row
    m.requests[r].kind = kind
    m.requests[r].mask = mask
    schedule(m.to_dram, m.requests, r)
    if kind == FETCH:
        m.slices[s].fetches += 1
    else:
        m.slices[s].write_backs += 1
    return r


@loop
def invalidate_sharers(m, s, line, mask, time):
    """An inclusive L2 takes the line out of the L1s that got it."""
    if m.p[0].l1_whole:
        mask = m.p[0].all_sectors
    for word in range(m.sharers.shape[1]):
        bits = np.int64(m.sharers[line, word])
        sm = word << 5
        while bits:
            if bits & 1:
                r = take(m.free_requests)
                m.requests[r].line = line
                m.requests[r].sm = sm
                m.requests[r].place = s
                m.requests[r].kind = INVALIDATE
                m.requests[r].mask = mask
                reply(m, r, time)
            bits >>= 1
            sm += 1
        if m.p[0].l1_whole or m.p[0].lines_per_packet == 1:
            m.sharers[line, word] = 0


@loop
def evict(m, s, way, time):
    """Write the dirty sectors of a way back and, if inclusive, invalidate the copies above."""
    tag = m.ways[way].tag
    line = tag >> m.p[0].packet_bits
    shift = (tag - (line << m.p[0].packet_bits)) * m.p[0].sectors_per_line
    dirty = np.int64(m.ways[way].dirty)
    if dirty:
        to_memory(m, s, WRITE_BACK, line, dirty << shift, m.writers[way], time)
    if m.p[0].inclusive:
        valid = np.int64(m.ways[way].valid)
        if valid:
            invalidate_sharers(m, s, line, valid << shift, time)


@loop
def allocate(m, s, tag, time):
    """A way for an L2 line, or -1 when all of its set wait for DRAM."""
    p = m.p[0]
    at = m.sets_of[tag]
    way = victim(m.ways, m.sets, at, p.l2_ways, p.l2_policy, p.key)
    if way >= 0:
        if m.ways[way].tag >= 0:
            evict(m, s, way, time)
        replace(m.buckets, m.ways, m.sets, 0, p.l2_bits, at, way, p.l2_ways, p.l2_policy, tag)
    return way


@loop
def read_sectors(m, way, mask):
    """(hits, sectors to fetch, sectors under way) of a read or an atomic."""
    hits = mask & np.int64(m.ways[way].valid)
    pending = (mask ^ hits) & np.int64(m.ways[way].pending)
    return hits, mask ^ hits ^ pending, pending


@loop
def write_sectors(m, s, way, mask, line, shift, op, time):
    """A store's sectors of one L2 line: (hits, sectors to fetch, sectors under way)."""
    valid = np.int64(m.ways[way].valid)
    activated = np.int64(m.ways[way].activated)
    hits = mask & valid
    if m.p[0].write_hit:
        hits &= activated
    pending = mask & (ALL ^ valid) & np.int64(m.ways[way].pending)
    absent = mask & (ALL ^ valid) & (ALL ^ pending)
    policy = m.p[0].write_miss
    dirty = mask
    fetch = 0
    if absent and policy == VALIDATE:
        m.ways[way].valid = valid | absent
    elif absent:
        if policy != FETCH_MISS:
            dirty = mask ^ absent
            to_memory(m, s, WRITE_BACK, line, absent << shift, op, time)
        if policy != NO_ALLOCATE:
            fetch = absent
    m.ways[way].dirty = m.ways[way].dirty | dirty
    m.ways[way].activated = activated | (dirty if policy == NO_ALLOCATE else mask)
    m.writers[way] = op
    return hits, fetch, pending


@loop
def look_up_line(m, s, r, tag, mask, shift, time):
    """Look the sectors `mask` of one L2 line up: (way, hits, to fetch, to wait for, event).

    The way is -1 for a store that allocates nothing; the event is AGAIN when it must be tried again.
    """
    p = m.p[0]
    kind = m.requests[r].kind
    line = m.requests[r].line
    way = find(m.buckets, m.ways, 0, p.l2_bits, tag)
    absent = way < 0
    if absent:
        if kind == STORE and p.write_miss == NO_ALLOCATE:
            to_memory(m, s, WRITE_BACK, line, mask << shift, m.requests[r].op, time)
            return -1, 0, 0, 0, MISS
        way = allocate(m, s, tag, time)
        if way < 0:
            return -1, 0, 0, 0, AGAIN
    else:
        touch(m.ways, m.sets, m.sets_of[tag], way, p.l2_ways, p.l2_policy)
    if kind == STORE:
        hits, fetch, pending = write_sectors(m, s, way, mask, line, shift, m.requests[r].op, time)
    else:
        hits, fetch, pending = read_sectors(m, way, mask)
        if kind == ATOMIC or kind == REDUCTION:
            m.ways[way].dirty = m.ways[way].dirty | mask
            m.ways[way].activated = m.ways[way].activated | mask
            m.writers[way] = m.requests[r].op
    if hits == mask:
        return way, hits, 0, 0, HIT
    if hits | pending == mask:
        return way, hits, 0, pending, MERGE
    if fetch:
        fetch = np.int64(m.whole[fetch]) & (ALL ^ np.int64(m.ways[way].valid)) & (ALL ^ np.int64(m.ways[way].pending))
        m.ways[way].pending = m.ways[way].pending | fetch
    return way, hits, fetch, pending, MISS if absent or p.sectors_per_line == 1 else SECTOR_MISS


@loop
def wait_for(m, r, fetch):
    """Let request `r` wait for a fetch."""
    m.requests[r].next = m.requests[fetch].waiters
    m.requests[fetch].waiters = r


@loop
def newest_fetch(m, line, need):
    """The youngest fetch under way that brings any of the sectors `need` of an L1 line, or -1.

    Fetches of one L1 line go to one row of one bank, so they are answered in order: the youngest is the last.
    """
    p = m.p[0]
    newest = np.int64(-1)
    for sector in range(p.lines_per_packet * p.sectors_per_line):
        if need >> sector & 1:
            position = sector // p.sectors_per_line
            within = sector - position * p.sectors_per_line
            way = find(m.buckets, m.ways, 0, p.l2_bits, (line << p.packet_bits) + position)
            if way >= 0 and m.ways[way].pending >> within & 1:
                newest = max(newest, m.fetch_of[way * p.sectors_per_line + within])
    return newest if newest < 0 else newest & 0xFFFFFFFF


@loop
def serve(m, s, r, time):
    """Look the first request of a slice up, from where it was left.

    Returns the fetch that brings the last of its data, -1 if there is none, AGAIN when it must be tried again.
    """
    p = m.p[0]
    line = m.requests[r].line
    op = m.requests[r].op
    kind = m.requests[r].kind
    first = READS if kind <= BYPASS else (WRITES if kind == STORE else ATOMICS)
    line_mask = (1 << p.sectors_per_line) - 1
    todo = np.int64(m.requests[r].mask) & (ALL ^ m.slices[s].done)
    need = np.int64(m.requests[r].need)
    worst = m.slices[s].worst
    fetch = 0
    if p.inclusive and kind == LOAD:
        sm = m.requests[r].sm
        m.sharers[line, sm >> 5] = m.sharers[line, sm >> 5] | 1 << (sm & 31)
    position = 0
    while todo >> position * p.sectors_per_line:
        shift = position * p.sectors_per_line
        part = todo >> shift & line_mask
        if part:
            way, hits, miss, pending, event = look_up_line(
                m, s, r, (line << p.packet_bits) + position, part, shift, time
            )
            if event == AGAIN:
                break
            m.spots[position] = way
            todo ^= part << shift
            worst = max(worst, SEVERITY[event])
            fetch |= miss << shift
            need |= (part & (miss | pending)) << shift
            if hits:
                m.counters[op, first + HIT, 1] += m.sectors[hits]
            if pending:
                m.counters[op, first + MERGE, 1] += m.sectors[pending]
            if hits | pending != part:
                m.counters[op, first + event, 1] += m.sectors[part ^ hits ^ pending]
        position += 1
    m.requests[r].need = need
    last = send_fetch(m, s, line, fetch, op, time) if fetch else -1
    if todo:
        m.slices[s].done = np.int64(m.requests[r].mask) ^ todo
        m.slices[s].worst = worst
        return AGAIN
    m.counters[op, first + WORST[worst], 0] += 1
    m.slices[s].done = 0
    m.slices[s].worst = 0
    if kind == STORE or kind == REDUCTION or need == 0:
        return -1
    return last if last >= 0 else newest_fetch(m, line, need)


@loop
def send_fetch(m, s, line, mask, op, time):
    """Fetch sectors of an L1 line from DRAM and note who brings each, in the ways just looked up; returns the fetch."""
    p = m.p[0]
    f = to_memory(m, s, FETCH, line, mask, op, time)
    m.slices[s].fetched += 1
    numbered = np.int64(m.slices[s].fetched) << 32 | f
    sector = 0
    while mask >> sector:
        if mask >> sector & 1:
            position = sector >> p.sector_bits
            m.fetch_of[(m.spots[position] << p.sector_bits) + sector - (position << p.sector_bits)] = numbered
        sector += 1
    return f


@loop
def arrive(m, s, time):
    """Handle the slice's first answer from DRAM."""
    f = pop(m.answers, s, m.requests)
    if m.requests[f].kind == WRITE_BACK:
        m.slices[s].write_backs -= 1
        give(m.free_requests, f)
        return
    p = m.p[0]
    m.slices[s].fetches -= 1
    mask = np.int64(m.requests[f].mask)
    line = m.requests[f].line
    for position in range(p.lines_per_packet):
        part = mask >> position * p.sectors_per_line & ((1 << p.sectors_per_line) - 1)
        if part:
            way = find(m.buckets, m.ways, 0, p.l2_bits, (line << p.packet_bits) + position)
            m.ways[way].valid = m.ways[way].valid | part
            m.ways[way].pending = m.ways[way].pending & (ALL ^ part)
    r = m.requests[f].waiters
    while r >= 0:
        after = m.requests[r].next
        reply(m, r, time)
        r = after
    give(m.free_requests, f)


@loop
def advance_slice(m, s, end):
    """Advance one slice to `end`. A request that cannot be carried out waits for the slice's next answer."""
    p = m.p[0]
    blocked = False
    while True:
        r = m.queues[s].head
        f = m.answers[s].head
        request = NEVER if r < 0 or blocked else max(m.requests[r].time, m.slices[s].free)
        answer = NEVER if f < 0 else m.requests[f].time
        if min(request, answer) >= end:
            return
        if answer <= request:
            arrive(m, s, answer)
            if blocked:
                m.slices[s].free = max(m.slices[s].free, answer)
                blocked = False
            continue
        room = m.slices[s].fetches < p.l2_mshrs and m.slices[s].write_backs + p.most_writes <= p.l2_mshrs
        last = serve(m, s, r, request) if room else AGAIN
        if last == AGAIN:
            blocked = True
            continue
        pop(m.queues, s, m.requests)
        m.slices[s].free = request + p.sector_cycles * m.sectors[m.requests[r].mask]
        if last < 0:
            reply(m, r, request)
        else:
            wait_for(m, r, last)


@loop
def advance_slices(m, start, end):
    """Advance every slice over [start, end)."""
    deliver(m.from_sms, start, end, m.requests, m.queues)
    deliver(m.from_dram, start, end, m.requests, m.answers)
    for s in range(len(m.slices)):
        advance_slice(m, s, end)
