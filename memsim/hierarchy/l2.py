"""The L2 slices, advanced by one window of time.

A slice takes its requests in order of arrival, one at a time, and is busy for each sector it looks up. A packet from an
SM covers one L1 line, hence one or more L2 lines ("four consecutive L2 blocks are accessed on an L1 miss",
Baghsorkhi 2012, 2.1). Sectors that miss are fetched from DRAM by one request a packet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.config import WriteHit, WriteMiss
from memsim.hierarchy.cache import recall, replace, touch, victim
from memsim.hierarchy.compiled import loop
from memsim.hierarchy.prefetch import prefetch
from memsim.hierarchy.requests import (
    BYPASS,
    FETCH,
    INVALIDATE,
    LOAD,
    REDUCTION,
    STORE,
    WRITE_BACK,
    append,
    give,
    pop,
    schedule,
    take,
    take_bucket,
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
# Events by severity.
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
    way_of: np.ndarray  # way of every L2 line (see cache.recall)
    fetch_of: np.ndarray  # [way * sectors a line + sector]: fetch of a pending sector, its slice's count << 32 | number
    spots: np.ndarray  # [position] way of each L2 line of the packet being looked up
    brings: np.ndarray  # [request, position] way that a fetch brings each L2 line to
    sharers: np.ndarray  # [line * sharer_words + word]: SMs that hold the L1 line (inclusive L2 only)
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
    for word in range(m.p[0].sharer_words):
        at = line * m.p[0].sharer_words + word
        bits = np.int64(m.sharers[at])
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
            m.sharers[at] = 0


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
    way = victim(m.ways, m.sets, at, p.l2_ways, p.group_bits, p.l2_policy, p.key)
    if way >= 0:
        if m.ways[way].tag >= 0:
            evict(m, s, way, time)
        m.way_of[tag] = way
        replace(m.ways, m.sets, at, way, p.l2_ways, p.group_bits, p.l2_policy, tag)
    return way


@loop
def find_lines(m, tag, asked):
    """Note the ways of the L2 lines that the sectors `asked` lie in; returns the sectors whose line is absent."""
    p = m.p[0]
    absent = 0
    for position in range(p.lines_per_packet):
        part = asked & p.line_mask << position * p.sectors_per_line
        if part:
            way = recall(m.way_of, m.ways, tag + position)
            m.spots[position] = way
            absent |= part if way < 0 else 0
    return absent


@loop
def allocate_lines(m, s, tag, absent, time):
    """Give ways to the lines of the sectors `absent`, in order; returns the sectors from the first without one on."""
    p = m.p[0]
    for position in range(p.lines_per_packet):
        shift = position * p.sectors_per_line
        if absent & p.line_mask << shift:
            way = allocate(m, s, tag + position, time)
            if way < 0:
                return ALL & ALL << shift
            m.spots[position] = way
    return 0


@loop
def gather(m, tag, asked, absent):
    """What the ways of a packet hold, as masks of the packet: (valid, pending, activated). They were used now."""
    p = m.p[0]
    valid = 0
    pending = 0
    activated = 0
    for position in range(p.lines_per_packet):
        shift = position * p.sectors_per_line
        way = m.spots[position]
        if asked & p.line_mask << shift and way >= 0:
            valid |= np.int64(m.ways[way].valid) << shift
            pending |= np.int64(m.ways[way].pending) << shift
            activated |= np.int64(m.ways[way].activated) << shift
            if not absent & p.line_mask << shift:
                touch(m.ways, m.sets, m.sets_of[tag + position], way, p.l2_ways, p.group_bits, p.l2_policy)
    return valid, pending, activated


@loop
def write(m, r, asked, valid, pending, activated):
    """Carry a write of the sectors `asked` out; returns (hits, sectors to fetch, sectors to write to DRAM)."""
    p = m.p[0]
    policy = p.write_miss if m.requests[r].kind == STORE else FETCH_MISS
    op = m.requests[r].op
    missing = asked & (ALL ^ valid) & (ALL ^ pending)
    through = missing if policy == UPDATE_MEMORY or policy == NO_ALLOCATE else 0
    active = asked ^ missing if policy == NO_ALLOCATE else asked
    for position in range(p.lines_per_packet):
        shift = position * p.sectors_per_line
        part = asked >> shift & p.line_mask
        way = m.spots[position]
        if part and way >= 0:
            if policy == VALIDATE:
                m.ways[way].valid = m.ways[way].valid | missing >> shift & p.line_mask
            m.ways[way].dirty = m.ways[way].dirty | (part & (ALL ^ through >> shift))
            m.ways[way].activated = m.ways[way].activated | active >> shift & p.line_mask
            m.writers[way] = op
    hits = asked & valid
    if p.write_hit and m.requests[r].kind == STORE:
        hits &= activated
    return hits, missing if policy == FETCH_MISS or policy == UPDATE_MEMORY else 0, through


@loop
def write_through(m, s, r, sectors, time):
    """Send what a store's policy does not keep on to DRAM, a request an L2 line."""
    p = m.p[0]
    for position in range(p.lines_per_packet):
        part = sectors & p.line_mask << position * p.sectors_per_line
        if part:
            to_memory(m, s, WRITE_BACK, m.requests[r].line, part, m.requests[r].op, time)


@loop
def await_sectors(m, fetch):
    """Mark the sectors that a fetch brings as pending."""
    p = m.p[0]
    for position in range(p.lines_per_packet):
        part = fetch >> position * p.sectors_per_line & p.line_mask
        if part:
            way = m.spots[position]
            m.ways[way].pending = m.ways[way].pending | part


@loop
def look_up_lines(m, s, r, asked, time):
    """Look sectors of a packet up whose L2 lines lie in different sets: (looked up, to fetch, to write to DRAM).

    All lines are found, then ways given to those that are absent, then the outcome worked out for all at once on masks
    of the packet: loads that do not wait for each other, and few branches. When a line finds all ways of its set
    pending, it and those after it are left.
    """
    p = m.p[0]
    kind = m.requests[r].kind
    op = m.requests[r].op
    tag = m.requests[r].line << p.packet_bits
    absent = find_lines(m, tag, asked)
    if absent and not (kind == STORE and p.write_miss == NO_ALLOCATE):
        left = allocate_lines(m, s, tag, absent, time)
        asked &= ALL ^ left
        absent &= ALL ^ left
    valid, pending, activated = gather(m, tag, asked, absent)
    hits = asked & valid
    fetch = asked & (ALL ^ valid) & (ALL ^ pending)
    through = 0
    if kind > BYPASS:
        hits, fetch, through = write(m, r, asked, valid, pending, activated)
    merges = asked & (ALL ^ valid) & pending
    rest = asked ^ hits ^ merges
    if fetch:
        fetch = np.int64(m.whole[fetch]) & (ALL ^ valid) & (ALL ^ pending)
        await_sectors(m, fetch)
    m.requests[r].need = m.requests[r].need | asked & (fetch | merges)
    first = READS if kind <= BYPASS else (WRITES if kind == STORE else ATOMICS)
    missed = rest if p.sectors_per_line == 1 else rest & absent
    worst = 0
    if hits:
        m.counters[op, first + HIT, 1] += m.sectors[hits]
    if merges:
        m.counters[op, first + MERGE, 1] += m.sectors[merges]
        worst = 1
    if rest ^ missed:
        m.counters[op, first + SECTOR_MISS, 1] += m.sectors[rest ^ missed]
        worst = 2
    if missed:
        m.counters[op, first + MISS, 1] += m.sectors[missed]
        worst = 3
    m.slices[s].worst = max(m.slices[s].worst, worst)
    return asked, fetch, through


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
            way = recall(m.way_of, m.ways, (line << p.packet_bits) + position)
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
    todo = np.int64(m.requests[r].mask) & (ALL ^ m.slices[s].done)
    fetch = 0
    through = 0
    if p.inclusive and kind == LOAD:
        sm = m.requests[r].sm
        at = line * p.sharer_words + (sm >> 5)
        m.sharers[at] = m.sharers[at] | 1 << (sm & 31)
    step = p.step_mask  # the sectors looked up at once: all, or those of one L2 line
    while todo:
        asked = todo & step
        if asked:
            looked_up, brings, passes = look_up_lines(m, s, r, asked, time)
            fetch |= brings
            through |= passes
            todo ^= looked_up
            if looked_up != asked:
                break
        step <<= p.sectors_per_line
    if through:
        write_through(m, s, r, through, time)
    last = send_fetch(m, s, line, fetch, op, time) if fetch else -1
    if todo:
        m.slices[s].done = np.int64(m.requests[r].mask) ^ todo
        return AGAIN
    first = READS if kind <= BYPASS else (WRITES if kind == STORE else ATOMICS)
    m.counters[op, first + WORST[m.slices[s].worst], 0] += 1
    m.slices[s].done = 0
    m.slices[s].worst = 0
    need = np.int64(m.requests[r].need)
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
            way = m.spots[position]
            m.brings[f, position] = way
            m.fetch_of[(way << p.sector_bits) + sector - (position << p.sector_bits)] = numbered
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
    for position in range(p.lines_per_packet):
        part = mask >> position * p.sectors_per_line & p.line_mask
        if part:
            way = m.brings[f, position]
            m.ways[way].valid = m.ways[way].valid | part
            m.ways[way].pending = m.ways[way].pending & (ALL ^ part)
    r = m.requests[f].waiters
    while r >= 0:
        after = m.requests[r].next
        reply(m, r, time)
        r = after
    give(m.free_requests, f)


@loop
def foresee(m, r):
    """Ask the host for the ways that a request will find or replace."""
    p = m.p[0]
    tag = m.requests[r].line << p.packet_bits
    prefetch(m.ways, m.way_of[tag])
    for position in range(0, p.lines_per_packet, 1 << p.group_bits):
        prefetch(m.ways, m.sets[m.sets_of[tag + position]].oldest)


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
        if m.requests[r].next >= 0:
            foresee(m, m.requests[r].next)
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
def accept(m, start, end):
    """Hand the requests and answers of a window to their slices, and ask the host for what they will need, so that it
    comes while others are handled."""
    p = m.p[0]
    for time in range(start, end):
        r = take_bucket(m.from_sms, time)
        while r >= 0:
            line = m.requests[r].line
            prefetch(m.way_of, line << p.packet_bits)
            prefetch(m.sets_of, line << p.packet_bits)
            prefetch(m.sharers, line * p.sharer_words)
            after = m.requests[r].next
            append(m.queues, m.requests[r].place, m.requests, r)
            r = after
        r = take_bucket(m.from_dram, time)
        while r >= 0:
            prefetch(m.ways, m.brings[r, 0])
            after = m.requests[r].next
            append(m.answers, m.requests[r].place, m.requests, r)
            r = after


@loop
def advance_slices(m, start, end):
    """Advance every slice over [start, end)."""
    accept(m, start, end)
    for s in range(len(m.slices)):
        advance_slice(m, s, end)
