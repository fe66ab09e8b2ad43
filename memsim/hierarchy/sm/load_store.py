"""Streaming multiprocessors: warp queues, schedulers, the load-store unit and L1, advanced by one quantum of time.

A warp issues in order, up to an instruction that waits for loads: for those whose values it uses, or at a sequence's
start for all (bulk scheduling, Baghsorkhi 2012, section 2).
The load-store unit looks up `l1.tags_per_cycle` transactions at a time, and is busy with an instruction for its
wavefronts; when it lacks an MSHR, a way or a store slot it blocks until a reply comes. Everything an SM does within a
quantum follows from its own state and the replies that are due, which are all known when the quantum begins.
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.cache.replacement import touch
from memsim.hierarchy.cache.ways import find, first_way
from memsim.hierarchy.codes import (
    ALL,
    ATOMIC,
    BYPASS,
    HIT,
    INVALIDATE,
    LOAD,
    NEVER,
    READS,
    REDUCTION,
    STORE,
    returns_data,
)
from memsim.hierarchy.requests import deliver, give, pop, prefetch_due
from memsim.hierarchy.sm.events import next_event, pop_event, push
from memsim.hierarchy.sm.l1 import (
    ABSENT,
    DONE,
    answer_own,
    bypass,
    complete,
    end_load,
    fill,
    invalidate,
    load,
    set_of,
    store,
)
from memsim.hierarchy.sm.mbarriers import answered, note_signal
from memsim.hierarchy.sm.scoreboard import enter_load, must_wait, release_scoreboard, set_scoreboard, wait_for_loads
from memsim.hierarchy.sm.state import OP_ATOMIC, OP_LOAD, OP_STORE, SLOTS
from memsim.hierarchy.sm.warps import act, acts_first, choose, make_ready
from memsim.jit.compiled import inlined
from memsim.jit.prefetch_host import prefetch
from memsim.jit.struct_pointer import pointer_to
from memsim.trace.transactions import BYPASS_FLAG, CONSTANT_FLAG

AHEAD, NEAR = 8, 4  # transactions between the prefetch of a line's record, then of its set, and the lookup


@inlined
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
        way = find(m.cache, set_of(m, sm, line), line)
        if way >= 0 and m.allocated_at[way] <= m.requests[r].time - m.p[0].return_cycles:
            invalidate(m, sm, way, line, np.int64(m.requests[r].mask), time)
    else:
        m.sms[sm].stores -= 1
    give(m.free_requests, r)


@inlined
def due(m, sm):
    """When the SM's first reply has arrived whole."""
    r = m.replies[sm].head
    if r < 0:
        return NEVER
    time = max(m.requests[r].time, m.sms[sm].link_free)
    if returns_data(m.requests[r].kind):
        time += m.link_cycles[m.requests[r].mask]
    prefetch(m.cache.ways, m.requests[r].way)
    prefetch(m.loads, m.requests[r].load)
    prefetch(m.requests, m.requests[r].next)
    return time


@inlined
def prefetch_set(m, sm, k):
    """Prefetch the set that transaction `k` will be looked up in."""
    way = first_way(m.cache, set_of(m, sm, m.lines[k]))
    prefetch(m.cache.tags, way)
    prefetch(m.cache.ways, way)


@inlined
def prefetch_lookups(m, sm, k, last):
    """Prefetch the sets of the transactions after `k`."""
    prefetch(m.mapping, m.lines[min(k + AHEAD, last)])
    if len(m.prefetch_cursors):  # the L1s of few SMs stay in the host's caches
        prefetch_set(m, sm, min(k + NEAR, last))


@inlined
def prefetch_first(m, sm, k, stop):
    """Prefetch the sets of the first transactions of an instruction, from `k` on, before the first lookup."""
    if len(m.prefetch_cursors):
        for at in range(k, min(k + AHEAD, stop)):
            prefetch(m.mapping, m.lines[at])
        for at in range(k, min(k + NEAR, stop)):
            prefetch_set(m, sm, at)


@inlined
def after_look_up(m, i, k, stop, time):
    """When transaction `k` of instruction `i` can be looked up, if the one before it was at `time`."""
    return time + m.p[0].lookup_cycles if k == stop or (k - i.first) & (m.p[0].tags - 1) == 0 else time


@inlined
def look_up_hits(m, sm, k, stop, i, limit, time):
    """Look up transactions of a load, from `k` on and before `limit`, as long as L1 holds all their sectors.

    What hits differs by its line and its sectors alone, so the rest is worked out once for all.

    Returns (the first transaction that is left, the way of its line or -1, when it can be looked up).
    """
    first, last, sectors, way = k, time, 0, np.int64(-1)
    while k < stop and time < limit:
        prefetch_lookups(m, sm, k, stop - 1)
        line = m.lines[k]
        mask = np.int64(m.masks[k])
        s = set_of(m, sm, line)
        way = find(m.cache, s, line)
        if way < 0 or mask & np.int64(m.cache.ways[way].valid) != mask:
            break
        touch(m.cache, s, way)
        sectors += m.sectors[mask]
        last = time
        k += 1
        time = after_look_up(m, i, k, stop, time)
    if k > first:
        m.counters[i.op, READS + HIT, 0] += k - first
        m.counters[i.op, READS + HIT, 1] += sectors
        complete(m, sm, i.op, last + m.p[0].l1_latency, m.p[0].l1_latency, k - first)
    return k, way, time


@inlined
def look_up(m, sm, k, i, absent, time):
    """Look transaction `k` of instruction `i` up, which is no load that L1 serves; returns what that came to."""
    prefetch_lookups(m, sm, k, m.sms[sm].stop - 1)
    line = m.lines[k]
    mask = np.int64(m.masks[k])
    if i.kind == OP_LOAD:
        return bypass(m, sm, BYPASS, line, mask, i.op, time)
    if i.kind == OP_ATOMIC:
        return bypass(m, sm, ATOMIC, line, mask, i.op, time)
    kind = STORE if i.kind == OP_STORE else REDUCTION
    sent = mask & (ALL ^ np.int64(m.merged[k])) if len(m.merged) else mask
    partial = np.int64(m.partial[k])
    if len(m.words):
        partial |= np.int64(m.words[k]) << 8
    return store(m, sm, kind, line, mask, sent, partial, i.op, absent, time)


@inlined
def look_up_constant(m, sm, op, addresses, time):
    """Have the constants' unit look up an instruction's distinct addresses, after those that wait there already."""
    free = max(m.sms[sm].constants_free, time) + addresses * m.p[0].constant_cycles
    m.sms[sm].constants_free = free
    done = free - 1 + m.p[0].shared_latency
    complete(m, sm, op, done, done - time, 1)


@inlined
def start(m, sm, time):
    """Give the load-store unit the next instruction; returns when the unit is free again."""
    slot = choose(m, sm)
    w = sm * SLOTS + slot
    m.warps[w].ready = 0
    m.sms[sm].ready -= 1
    m.sms[sm].warp = slot
    m.sms[sm].load = -1
    m.sms[sm].started = time
    m.sms[sm].done = time
    m.warps[w].started = 1
    i = m.instructions[m.warps[w].pc]
    m.sms[sm].ring_slot = enter_load(m, w, i.answers) if m.p[0].scoreboard else -1
    note_signal(m, m.sms[sm].ring_slot, m.warps[w].pc)
    set_scoreboard(m, w, m.sms[sm].ring_slot, m.warps[w].pc)
    m.sms[sm].next = i.first
    m.sms[sm].stop = i.first + i.count
    prefetch_first(m, sm, i.first, i.first + i.count)
    if i.slots == 0:
        return time
    if i.flags & CONSTANT_FLAG:
        look_up_constant(m, sm, i.op, i.slots, time)
        return time
    busy = i.slots * m.p[0].pass_cycles
    if i.kind == OP_LOAD or i.kind == OP_ATOMIC:
        latency = busy - 1 + m.p[0].shared_latency
        complete(m, sm, i.op, time + latency, latency, 1)
    return time + busy


@inlined
def finish(m, sm, time):
    """The load-store unit has finished its instruction at `time`; its warp continues or waits."""
    slot = m.sms[sm].warp
    w = sm * SLOTS + slot
    pc = m.warps[w].pc
    f = m.sms[sm].load
    m.sms[sm].transactions += m.instructions[pc].count
    m.sms[sm].warp = -1
    m.warps[w].wake = max(m.warps[w].wake, m.sms[sm].done, time)
    if f >= 0:
        m.loads[f].done = max(m.loads[f].done, m.sms[sm].done)
        m.loads[f].left -= 1
        if m.loads[f].left == 0:
            end_load(m, sm, f, time)
    elif m.instructions[pc].kind == OP_LOAD or m.instructions[pc].kind == OP_ATOMIC:
        op = m.instructions[pc].op
        m.times[op].instruction_sum += m.sms[sm].done - m.sms[sm].started
        m.times[op].instruction_count += 1
        if m.sms[sm].ring_slot >= 0:
            m.rings[m.sms[sm].ring_slot] = m.sms[sm].done
            release_scoreboard(m, w, m.sms[sm].ring_slot, m.sms[sm].done)
            answered(m, sm, slot, m.sms[sm].ring_slot, max(m.sms[sm].done, time))
    m.warps[w].pc = pc + 1
    if must_wait(m, w):
        wait_for_loads(m, sm, slot, time)
    elif not acts_first(m, pc + 1):
        make_ready(m, sm, w)
    else:
        push(m, sm, slot, time)


@inlined
def finish_wavefronts(m, sm, i, time):
    """When instruction `i`, all of it looked up by `time`, leaves the load-store unit.

    Data that hit, and data that L2 sent before `time`, are later by the wavefronts that are left. The unit takes its
    lanes for `request_cycles` at least, which delays no data; constants have a unit of their own.
    """
    late = m.sms[sm].started + np.int64(i.wavefronts) * m.p[0].lookup_cycles - time
    if late > 0:
        time += late
        m.sms[sm].done += late
        if m.sms[sm].load >= 0:
            m.loads[m.sms[sm].load].done += late
    if i.flags & CONSTANT_FLAG:
        return time
    return max(time, m.sms[sm].started + m.p[0].request_cycles)


@inlined
def at_unit(m, sm):
    """The instruction at the load-store unit; any when that is empty."""
    return m.warps[sm * SLOTS + max(m.sms[sm].warp, 0)].pc


@inlined
def advance_sm(m, sm, end):
    """Advance one SM to `end`; returns when it can act next.

    A turn is an event, or look-ups: of all that hit one after the other, and of one that does not.
    """
    time = m.sms[sm].time
    blocked, absent = False, m.sms[sm].absent > 0
    k, stop, pc = m.sms[sm].next, m.sms[sm].stop, at_unit(m, sm)
    reply = due(m, sm)  # replies come between quanta, so only a receipt changes which is first
    wake = next_event(m, sm)
    limit = min(reply, wake, end)
    while True:
        if limit <= time:
            if limit == end:
                break
            if reply <= wake:
                receive(m, sm, reply)
                reply = due(m, sm)
                blocked = False
            else:
                act(m, sm, pop_event(m, sm), wake)
            wake = next_event(m, sm)
            limit = min(reply, wake, end)
            continue
        if m.sms[sm].warp < 0 and m.sms[sm].ready:
            time = start(m, sm, time)
            k, stop, pc = m.sms[sm].next, m.sms[sm].stop, at_unit(m, sm)
        elif m.sms[sm].warp < 0 or blocked:
            time = limit
            continue
        i = m.instructions[pc]
        served, way = i.kind == OP_LOAD and m.p[0].l1_enabled and i.flags & BYPASS_FLAG == 0, np.int64(-1)
        if served and not absent:
            k, way, time = look_up_hits(m, sm, k, stop, i, limit, time)
        if k < stop and time < limit:
            outcome = load(m, sm, k, i.op, way, time) if served else look_up(m, sm, k, i, absent, time)
            absent = outcome == ABSENT
            blocked = outcome != DONE
            if blocked:
                time = limit
                continue
            k += 1
            time = after_look_up(m, i, k, stop, time)
        if k == stop:
            time = finish_wavefronts(m, sm, i, time)
            finish(m, sm, time)
            wake = next_event(m, sm)
            limit = min(reply, wake, end)
    m.sms[sm].next = k
    m.sms[sm].absent = absent
    m.sms[sm].time = time
    if m.sms[sm].warp >= 0 or m.sms[sm].ready:
        return time
    return max(min(reply, wake, NEVER), end)


@inlined
def accept(m, start, end):
    """Hand the replies of a quantum to their SMs."""
    step = max(len(m.prefetch_cursors), 1)
    for first in range(start, end, step):
        prefetch_due(m.to_sms, m.requests, first, m.prefetch_cursors)
        for time in range(first, min(first + step, end)):
            deliver(m.to_sms, m.requests, time, m.replies)


@inlined
def advance_sms(m, start, end):
    """Advance every SM over [start, end).

    Returns (earliest time at which one can act next, block slots freed, free MSHR targets and loads).
    """
    m = pointer_to(m)
    accept(m, start, end)
    m.freed_count[0] = 0
    earliest = NEVER
    for sm in range(len(m.sms)):
        earliest = min(earliest, advance_sm(m, sm, end))
    return earliest, m.freed_count[0], min(m.free_mshr_targets[0], m.free_loads[0])
