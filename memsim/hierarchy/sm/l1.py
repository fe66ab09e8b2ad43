"""The L1 of each SM: lookups, misses under way, fills and answers, and requests to L2."""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.cache.replacement import replace, touch, victim
from memsim.hierarchy.cache.ways import find, invalidate_way, way_of_slot
from memsim.hierarchy.codes import (
    ALL,
    ATOMIC,
    ATOMICS,
    BYPASS,
    HIT,
    LOAD,
    MERGE,
    MISS,
    READS,
    REDUCTION,
    SECTOR_MISS,
    STORE,
    WRITES,
    first_event,
)
from memsim.hierarchy.counters import BINS_PER_OCTAVE, LATENCY_BINS
from memsim.hierarchy.hashed_draws import WORD, hash32
from memsim.hierarchy.requests import give, schedule, take
from memsim.hierarchy.sm.scoreboard import load_ended
from memsim.hierarchy.sm.state import ALLOCATE, BACK, EVICT, SLOTS
from memsim.jit.compiled import inlined

# What a look-up comes to: done, or to be tried again after a reply, the line known to be absent or not.
DONE, AGAIN, ABSENT = range(3)


@inlined
def set_of(m, sm, line):
    """The set of a line in an SM's L1, counted over all SMs."""
    return sm * m.p[0].l1_sets + m.mapping[line].l1_set


@inlined
def bin_of(m, latency):
    """The bin of the histogram that counts a latency."""
    size = len(m.bin_of)
    if latency < size:
        return np.int64(m.bin_of[latency])
    shift = 1
    while latency >> shift >= size:
        shift += 1
    return min(m.bin_of[latency >> shift] + BINS_PER_OCTAVE * shift, LATENCY_BINS - 1)


@inlined
def record(m, op, latency, n):
    """Count one observed latency of `n` transactions of `op`."""
    m.histogram[op, bin_of(m, latency)] += n
    m.times[op].sum += n * latency
    m.times[op].count += n


@inlined
def end_load(m, sm, f, time):
    """Every transaction of an instruction is answered at `time`, or before; maybe its warp continues."""
    op = m.loads[f].op
    m.times[op].instruction_sum += m.loads[f].done - m.loads[f].issued
    m.times[op].instruction_count += 1
    load_ended(m, sm, f, time)
    give(m.free_loads, f)


@inlined
def answer(m, sm, f, latency, time):
    """A transaction of load `f` has all its data."""
    record(m, m.loads[f].op, latency, 1)
    m.loads[f].done = max(m.loads[f].done, time)
    m.loads[f].left -= 1
    if m.loads[f].left == 0:
        end_load(m, sm, f, time)


@inlined
def fill(m, sm, r, time):
    """Sectors arrive in L1: answer the transactions that waited for just these."""
    way = m.requests[r].way
    mask = np.int64(m.requests[r].mask)
    m.cache.ways[way].valid = m.cache.ways[way].valid | mask
    m.cache.ways[way].pending = m.cache.ways[way].pending & (ALL ^ mask)
    target = m.cache.ways[way].waiting
    still_waiting = -1
    while target >= 0:
        after = m.mshr_targets[target].next
        need = m.mshr_targets[target].need & (ALL ^ mask)
        if need == 0:
            answer(m, sm, m.mshr_targets[target].load, time - m.mshr_targets[target].time, time)
            give(m.free_mshr_targets, target)
        else:
            m.mshr_targets[target].need = need
            m.mshr_targets[target].next = still_waiting
            still_waiting = target
        target = after
    m.cache.ways[way].waiting = still_waiting
    poisoned = mask & np.int64(m.cache.ways[way].poisoned)
    if poisoned:
        m.cache.ways[way].poisoned = m.cache.ways[way].poisoned ^ poisoned
        invalidate(m, sm, way, m.requests[r].line, poisoned, time)


@inlined
def answer_own(m, sm, r, time):
    """Answer the transaction that made the request, unless it waits for other requests too."""
    f = m.requests[r].load
    if f >= 0:
        answer(m, sm, f, time - m.requests[r].looked_up, time)


@inlined
def invalidate(m, sm, way, line, mask, time):
    """Drop sectors from L1 (all of an unsectored line); dirty ones go to L2, even when no store slot is free.

    Sectors still under way answer their waiters when they come and are dropped then (they are `poisoned`).
    """
    remaining = 0 if m.p[0].l1_unsectored else ALL ^ mask
    lost = np.int64(m.cache.ways[way].dirty) & (ALL ^ remaining)
    m.cache.ways[way].valid = m.cache.ways[way].valid & remaining
    m.cache.ways[way].dirty = m.cache.ways[way].dirty & remaining
    m.cache.ways[way].poisoned = m.cache.ways[way].poisoned | (m.cache.ways[way].pending & (ALL ^ remaining))
    if lost:
        m.sms[sm].stores += 1
        send(m, sm, STORE, line, lost, 0, m.cache.ways[way].writer, -1, -1, time)
    if m.cache.ways[way].valid == 0 and m.cache.ways[way].pending == 0:
        invalidate_way(m.cache, set_of(m, sm, line), way)
        m.cache.ways[way].poisoned = 0


@inlined
def send(m, sm, kind, line, mask, partial, op, way, f, time):
    """Send a request to L2, whose reply fills a way or answers a transaction of a load, if these are not -1.

    `partial` holds the sectors that a store covers in part and, from bit 8 on, the words it writes of these.
    """
    r = take(m.free_requests)
    m.requests[r].time = time
    m.requests[r].looked_up = time
    m.requests[r].line = line
    m.requests[r].key = hash32(m.p[0].arbitration_key ^ hash32(time * 256 + sm)) if m.p[0].arbitration else sm
    m.requests[r].way = way
    m.requests[r].load = f
    m.requests[r].sm = sm
    m.requests[r].op = op
    m.requests[r].target = m.mapping[line].slice
    m.requests[r].kind = kind
    m.requests[r].mask = mask
    m.requests[r].need = 0
    m.requests[r].partial = partial & ALL
    m.requests[r].words = partial >> 8
    schedule(m.to_l2, m.requests, r)


@inlined
def join_load(m, sm, op):
    """The load of the instruction at the load-store unit, with one more transaction to wait for."""
    f = m.sms[sm].load
    slot = m.sms[sm].warp
    if f < 0:
        f = take(m.free_loads)
        m.sms[sm].load = f
        m.loads[f].issued = m.sms[sm].started
        m.loads[f].done = 0
        m.loads[f].warp = slot
        m.loads[f].op = op
        m.loads[f].ring_slot = m.sms[sm].ring_slot
        m.loads[f].left = 1  # one for the issue itself
        m.warps[sm * SLOTS + slot].outstanding_loads += 1
    m.loads[f].left += 1
    return f


@inlined
def wait_at(m, way, f, need, time):
    """Let a transaction wait for sectors of a way that other requests bring."""
    target = take(m.free_mshr_targets)
    m.mshr_targets[target].time = time
    m.mshr_targets[target].load = f
    m.mshr_targets[target].need = need
    m.mshr_targets[target].next = m.cache.ways[way].waiting
    m.cache.ways[way].waiting = target


@inlined
def count(m, op, kind, event, mask, hits, merges):
    """Count a transaction under its worst sector's event and each of its sectors under its own."""
    rest = mask ^ hits ^ merges
    m.counters[op, kind + event, 0] += 1
    if rest:
        m.counters[op, kind + event, 1] += m.sectors[rest]
    if hits:
        m.counters[op, kind + HIT, 1] += m.sectors[hits]
    if merges:
        m.counters[op, kind + MERGE, 1] += m.sectors[merges]


@inlined
def allocate(m, sm, s, line, time):
    """A way of set `s` for `line`, or -1 when the load-store unit must wait. A dirty victim is sent to L2."""
    p = m.p[0]
    keeps = p.write_policy == BACK or (len(m.local) > 0 and p.local_write_policy == BACK)
    if keeps and m.sms[sm].stores >= p.max_stores:
        return -1  # a dirty victim could not leave; tested first, so that trying again draws nothing
    way = victim(m.cache, s)
    if way < 0:
        return way
    old = np.int64(m.cache.tags[way])
    if p.inclusive and old >= 0:
        at = old * p.sharer_words + (sm >> 5)
        m.sharers[at] = m.sharers[at] & (WORD ^ 1 << (sm & 31))
    dirty = np.int64(m.cache.ways[way].dirty)
    if dirty:
        m.sms[sm].stores += 1
        send(m, sm, STORE, old, dirty, 0, m.cache.ways[way].writer, -1, -1, time)
    replace(m.cache, s, way, line)
    m.cache.ways[way].poisoned = 0
    m.cache.ways[way].waiting = -1
    m.cache.ways[way].owner = 0
    if p.inclusive:
        m.allocated_at[way] = time
    return way


@inlined
def load(m, sm, k, op, way, time):
    """Look transaction `k`, of a load, up in L1, where its line has no way, or one that lacks sectors."""
    line = m.lines[k]
    mask = np.int64(m.masks[k])
    s = set_of(m, sm, line)
    if way < 0:
        return miss(m, sm, s, line, mask, op, time)
    valid = mask & np.int64(m.cache.ways[way].valid)
    pending = (mask ^ valid) & np.int64(m.cache.ways[way].pending)
    new = mask ^ valid ^ pending
    if new and m.sms[sm].loads >= m.p[0].l1_mshrs:
        return AGAIN
    touch(m.cache, s, way)
    f = join_load(m, sm, op)
    if new:
        request_sectors(m, sm, line, new, op, way, -1 if pending else f, time)
    if pending:
        wait_at(m, way, f, new | pending, time)
    count(m, op, READS, SECTOR_MISS if new else MERGE, mask, valid, pending)
    return DONE


@inlined
def miss(m, sm, s, line, mask, op, time):
    """Look a load's transaction up in L1, set `s` of which does not hold its line."""
    if m.sms[sm].loads >= m.p[0].l1_mshrs:
        return ABSENT
    way = allocate(m, sm, s, line, time)
    if way < 0:
        return bypass(m, sm, BYPASS, line, mask, op, time) if m.p[0].full_set_bypasses else ABSENT
    request_sectors(m, sm, line, mask, op, way, join_load(m, sm, op), time)
    count(m, op, READS, MISS, mask, 0, 0)
    return DONE


@inlined
def request_sectors(m, sm, line, mask, op, way, f, time):
    """Request sectors of a way from L2, for a transaction of load `f` if that is not -1."""
    m.sms[sm].loads += 1
    m.cache.ways[way].pending = m.cache.ways[way].pending | mask
    send(m, sm, LOAD, line, mask, 0, op, way, f, time)


@inlined
def complete(m, sm, op, time, latency, n):
    """`n` transactions of the current instruction got their data, the last at `time`, without leaving the SM."""
    record(m, op, latency, n)
    m.sms[sm].done = max(m.sms[sm].done, time)


@inlined
def bypass(m, sm, kind, line, mask, op, time):
    """A load that L1 does not cache, or an atomic: L2 answers."""
    if m.sms[sm].loads >= m.p[0].l1_mshrs:
        return AGAIN
    m.sms[sm].loads += 1
    if kind == ATOMIC:
        evict_own_copy(m, sm, line, mask, time)
    send(m, sm, kind, line, mask, 0, op, -1, join_load(m, sm, op), time)
    count(m, op, first_event(kind), MISS, mask, 0, 0)
    return DONE


@inlined
def evict_own_copy(m, sm, line, mask, time):
    """L2 changes the data, so this SM's copy goes."""
    way = find(m.cache, set_of(m, sm, line), line)
    if way >= 0:
        invalidate(m, sm, way, line, mask, time)


@inlined
def store(m, sm, kind, line, mask, sent, partial, op, absent, time):
    """A store or reduction, of `partial` sectors in part; its sectors but `sent` leave with a later store.

    What L1 writes back, if it keeps stores, counts as whole sectors: it does not know the bytes.
    """
    p = m.p[0]
    local = len(m.local) > 0 and m.local[op] > 0
    policy = p.local_write_policy if local else p.write_policy
    caches = kind == STORE and p.l1_enabled
    keeps = caches and policy == BACK
    s = set_of(m, sm, line)
    way = np.int64(-1) if absent else find(m.cache, s, line)
    hits = 0
    event = MISS
    if way >= 0:
        hits = mask & np.int64(m.cache.ways[way].valid)
        event = HIT if hits == mask else SECTOR_MISS
    if not keeps and sent and m.sms[sm].stores >= p.max_stores:
        return ABSENT if way < 0 else AGAIN
    if keeps or (caches and policy == ALLOCATE):
        if way < 0:
            way = allocate(m, sm, s, line, time)
            if way < 0 and (keeps or not p.full_set_bypasses):
                return ABSENT
        if way >= 0:
            m.cache.ways[way].valid = m.cache.ways[way].valid | mask
    if keeps:
        m.cache.ways[way].dirty = m.cache.ways[way].dirty | mask
        m.cache.ways[way].writer = op
        if local:
            m.cache.ways[way].owner = 1 + m.warps[sm * SLOTS + m.sms[sm].warp].block
    else:
        if way >= 0 and (kind == REDUCTION or policy == EVICT):
            invalidate(m, sm, way, line, mask, time)
            way = -1
        if sent:
            m.sms[sm].stores += 1
            send(m, sm, kind, line, sent, partial, op, -1, -1, time)
    if way >= 0 and event != MISS:
        touch(m.cache, s, way)
    count(m, op, WRITES if kind == STORE else ATOMICS, event, mask, hits, 0)
    return DONE


@inlined
def drop_local(m, sm, owner):
    """Forget lines with the local memory of a block that has ended, dirty sectors, too: nothing reads them again."""
    for s in range(sm * m.p[0].l1_sets, (sm + 1) * m.p[0].l1_sets):
        for slot in range(m.cache.shape[0].ways):
            way = way_of_slot(m.cache, s, slot)
            if m.cache.ways[way].owner == owner and m.cache.tags[way] >= 0:
                m.cache.ways[way].owner = 0
                m.cache.ways[way].valid = 0
                m.cache.ways[way].dirty = 0
                if m.cache.ways[way].pending == 0:
                    invalidate_way(m.cache, s, way)
                    m.cache.ways[way].poisoned = 0
