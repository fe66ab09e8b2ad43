"""The L2 slices, advanced by one quantum of time.

A slice takes its requests in order of arrival, one at a time, and is busy for each sector it looks up. Sectors that
miss are fetched from DRAM by one request a packet.

Without an L2 (``l2.enabled = false``, as in GPUs of compute capability 1.x) a slice is the port of its memory
partition. Every request is sent to DRAM as it is: nothing is kept, and two requests for the same sectors are two
fetches. Atomics are carried out at the partition, as a fetch and then a write. A request counts as a miss, as a load
that bypasses L1 does there; the configuration says that there is no cache.
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.cache.ways import oldest_way, recall
from memsim.hierarchy.codes import (
    ALL,
    FETCH,
    FILL,
    LOAD,
    MISS,
    NEVER,
    PREFETCH,
    REDUCTION,
    STORE,
    WRITE_BACK,
    first_event,
    reads,
)
from memsim.hierarchy.l2.lookup import (
    allocate,
    clean,
    complete,
    look_up_lines,
    reply,
    to_memory,
    wait_for,
    write_through,
)
from memsim.hierarchy.l2.partitions import answer, come_back, drop_copy, enter, look_up_copy
from memsim.hierarchy.l2.prefetcher import DROPPED, REDUNDANT, SECTORS, SENT, observe
from memsim.hierarchy.l2.state import AGAIN, WORST
from memsim.hierarchy.requests import append, deliver, give, pop, take_slot
from memsim.jit.compiled import called, inlined
from memsim.jit.prefetch_host import prefetch
from memsim.jit.struct_pointer import pointer_to


@inlined
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
            way = recall(m.way_of, m.cache, (line << p.packet_bits) + position)
            if way >= 0 and m.cache.ways[way].pending >> within & 1:
                newest = max(newest, m.fetch_of[way * p.sectors_per_line + within])
    return newest if newest < 0 else newest & 0xFFFFFFFF


@inlined
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
        demand = todo & step
        if demand:
            looked_up, missing, passes = look_up_lines(m, s, r, demand, time)
            fetch |= missing
            through |= passes
            todo ^= looked_up
            if looked_up != demand:
                break
        step <<= p.sectors_per_line
    if through:
        write_through(m, s, r, through, time)
    if p.max_partial and kind == STORE and m.requests[r].partial:
        complete(m, s, r, time)
    if p.max_dirty and not reads(kind):
        clean(m, s, r, time)
    last = send_fetch(m, s, line, fetch, op, time) if fetch else -1
    if todo:
        m.slices[s].done = np.int64(m.requests[r].mask) ^ todo
        return AGAIN
    if p.half and not reads(kind) and m.copied[line]:
        drop_copy(m, s, r, time)
    first = first_event(kind)
    m.counters[op, first + WORST[m.slices[s].worst], 0] += 1
    if p.prefetcher:
        if reads(kind) and op < m.prefetching.p[0].n_ops:
            observe(m, s, r, m.slices[s].worst >= 2 or m.slices[s].prefetched != 0, time)
        m.slices[s].prefetched = 0
    m.slices[s].done = 0
    m.slices[s].worst = 0
    need = np.int64(m.requests[r].need)
    if kind == STORE or kind == REDUCTION or need == 0:
        return -1
    return last if last >= 0 else newest_fetch(m, line, need)


@inlined
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
            way = m.packet_ways[position]
            m.requests[f].way = way
            m.fill_ways[f * p.lines_per_packet + position] = way
            m.fetch_of[(way << p.sector_bits) + sector - (position << p.sector_bits)] = numbered
        sector += 1
    return f


@inlined
def has_room(m, s):
    """Whether a slice has MSHRs for a fetch and for all writes that a request can cause."""
    p = m.p[0]
    return m.slices[s].fetches < p.l2_mshrs and m.slices[s].write_backs + p.most_writes <= p.l2_mshrs


@called
def serve_prefetch(m, s, r, time):
    """Fetch the sectors of a line that are neither present nor under way; what finds no room is dropped."""
    p = m.p[0]
    line = m.requests[r].line
    absent = 0
    fetch = 0
    for position in range(p.lines_per_packet):
        tag = (line << p.packet_bits) + position
        way = recall(m.way_of, m.cache, tag)
        held = np.int64(m.cache.ways[way].valid) | np.int64(m.cache.ways[way].pending) if way >= 0 else 0
        missing = p.line_mask & (ALL ^ held)
        absent |= missing
        if missing and has_room(m, s):
            way = way if way >= 0 else allocate(m, s, tag, time)
            if way >= 0:
                m.packet_ways[position] = way
                m.cache.ways[way].pending = m.cache.ways[way].pending | missing
                m.prefetching.prefetched[way] = m.prefetching.prefetched[way] | missing
                fetch |= missing << position * p.sectors_per_line
    m.prefetching.counts[SENT if fetch else (DROPPED if absent else REDUNDANT)] += 1
    m.prefetching.counts[SECTORS] += m.sectors[fetch]
    if fetch:
        send_fetch(m, s, line, fetch, m.requests[r].op, time)


@inlined
def pass_on(m, s, r, time):
    """Send a request on to DRAM; returns the fetch that it waits for, -1 for a store, which waits for none."""
    kind = m.requests[r].kind
    op = m.requests[r].op
    mask = np.int64(m.requests[r].mask)
    first = first_event(kind)
    m.counters[op, first + MISS, 0] += 1
    m.counters[op, first + MISS, 1] += m.sectors[mask]
    sent = to_memory(m, s, WRITE_BACK if kind == STORE else FETCH, m.requests[r].line, mask, op, time)
    return np.int64(-1 if kind == STORE else sent)


@inlined
def answer_fetched(m, s, f, time):
    """Answer the request that waits for fetch `f`; what an atomic read, it writes."""
    r = m.requests[f].waiters
    kind = m.requests[r].kind
    line = m.requests[f].line
    mask = np.int64(m.requests[f].mask)
    op = m.requests[f].op
    m.slices[s].fetches -= 1
    give(m.free_requests, f)
    reply(m, r, time)
    if not reads(kind):
        to_memory(m, s, WRITE_BACK, line, mask, op, time)


@inlined
def arrive(m, s, time):
    """Handle the slice's first answer; says whether it is from DRAM (or from the other partition)."""
    f = pop(m.answers, s, m.requests)
    kind = m.requests[f].kind
    if kind == WRITE_BACK or kind == FILL:
        m.slices[s].write_backs -= 1
        give(m.free_requests, f)
        return True
    if kind != FETCH:
        come_back(m, s, f, time)
        return False
    p = m.p[0]
    if p.off:
        answer_fetched(m, s, f, time)
        return True
    m.slices[s].fetches -= 1
    mask = np.int64(m.requests[f].mask)
    for position in range(p.lines_per_packet):
        of_line = mask >> position * p.sectors_per_line & p.line_mask
        if of_line:
            way = m.fill_ways[f * p.lines_per_packet + position]
            m.cache.ways[way].valid = m.cache.ways[way].valid | of_line
            m.cache.ways[way].pending = m.cache.ways[way].pending & (ALL ^ of_line)
    r = m.requests[f].waiters
    while r >= 0:
        after = m.requests[r].next
        answer(m, s, r, time)
        r = after
    give(m.free_requests, f)
    return True


@inlined
def tag_at(m, r):
    """The first tag that request `r` is looked up by in the slice it is on its way to: its line's, or the copy's."""
    p = m.p[0]
    if p.half and m.requests[r].home != m.requests[r].target:
        return np.int64(m.requests[r].line) + p.n_lines
    return np.int64(m.requests[r].line) << p.packet_bits


@inlined
def prefetch_lookup(m, r):
    """Prefetch the place of a request's line: its way and set, who shares it, its place in DRAM."""
    tag = tag_at(m, r)
    prefetch(m.way_of, tag)
    prefetch(m.sets_of, tag)
    prefetch(m.mapping, m.requests[r].line)
    prefetch(m.sharers, m.requests[r].line * m.p[0].sharer_words)


@inlined
def prefetch_ways(m, r):
    """Prefetch the ways that a request will find or replace, the place of the next request's ways, and the request
    behind that."""
    p = m.p[0]
    behind = m.requests[r].next
    if behind >= 0:
        prefetch_lookup(m, behind)
        prefetch(m.requests, m.requests[behind].next)
    tag = tag_at(m, r)
    prefetch(m.cache.ways, m.way_of[tag])
    prefetch(m.cache.tags, m.way_of[tag])
    for position in range(0, p.lines_per_packet, 1 << p.group_bits):
        way = oldest_way(m.cache, m.sets_of[tag + position])
        prefetch(m.cache.ways, way)
        prefetch(m.cache.tags, way)


@inlined
def prefetch_sharers(m, r):
    """Prefetch the sharers of the line that a request will replace, if its ways have arrived by now."""
    p = m.p[0]
    tag = m.cache.tags[oldest_way(m.cache, m.sets_of[tag_at(m, r)])]
    prefetch(m.sharers, (np.int64(tag) >> p.packet_bits) * p.sharer_words)


@inlined
def read_cycles(m, r):
    """Cycles of its clock in which a slice reads a request's sectors."""
    p = m.p[0]
    return p.sector_cycles * ((m.sectors[m.requests[r].mask] + p.read_sectors - 1) // p.read_sectors)


@inlined
def busy_cycles(m, s, r):
    """Cycles of its clock that a request keeps its slice busy; a sector stored in part is read, merged, written."""
    p = m.p[0]
    kind = m.requests[r].kind
    if reads(kind):
        return read_cycles(m, r)
    partial = np.int64(m.requests[r].partial)
    cycles = p.sector_cycles * m.sectors[m.requests[r].mask] + p.more_of_partial * m.sectors[partial]
    if p.more_of_repeated and kind == STORE:
        line = m.requests[r].line
        if m.slices[s].stored_line == line:
            cycles += p.more_of_repeated * m.sectors[partial & m.slices[s].stored]
        m.slices[s].stored_line = line
        m.slices[s].stored = m.requests[r].mask
    return cycles


@inlined
def occupy(m, s, start, cycles):
    """Keep a slice busy for `cycles` of its clock from SM cycle `start` on, or from when it got free within it."""
    p = m.p[0]
    begin = m.slices[s].until if start == m.slices[s].free else start * p.clock_up
    m.slices[s].until = begin + cycles * p.clock_down
    until = m.slices[s].until
    m.slices[s].free = until if p.clock_up == 1 else (until + p.clock_up - 1) // p.clock_up


@inlined
def advance_slice(m, s, end):
    """Advance one slice to `end`. A request that cannot be carried out waits for the slice's next answer."""
    p = m.p[0]
    blocked = False
    while True:
        r = m.queues[s].head
        f = m.answers[s].head
        request = NEVER if r < 0 or blocked else max(m.requests[r].time, m.slices[s].free)
        due = NEVER if f < 0 else m.requests[f].time
        if min(request, due) >= end:
            return
        if due <= request:
            if arrive(m, s, due) and blocked:
                if due > m.slices[s].free:
                    occupy(m, s, due, 0)
                blocked = False
            continue
        if m.requests[r].next >= 0:
            prefetch_ways(m, m.requests[r].next)
        if p.half and m.requests[r].home != s:
            pop(m.queues, s, m.requests)
            cycles = read_cycles(m, r)
            occupy(m, s, request, cycles if look_up_copy(m, s, r, request) else p.sector_cycles)
            continue
        if p.prefetcher and m.requests[r].kind == PREFETCH:
            pop(m.queues, s, m.requests)
            serve_prefetch(m, s, r, request)
            occupy(m, s, request, p.sector_cycles)
            give(m.free_requests, r)
            continue
        if not has_room(m, s):
            last = np.int64(AGAIN)
        elif p.off:
            last = pass_on(m, s, r, request)
        else:
            last = serve(m, s, r, request)
        if last == AGAIN:
            blocked = True
            continue
        pop(m.queues, s, m.requests)
        if p.inclusive and m.queues[s].head >= 0:
            prefetch_sharers(m, m.queues[s].head)
        occupy(m, s, request, busy_cycles(m, s, r))
        if last < 0:
            answer(m, s, r, request)
        else:
            wait_for(m, r, last)


@inlined
def accept(m, start, end):
    """Hand the requests and answers of a quantum to their slices, and ask the host for what they will need, so that it
    comes while others are handled."""
    p = m.p[0]
    for time in range(start, end):
        r = take_slot(m.to_l2, m.requests, time)
        while r >= 0:
            after = m.requests[r].next
            if p.half:
                enter(m, r)
            prefetch_lookup(m, r)
            append(m.queues, m.requests[r].target, m.requests, r)
            r = after
        r = take_slot(m.from_dram, m.requests, time)
        while r >= 0:
            prefetch(m.cache.ways, m.requests[r].way)
            prefetch(m.requests, m.requests[r].waiters)
            prefetch(m.fill_ways, r * p.lines_per_packet)
            after = m.requests[r].next
            append(m.answers, m.requests[r].target, m.requests, r)
            r = after
        if p.half or p.prefetcher:
            deliver(m.to_home, m.requests, time, m.queues)
        if p.half:
            deliver(m.to_near, m.requests, time, m.answers)


@inlined
def advance_slices(m, start, end):
    """Advance every slice over [start, end), at once, or cycle by cycle where a prefetcher observes them all."""
    m = pointer_to(m)
    step = 1 if m.p[0].prefetcher else end - start
    while start < end:
        accept(m, start, start + step)
        for s in range(len(m.slices)):
            after = min(s + 1, len(m.slices) - 1)
            prefetch(m.requests, m.queues[after].head)
            prefetch(m.requests, m.answers[after].head)
            advance_slice(m, s, start + step)
        start += step
