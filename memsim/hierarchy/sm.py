"""Streaming multiprocessors: warp queues, schedulers, the load-store unit and L1, advanced by one window of time.

A warp issues the instructions of a sequence, then waits for its loads (bulk scheduling, Baghsorkhi 2012, section 2).
The load-store unit looks up one transaction at a time; when it lacks an MSHR, a way or a store slot it blocks until
a reply comes. Everything an SM does within a window follows from its own state and the replies that are due, which
are all known when the window begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.config import L1WritePolicy, WarpScheduler
from memsim.hierarchy.cache import drop, find, replace, touch, victim
from memsim.hierarchy.compiled import loop
from memsim.hierarchy.counters import BINS_PER_OCTAVE, LATENCY_BINS
from memsim.hierarchy.random import WORD, hash32
from memsim.hierarchy.requests import (
    ATOMIC,
    BYPASS,
    INVALIDATE,
    LOAD,
    REDUCTION,
    STORE,
    deliver,
    give,
    pop,
    schedule,
    take,
)
from memsim.trace.schema import Flag, Kind

NEVER = 1 << 62
SLOTS = 64  # warp slots of an SM, at most

SM_STATE = np.dtype(
    [
        ("time", "<i8"),  # when the load-store unit can act next
        ("issue_free", "<i8"),  # when the issue ports are free, in 1/issue_per_cycle cycles
        ("link_free", "<i8"),  # when the link from L2 is free
        ("end", "<i8"),  # when the last warp ended
        ("next", "<i8"),  # next transaction of the instruction at the load-store unit
        ("stop", "<i8"),  # one past its last transaction
        ("started", "<i8"),  # when its first transaction was looked up
        ("done", "<i8"),  # when the last of its transactions answered within the SM has its data
        ("draws", "<i8"),  # random choices made
        ("transactions", "<i8"),
        ("warp", "<i4"),  # slot of its warp, or -1 when the load-store unit is empty
        ("flight", "<i4"),  # its flight record, or -1 while all of it hit
        ("last", "<i4"),  # slot the scheduler chose last
        ("credit", "<i4"),  # sequences that slot may still issue
        ("ready", "<i4"),  # warps that may issue
        ("events", "<i4"),  # entries of the event heap
        ("loads", "<i4"),  # MSHRs in use
        ("stores", "<i4"),  # stores under way
    ]
)
WARP = np.dtype(
    [
        ("pc", "<i8"),
        ("end", "<i8"),
        ("wake", "<i8"),  # latest known completion of the sequence under way
        ("age", "<i8"),
        ("flights", "<i4"),  # instructions of the sequence not answered yet
        ("block", "<i4"),  # block slot of the SM
        ("weight", "<i4"),
        ("ready", "u1"),
        ("issued_gap", "u1"),  # the gap of the instruction at pc has passed
        ("waiting", "u1"),  # the sequence is issued; it ends with the last flight
        ("started", "u1"),  # the sequence at pc is under way: the scheduler stays
    ]
)
BLOCK = np.dtype([("live", "<i4"), ("arrived", "<i4"), ("item", "<i4"), ("pad", "<i4")])
FLIGHT = np.dtype(
    [("issued", "<i8"), ("done", "<i8"), ("warp", "<i4"), ("left", "<i4"), ("op", "<i4"), ("pad", "<i4")]
)
NODE = np.dtype([("time", "<i8"), ("flight", "<i4"), ("next", "<i4"), ("need", "<i4"), ("pad", "<i4")])
OP_TIMES = np.dtype([("sum", "<i8"), ("count", "<i8"), ("instruction_sum", "<i8"), ("instruction_count", "<i8")])
PLACE = np.dtype(
    [("l1_set", "<u4"), ("row", "<u4"), ("slice", "<u2"), ("channel", "<u2"), ("bank", "<u2"), ("pad", "<u2")]
)
FREED = np.dtype([("time", "<i8"), ("sm", "<i4"), ("block", "<i4")])

ROUND_ROBIN, WEIGHTED, GREEDY, RANDOM = range(4)
SCHEDULER = {
    WarpScheduler.loose_round_robin: ROUND_ROBIN,
    WarpScheduler.weighted_round_robin: WEIGHTED,
    WarpScheduler.greedy_then_oldest: GREEDY,
    WarpScheduler.random: RANDOM,
}
THROUGH, EVICT, BACK = range(3)
WRITE_POLICY = {
    L1WritePolicy.write_through: THROUGH,
    L1WritePolicy.write_evict: EVICT,
    L1WritePolicy.write_back: BACK,
}
# Flags of an instruction that waits for the loads before it.
WAITS = int(Flag.sequence) | int(Flag.barrier) | int(Flag.data)
BARRIER = int(Flag.barrier)
OP_LOAD, OP_STORE, OP_ATOMIC = int(Kind.load), int(Kind.store), int(Kind.atomic)
READS, WRITES, ATOMICS = 0, 4, 8  # first event of each kind of access
HIT, MISS, SECTOR_MISS, MERGE = range(4)
ALL = 0xFF  # every sector of a line


class SMs(NamedTuple):
    """All SMs: parameters, trace, state. Arrays only, so a compiled loop takes it as one argument."""

    p: np.ndarray  # one record of parameters
    instructions: np.ndarray
    lines: np.ndarray
    masks: np.ndarray
    place: np.ndarray  # PLACE, one a line
    sms: np.ndarray
    warps: np.ndarray  # SLOTS an SM
    blocks: np.ndarray  # SLOTS an SM
    heap: np.ndarray  # SLOTS an SM: time * SLOTS + slot, the warps that act later
    ways: np.ndarray
    waiting: np.ndarray  # [way] first node that waits for its fill, or -1
    writers: np.ndarray  # [way] static op that last wrote there
    born: np.ndarray  # [way] when its line was asked for
    sharers: np.ndarray  # [line, word]: SMs whose L1 may hold the line (inclusive L2 only)
    sets: np.ndarray
    index: np.ndarray
    requests: np.ndarray
    free_requests: np.ndarray
    nodes: np.ndarray
    free_nodes: np.ndarray
    flights: np.ndarray
    free_flights: np.ndarray
    to_l2: np.ndarray  # calendar
    from_l2: np.ndarray  # calendar
    replies: np.ndarray  # queue an SM
    counters: np.ndarray  # [op, event, unit] of level l1
    histogram: np.ndarray  # [op, bin]
    times: np.ndarray  # OP_TIMES
    bin_of: np.ndarray  # latency bin of small latencies
    sectors: np.ndarray  # number of bits of a mask
    freed: np.ndarray  # FREED, block slots that became free in this window
    freed_count: np.ndarray  # [1]


@loop
def record(m, op, latency):
    """Count one observed latency of a transaction of `op`."""
    size = len(m.bin_of)
    shift = 0
    while latency >> shift >= size:
        shift += 1
    b = min(m.bin_of[latency >> shift] + BINS_PER_OCTAVE * shift, LATENCY_BINS - 1)
    m.histogram[op, b] += 1
    m.times[op].sum += latency
    m.times[op].count += 1


@loop
def push(m, sm, slot, time):
    """Let warp `slot` act at `time`."""
    base = sm * SLOTS
    key = time * SLOTS + slot
    at = m.sms[sm].events
    m.sms[sm].events = at + 1
    while at > 0:
        parent = (at - 1) >> 1
        if m.heap[base + parent] <= key:
            break
        m.heap[base + at] = m.heap[base + parent]
        at = parent
    m.heap[base + at] = key


@loop
def pop_event(m, sm):
    """Take the earliest entry of the heap and return its slot."""
    base = sm * SLOTS
    slot = m.heap[base] & (SLOTS - 1)
    n = m.sms[sm].events - 1
    m.sms[sm].events = n
    key = m.heap[base + n]
    at = 0
    child = 1
    while child < n:
        if child + 1 < n and m.heap[base + child + 1] < m.heap[base + child]:
            child += 1
        if key <= m.heap[base + child]:
            break
        m.heap[base + at] = m.heap[base + child]
        at = child
        child = 2 * at + 1
    m.heap[base + at] = key
    return slot


@loop
def release_barrier(m, sm, block, time):
    """Wake the warps of a block when all that live have arrived."""
    b = sm * SLOTS + block
    if m.blocks[b].live == 0 or m.blocks[b].arrived < m.blocks[b].live:
        return
    m.blocks[b].arrived = 0
    p = m.p[0]
    for slot in range(block * p.warps_per_block, (block + 1) * p.warps_per_block):
        w = sm * SLOTS + slot
        if m.warps[w].waiting == 2:
            m.warps[w].waiting = 0
            push(m, sm, slot, time + p.barrier_cycles)


@loop
def end_warp(m, sm, slot, time):
    """A warp has issued everything and got every answer."""
    block = m.warps[sm * SLOTS + slot].block
    b = sm * SLOTS + block
    m.sms[sm].end = max(m.sms[sm].end, time)
    m.blocks[b].live -= 1
    if m.blocks[b].live > 0:
        release_barrier(m, sm, block, time)
        return
    n = m.freed_count[0]
    m.freed[n].time = time
    m.freed[n].sm = sm
    m.freed[n].block = block
    m.freed_count[0] = n + 1


@loop
def ends_sequence(m, w):
    """Whether the warp's next instruction must wait for the loads before it."""
    pc = m.warps[w].pc
    return pc == m.warps[w].end or m.instructions[pc].flags & WAITS != 0


@loop
def end_sequence(m, sm, slot, time):
    """A warp has issued a whole sequence: it acts again when the sequence's last datum is there."""
    w = sm * SLOTS + slot
    m.warps[w].started = 0
    if m.warps[w].flights == 0:
        push(m, sm, slot, max(m.warps[w].wake, time))
        m.warps[w].wake = 0
    else:
        m.warps[w].waiting = 1


@loop
def act(m, sm, slot, time):
    """A warp whose last sequence is answered goes on: its gap, then a barrier or the load-store unit, or its end."""
    w = sm * SLOTS + slot
    p = m.p[0]
    while True:
        pc = m.warps[w].pc
        if pc == m.warps[w].end:
            end_warp(m, sm, slot, time)
            return
        gap = m.instructions[pc].gap
        if gap > 0 and m.warps[w].issued_gap == 0:
            m.warps[w].issued_gap = 1
            free = max(m.sms[sm].issue_free, time * p.issue_per_cycle) + gap
            m.sms[sm].issue_free = free
            ready = max((free + p.issue_per_cycle - 1) // p.issue_per_cycle, time + gap * p.instruction_cycles)
            if ready > time:
                push(m, sm, slot, ready)
                return
        m.warps[w].issued_gap = 0
        if m.instructions[pc].flags & BARRIER:
            m.warps[w].pc = pc + 1
            m.warps[w].waiting = 2
            block = m.warps[w].block
            m.blocks[sm * SLOTS + block].arrived += 1
            release_barrier(m, sm, block, time)
            return
        if m.instructions[pc].count > 0 or m.instructions[pc].slots > 0:
            m.warps[w].ready = 1
            m.sms[sm].ready += 1
            return
        m.warps[w].pc = pc + 1
        if ends_sequence(m, w):
            end_sequence(m, sm, slot, time)
            return


@loop
def end_flight(m, sm, f):
    """Every transaction of an instruction is answered; maybe its warp's sequence too."""
    op = m.flights[f].op
    m.times[op].instruction_sum += m.flights[f].done - m.flights[f].issued
    m.times[op].instruction_count += 1
    slot = m.flights[f].warp
    w = sm * SLOTS + slot
    m.warps[w].wake = max(m.warps[w].wake, m.flights[f].done)
    m.warps[w].flights -= 1
    give(m.free_flights, f)
    if m.warps[w].flights == 0 and m.warps[w].waiting == 1:
        m.warps[w].waiting = 0
        push(m, sm, slot, m.warps[w].wake)
        m.warps[w].wake = 0


@loop
def answer(m, sm, f, latency, time):
    """A transaction of flight `f` has all its data."""
    record(m, m.flights[f].op, latency)
    m.flights[f].done = max(m.flights[f].done, time)
    m.flights[f].left -= 1
    if m.flights[f].left == 0:
        end_flight(m, sm, f)


@loop
def fill(m, sm, r, time):
    """Sectors arrive in L1: answer the transactions that waited for just these."""
    way = m.requests[r].way
    mask = np.int64(m.requests[r].mask)
    m.ways[way].valid = m.ways[way].valid | mask
    m.ways[way].pending = m.ways[way].pending & (ALL ^ mask)
    node = m.waiting[way]
    kept = -1
    while node >= 0:
        after = m.nodes[node].next
        need = m.nodes[node].need & (ALL ^ mask)
        if need == 0:
            answer(m, sm, m.nodes[node].flight, time - m.nodes[node].time, time)
            give(m.free_nodes, node)
        else:
            m.nodes[node].need = need
            m.nodes[node].next = kept
            kept = node
        node = after
    m.waiting[way] = kept
    poisoned = mask & np.int64(m.ways[way].activated)
    if poisoned:
        m.ways[way].activated = m.ways[way].activated ^ poisoned
        invalidate(m, sm, way, m.requests[r].line, poisoned, time)


@loop
def answer_own(m, sm, r, time):
    """Answer the transaction that made the request, unless it waits for other requests too."""
    f = m.requests[r].flight
    if f >= 0:
        answer(m, sm, f, time - m.requests[r].asked, time)


@loop
def receive(m, sm, time):
    """Handle the SM's first reply, which is due at `time`."""
    r = pop(m.replies, sm, m.requests)
    m.sms[sm].link_free = time
    kind = m.requests[r].kind
    if kind == LOAD:
        m.sms[sm].loads -= 1
        fill(m, sm, r, time)
        answer_own(m, sm, r, time)
    elif kind == BYPASS or kind == ATOMIC:
        m.sms[sm].loads -= 1
        answer_own(m, sm, r, time)
    elif kind == INVALIDATE:
        line = m.requests[r].line
        way = find(m.index, m.ways, sm, m.p[0].l1_bits, line)
        if way >= 0 and m.born[way] <= m.requests[r].time - m.p[0].return_cycles:
            invalidate(m, sm, way, line, np.int64(m.requests[r].mask), time)
    else:
        m.sms[sm].stores -= 1
    give(m.free_requests, r)


@loop
def invalidate(m, sm, way, line, mask, time):
    """Drop sectors from L1 (all of an unsectored line); dirty ones go to L2, even when no store slot is free.

    Sectors still under way answer their waiters when they come and are dropped then (`activated` marks them in L1).
    """
    keep = 0 if m.p[0].l1_whole else ALL ^ mask
    lost = np.int64(m.ways[way].dirty) & (ALL ^ keep)
    m.ways[way].valid = m.ways[way].valid & keep
    m.ways[way].dirty = m.ways[way].dirty & keep
    m.ways[way].activated = m.ways[way].activated | (m.ways[way].pending & (ALL ^ keep))
    if lost:
        m.sms[sm].stores += 1
        send(m, sm, STORE, line, lost, m.writers[way], time)
    if m.ways[way].valid == 0 and m.ways[way].pending == 0:
        s = sm * m.p[0].l1_sets + m.place[line].l1_set
        drop(m.index, m.ways, m.sets, sm, m.p[0].l1_bits, s, way, m.p[0].l1_ways)


@loop
def due(m, sm):
    """When the SM's first reply has arrived whole."""
    r = m.replies[sm].head
    if r < 0:
        return NEVER
    time = max(m.requests[r].time, m.sms[sm].link_free)
    if m.requests[r].kind <= ATOMIC:
        width = m.p[0].reply_bytes
        time += (m.sectors[m.requests[r].mask] * 32 + width - 1) // width
    return time


@loop
def send(m, sm, kind, line, mask, op, time):
    """Send a request to L2."""
    r = take(m.free_requests)
    m.requests[r].time = time
    m.requests[r].line = line
    m.requests[r].key = hash32(m.p[0].key ^ hash32(time * 256 + sm)) if m.p[0].arbitration else sm
    m.requests[r].way = -1
    m.requests[r].flight = -1
    m.requests[r].sm = sm
    m.requests[r].op = op
    m.requests[r].place = m.place[line].slice
    m.requests[r].kind = kind
    m.requests[r].mask = mask
    m.requests[r].need = 0
    schedule(m.to_l2, m.requests, r)
    return r


@loop
def join_flight(m, sm, op):
    """The flight of the instruction at the load-store unit, with one more transaction to wait for."""
    f = m.sms[sm].flight
    slot = m.sms[sm].warp
    if f < 0:
        f = take(m.free_flights)
        m.sms[sm].flight = f
        m.flights[f].issued = m.sms[sm].started
        m.flights[f].done = 0
        m.flights[f].warp = slot
        m.flights[f].op = op
        m.flights[f].left = 1  # one for the issue itself
        m.warps[sm * SLOTS + slot].flights += 1
    m.flights[f].left += 1
    return f


@loop
def wait_at(m, way, f, need, time):
    """Let a transaction wait for sectors of a way that other requests bring."""
    node = take(m.free_nodes)
    m.nodes[node].time = time
    m.nodes[node].flight = f
    m.nodes[node].need = need
    m.nodes[node].next = m.waiting[way]
    m.waiting[way] = node


@loop
def count(m, op, kind, event, mask, hits, merges):
    """Count a transaction under its worst sector's event and each of its sectors under its own."""
    m.counters[op, kind + event, 0] += 1
    total, good, merged = m.sectors[mask], m.sectors[hits], m.sectors[merges]
    if good:
        m.counters[op, kind + HIT, 1] += good
    if merged:
        m.counters[op, kind + MERGE, 1] += merged
    rest = total - good - merged
    if rest:
        m.counters[op, kind + event, 1] += rest


@loop
def allocate(m, sm, line, op, time):
    """A way for `line`, or -1 when the load-store unit must wait. A dirty victim is sent to L2."""
    p = m.p[0]
    if p.write_policy == BACK and m.sms[sm].stores >= p.max_stores:
        return -1  # a dirty victim could not leave; asked first, so that trying again draws nothing
    s = sm * p.l1_sets + m.place[line].l1_set
    way = victim(m.ways, m.sets, s, p.l1_ways, p.l1_policy, p.key)
    if way < 0:
        return way
    old = m.ways[way].tag
    if p.inclusive and old >= 0:
        word = sm >> 5
        m.sharers[old, word] = m.sharers[old, word] & (WORD ^ 1 << (sm & 31))
    dirty = np.int64(m.ways[way].dirty)
    if dirty:
        m.sms[sm].stores += 1
        send(m, sm, STORE, m.ways[way].tag, dirty, m.writers[way], time)
    replace(m.index, m.ways, m.sets, sm, p.l1_bits, s, way, p.l1_ways, p.l1_policy, line)
    m.waiting[way] = -1
    m.writers[way] = op
    m.born[way] = time
    return way


@loop
def load(m, sm, line, mask, op, time):
    """Look a load's transaction up in L1; False when it must be tried again."""
    p = m.p[0]
    way = find(m.index, m.ways, sm, p.l1_bits, line)
    new = mask
    event = MISS
    valid = 0
    pending = 0
    if way >= 0:
        valid = mask & np.int64(m.ways[way].valid)
        if valid == mask:
            touch(m.ways, m.sets, sm * p.l1_sets + m.place[line].l1_set, way, p.l1_ways, p.l1_policy)
            m.counters[op, READS + HIT, 0] += 1
            m.counters[op, READS + HIT, 1] += m.sectors[mask]
            complete(m, sm, op, time + p.l1_latency, p.l1_latency)
            return True
        pending = (mask ^ valid) & np.int64(m.ways[way].pending)
        new = mask ^ valid ^ pending
        event = SECTOR_MISS if new else MERGE
    r = -1
    if new:
        if m.sms[sm].loads >= p.l1_mshrs:
            return False
        if way < 0:
            way = allocate(m, sm, line, op, time)
            if way < 0:
                return False
        m.sms[sm].loads += 1
        r = send(m, sm, LOAD, line, new, op, time)
        m.requests[r].way = way
        m.ways[way].pending = m.ways[way].pending | new
    if event != MISS:
        touch(m.ways, m.sets, sm * p.l1_sets + m.place[line].l1_set, way, p.l1_ways, p.l1_policy)
    f = join_flight(m, sm, op)
    if pending:
        wait_at(m, way, f, new | pending, time)
    else:
        m.requests[r].flight = f
        m.requests[r].asked = time
    count(m, op, READS, event, mask, valid, pending)
    return True


@loop
def complete(m, sm, op, time, latency):
    """A transaction of the current instruction got its data without leaving the SM."""
    record(m, op, latency)
    m.sms[sm].done = max(m.sms[sm].done, time)


@loop
def past_l1(m, sm, kind, line, mask, op, time):
    """A load that L1 does not cache, or an atomic: L2 answers. False when it must be tried again."""
    if m.sms[sm].loads >= m.p[0].l1_mshrs:
        return False
    m.sms[sm].loads += 1
    if kind == ATOMIC:
        evict_own_copy(m, sm, line, mask, time)
    r = send(m, sm, kind, line, mask, op, time)
    m.requests[r].flight = join_flight(m, sm, op)
    m.requests[r].asked = time
    first = READS if kind == BYPASS else ATOMICS
    count(m, op, first, MISS, mask, 0, 0)
    return True


@loop
def evict_own_copy(m, sm, line, mask, time):
    """L2 changes the data, so this SM's copy goes."""
    way = find(m.index, m.ways, sm, m.p[0].l1_bits, line)
    if way >= 0:
        invalidate(m, sm, way, line, mask, time)


@loop
def store(m, sm, kind, line, mask, op, time):
    """A store or reduction; False when it must be tried again."""
    p = m.p[0]
    keep = kind == STORE and p.write_policy == BACK and p.l1_enabled
    way = find(m.index, m.ways, sm, p.l1_bits, line)
    hits = 0
    event = MISS
    if way >= 0:
        hits = mask & np.int64(m.ways[way].valid)
        event = HIT if hits == mask else SECTOR_MISS
    if keep:
        if way < 0:
            way = allocate(m, sm, line, op, time)
            if way < 0:
                return False
        m.ways[way].valid = m.ways[way].valid | mask
        m.ways[way].dirty = m.ways[way].dirty | mask
        m.writers[way] = op
    else:
        if m.sms[sm].stores >= p.max_stores:
            return False
        if way >= 0 and (kind == REDUCTION or p.write_policy == EVICT):
            invalidate(m, sm, way, line, mask, time)
            way = -1
        m.sms[sm].stores += 1
        send(m, sm, kind, line, mask, op, time)
    if way >= 0:
        touch(m.ways, m.sets, sm * p.l1_sets + m.place[line].l1_set, way, p.l1_ways, p.l1_policy)
    count(m, op, WRITES if kind == STORE else ATOMICS, event, mask, hits, 0)
    return True


@loop
def look_up(m, sm, time):
    """The load-store unit's next transaction; False when it must be tried again."""
    s = m.sms[sm]
    k = s.next
    i = m.warps[sm * SLOTS + s.warp].pc
    kind = m.instructions[i].kind
    op = m.instructions[i].op
    line = m.lines[k]
    mask = np.int64(m.masks[k])
    if kind == OP_LOAD:
        if m.p[0].l1_enabled:
            return load(m, sm, line, mask, op, time)
        return past_l1(m, sm, BYPASS, line, mask, op, time)
    if kind == OP_ATOMIC:
        return past_l1(m, sm, ATOMIC, line, mask, op, time)
    return store(m, sm, STORE if kind == OP_STORE else REDUCTION, line, mask, op, time)


@loop
def choose(m, sm):
    """The scheduler's next warp. A warp inside a sequence goes on (bulk scheduling)."""
    p = m.p[0]
    last = m.sms[sm].last
    base = sm * SLOTS
    if m.warps[base + last].ready:
        if m.warps[base + last].started or p.scheduler == GREEDY:
            return last
        if p.scheduler == WEIGHTED and m.sms[sm].credit > 0:
            m.sms[sm].credit -= 1
            return last
    n = p.warp_slots
    slot = last
    skip = 0
    if p.scheduler == RANDOM:
        skip = hash32(p.key ^ hash32(m.sms[sm].draws * 256 + sm)) % m.sms[sm].ready
        m.sms[sm].draws += 1
    if p.scheduler == GREEDY:
        best = NEVER
        for s in range(n):
            if m.warps[base + s].ready and m.warps[base + s].age < best:
                best = m.warps[base + s].age
                slot = s
    else:
        while True:
            slot = slot + 1 if slot + 1 < n else 0
            if m.warps[base + slot].ready:
                if skip == 0:
                    break
                skip -= 1
    m.sms[sm].last = slot
    m.sms[sm].credit = m.warps[base + slot].weight - 1
    return slot


@loop
def start(m, sm, time):
    """Give the load-store unit the next instruction; returns when the unit is free again."""
    slot = choose(m, sm)
    w = sm * SLOTS + slot
    m.warps[w].ready = 0
    m.sms[sm].ready -= 1
    m.sms[sm].warp = slot
    m.sms[sm].flight = -1
    m.sms[sm].started = time
    m.sms[sm].done = time
    m.warps[w].started = 1
    i = m.instructions[m.warps[w].pc]
    m.sms[sm].next = i.first
    m.sms[sm].stop = i.first + i.count
    if i.slots == 0:
        return time
    if i.kind == OP_LOAD or i.kind == OP_ATOMIC:
        complete(m, sm, i.op, time + i.slots - 1 + m.p[0].shared_latency, i.slots - 1 + m.p[0].shared_latency)
    return time + i.slots


@loop
def finish(m, sm, time):
    """The load-store unit is through with its instruction at `time`; its warp goes on or waits."""
    slot = m.sms[sm].warp
    w = sm * SLOTS + slot
    pc = m.warps[w].pc
    f = m.sms[sm].flight
    m.sms[sm].transactions += m.instructions[pc].count
    m.sms[sm].warp = -1
    m.warps[w].wake = max(m.warps[w].wake, m.sms[sm].done, time)
    if f >= 0:
        m.flights[f].done = max(m.flights[f].done, m.sms[sm].done)
        m.flights[f].left -= 1
        if m.flights[f].left == 0:
            end_flight(m, sm, f)
    elif m.instructions[pc].kind == OP_LOAD or m.instructions[pc].kind == OP_ATOMIC:
        op = m.instructions[pc].op
        m.times[op].instruction_sum += m.sms[sm].done - m.sms[sm].started
        m.times[op].instruction_count += 1
    m.warps[w].pc = pc + 1
    if ends_sequence(m, w):
        end_sequence(m, sm, slot, time)
    elif m.instructions[pc + 1].gap == 0 and m.instructions[pc + 1].count + m.instructions[pc + 1].slots > 0:
        m.warps[w].ready = 1
        m.sms[sm].ready += 1
    else:
        push(m, sm, slot, time)


@loop
def advance_sm(m, sm, end):
    """Advance one SM to `end`; returns when it can act next."""
    time = m.sms[sm].time
    step = m.p[0].lookup_cycles
    blocked = False
    while True:
        reply = due(m, sm)
        wake = m.heap[sm * SLOTS] >> 6 if m.sms[sm].events else NEVER
        event = min(reply, wake)
        if event <= time and event < end:
            if reply <= wake:
                receive(m, sm, reply)
                blocked = False
            else:
                act(m, sm, pop_event(m, sm), wake)
            continue
        if time >= end:
            break
        if m.sms[sm].warp < 0 and m.sms[sm].ready:
            time = start(m, sm, time)
        if m.sms[sm].warp < 0 or blocked:
            time = min(event, end)
            continue
        limit = min(event, end)
        stop = m.sms[sm].stop
        while m.sms[sm].next < stop and time < limit:
            if not look_up(m, sm, time):
                blocked = True
                break
            m.sms[sm].next += 1
            time += step
        if m.sms[sm].next == stop:
            finish(m, sm, time)
    m.sms[sm].time = time
    if m.sms[sm].warp >= 0 or m.sms[sm].ready:
        return time
    return max(min(event, NEVER), end)


@loop
def advance_sms(m, start, end):
    """Advance every SM over [start, end).

    Returns (earliest time at which one can act next, block slots freed, nodes and flights that can still be taken).
    """
    deliver(m.from_l2, start, end, m.requests, m.replies)
    m.freed_count[0] = 0
    earliest = NEVER
    for sm in range(len(m.sms)):
        earliest = min(earliest, advance_sm(m, sm, end))
    return earliest, m.freed_count[0], min(m.free_nodes[0], m.free_flights[0])
