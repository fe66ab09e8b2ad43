"""Blocks that are not replayed in time: their accesses walk through the tags of L1 and L2, which stay warm.

The walk changes which lines caches hold, which are dirty and in what order they were used. It takes no time, counts
nothing that a result shows and sends nothing: a line that it replaces is gone, a sector that misses is there at once
(functional warming; Wunderlich et al., SMARTS, ISCA 2003). What is under way meanwhile, of blocks replayed in time,
keeps its ways, which no replacement takes.

Blocks that would run together are walked together: as many as the GPU holds take turns, a few memory instructions of
each warp at a time. They go to the SMs in turn.
"""

from __future__ import annotations

import numpy as np

from memsim.gpu.choices import Inclusion, L1WritePolicy
from memsim.gpu.config import GPU
from memsim.gpu.prefetcher import PrefetcherKind
from memsim.hierarchy.cache.replacement import replace, touch, victim
from memsim.hierarchy.cache.ways import find, invalidate_way, oldest_way, recall, way_of_slot
from memsim.hierarchy.codes import ALL
from memsim.hierarchy.l2.lookup import partial_sectors, still_partial, surplus_partial_way
from memsim.hierarchy.l2.state import FETCH_MISS, NO_ALLOCATE, UPDATE_MEMORY, VALIDATE
from memsim.hierarchy.machine import Machine
from memsim.hierarchy.sm.l1 import drop_local, set_of
from memsim.hierarchy.sm.state import ALLOCATE, ANY_BLOCK, BACK, EVICT, OP_LOAD, OP_STORE
from memsim.jit.compiled import inlined
from memsim.jit.plain_python import records
from memsim.jit.struct_pointer import pointer_to
from memsim.trace.transactions import BYPASS_FLAG

TURN = 4  # memory instructions that a warp walks in turn: fewer wait more for the host's memory
_NONE = np.int64(0)
TO_L2, TO_DRAM = range(2)  # of the traffic: sectors that L1s send on, sectors that DRAM reads and writes


def can_walk(gpu: GPU) -> bool:
    """Whether blocks can be walked: an L2 without prefetcher that invalidates no L1s, which keep no global stores."""
    back = gpu.l1.enabled and gpu.l1.write_policy is L1WritePolicy.write_back
    prefetches = gpu.prefetcher.kind is not PrefetcherKind.none
    return gpu.l2.enabled and gpu.l2.inclusion is not Inclusion.inclusive and not back and not prefetches


@inlined
def _write_back(m, way, traffic):
    """Let DRAM write the dirty sectors of a way, and read the rest of those that stores covered in part."""
    traffic[TO_DRAM] += m.sectors[m.cache.ways[way].dirty]
    if m.p[0].max_partial:
        traffic[TO_DRAM] += m.sectors[partial_sectors(m, way)]


@inlined
def _clean(m, way, at, traffic):
    """Write the dirty sectors of a way of set `at` back; the line stays."""
    _write_back(m, way, traffic)
    if m.p[0].max_partial:
        m.cache.ways[way].valid = m.cache.ways[way].valid | partial_sectors(m, way)
    m.cache.ways[way].dirty = 0
    if m.p[0].max_dirty:
        m.dirty_ways[at] -= 1


@inlined
def _find_or_allocate(m, tag, allocates, traffic):
    """The way of an L2 line, used now, or -1: it is absent, and not to be brought in or all its set waits for DRAM."""
    at = m.sets_of[tag]
    way = recall(m.way_of, m.cache, tag)
    if way >= 0:
        touch(m.cache, at, way)
        return way
    if not allocates:
        return np.int64(-1)
    way = victim(m.cache, at)
    if way >= 0:
        if m.cache.tags[way] >= 0 and m.cache.ways[way].dirty:
            _write_back(m, way, traffic)
            if m.p[0].max_dirty:
                m.dirty_ways[at] -= 1
        m.way_of[tag] = way
        replace(m.cache, at, way, tag)
        m.cache.ways[way].activated = 0
        if m.p[0].max_partial:
            m.written[way] = 0
    return way


@inlined
def _read(m, way, sectors, traffic):
    """The sectors `sectors` of a way are there after a load, with the rest of what a miss fetches."""
    valid, pending = np.int64(m.cache.ways[way].valid), np.int64(m.cache.ways[way].pending)
    absent = sectors & (ALL ^ valid) & (ALL ^ pending)
    if absent:
        brought = np.int64(m.fetch_bytes_mask[absent]) & m.p[0].line_mask & (ALL ^ valid) & (ALL ^ pending)
        m.cache.ways[way].valid = valid | brought
        traffic[TO_DRAM] += m.sectors[brought]


@inlined
def _write(m, way, at, sectors, partial, words, policy, op, traffic):
    """The sectors `sectors` of a way are as a store or an atomic leaves them, `partial` of them covered in part."""
    p = m.p[0]
    missing = sectors & (ALL ^ np.int64(m.cache.ways[way].valid)) & (ALL ^ np.int64(m.cache.ways[way].pending))
    if policy == FETCH_MISS or policy == UPDATE_MEMORY:
        _read(m, way, sectors, traffic)
    elif policy == VALIDATE:
        known = missing
        if partial & missing:
            known ^= still_partial(m, way, partial & missing, words)
        m.cache.ways[way].valid = m.cache.ways[way].valid | known
    through = missing if policy == UPDATE_MEMORY or policy == NO_ALLOCATE else 0
    traffic[TO_DRAM] += m.sectors[through]
    written = sectors & (ALL ^ through)
    active = sectors ^ missing if policy == NO_ALLOCATE else sectors
    if p.max_dirty and written and m.cache.ways[way].dirty == 0:
        m.dirty_ways[at] += 1
    m.cache.ways[way].dirty = m.cache.ways[way].dirty | written
    m.cache.ways[way].activated = m.cache.ways[way].activated | active
    m.writers[way] = op
    surplus = surplus_partial_way(m, at) if partial else np.int64(-1)
    if surplus >= 0:
        _clean(m, surplus, at, traffic)
    if p.max_dirty and m.dirty_ways[at] > p.max_dirty:
        oldest = oldest_way(m.cache, at)
        while m.cache.ways[oldest].dirty == 0:
            oldest = way_of_slot(m.cache, at, m.cache.ways[oldest].newer)
        _clean(m, oldest, at, traffic)


@inlined
def _in_copy(m, line, mask):
    """Whether the copy across from a line's home holds the sectors `mask`, which are used there now."""
    tag = line + m.p[0].n_lines
    way = recall(m.way_of, m.cache, tag)
    if way < 0 or mask & np.int64(m.cache.ways[way].valid) != mask:
        return False
    touch(m.cache, m.sets_of[tag], way)
    return True


@inlined
def _update_copy(m, line, mask, reads, traffic):
    """What the slice across from a line's home keeps after an access that was carried out at home."""
    tag = line + m.p[0].n_lines
    if reads:
        way = _find_or_allocate(m, tag, True, traffic)
        if way >= 0:
            m.cache.ways[way].valid = m.cache.ways[way].valid | mask
            m.copied[line] = 1
    elif m.copied[line]:
        m.copied[line] = 0
        way = recall(m.way_of, m.cache, tag)
        if way >= 0:
            m.cache.ways[way].valid = 0


@inlined
def _through_l2(m, line, mask, partial, words, kind, op, sm, traffic):
    """Carry one transaction out in L2; of its sectors, a store covers `partial` in part, and `words` of these."""
    p = m.p[0]
    reads = kind == OP_LOAD
    crosses = p.half > 0 and (sm & 1) != (1 if m.mapping[line].slice >= p.half else 0)
    if crosses and reads and _in_copy(m, line, mask):
        return
    policy = p.write_miss if kind == OP_STORE else FETCH_MISS
    for position in range(p.lines_per_packet):
        sectors = mask >> position * p.sectors_per_line & p.line_mask
        if sectors:
            tag = (line << p.packet_bits) + position
            way = _find_or_allocate(m, tag, reads or policy != NO_ALLOCATE, traffic)
            if way < 0:
                traffic[TO_DRAM] += m.sectors[sectors]
            elif reads:
                _read(m, way, sectors, traffic)
            else:
                shift = position * p.sectors_per_line
                _write(m, way, m.sets_of[tag], sectors, partial >> shift, words >> 8 * shift, policy, op, traffic)
    if p.half and (not reads or crosses):
        _update_copy(m, line, mask, reads, traffic)


@inlined
def _leave_l1(u, m, sm, way, sectors, traffic):
    """Let L2 take dirty sectors of a way of an L1."""
    lost = np.int64(u.cache.ways[way].dirty) & sectors
    if lost:
        u.cache.ways[way].dirty = u.cache.ways[way].dirty ^ lost
        traffic[TO_L2] += m.sectors[lost]
        line, op = np.int64(u.cache.tags[way]), u.cache.ways[way].writer
        _through_l2(m, line, lost, _NONE, _NONE, OP_STORE, op, sm, traffic)


@inlined
def _through_l1(u, m, sm, line, mask, kind, op, bypasses, traffic):
    """Carry a transaction out in the L1 of an SM; returns the sectors that go on to L2."""
    p = u.p[0]
    if not p.l1_enabled or (kind == OP_LOAD and bypasses):
        return mask
    local = len(u.local) > 0 and u.local[op] > 0
    policy = p.local_write_policy if local else p.write_policy
    allocates = kind == OP_LOAD or (kind == OP_STORE and (policy == ALLOCATE or policy == BACK))
    s = set_of(u, sm, line)
    way = find(u.cache, s, line)
    if way < 0 and allocates:
        way = victim(u.cache, s)
        if way >= 0:
            if len(u.local):
                _leave_l1(u, m, sm, way, ALL, traffic)
            replace(u.cache, s, way, line)
            u.cache.ways[way].poisoned = 0
            u.cache.ways[way].waiting = -1
            u.cache.ways[way].owner = 0
    elif way >= 0:
        touch(u.cache, s, way)
    if way < 0:
        return mask
    valid, pending = np.int64(u.cache.ways[way].valid), np.int64(u.cache.ways[way].pending)
    if allocates:
        u.cache.ways[way].valid = valid | mask
        if kind == OP_STORE and policy == BACK:
            u.cache.ways[way].dirty = u.cache.ways[way].dirty | mask
            u.cache.ways[way].writer = op
            u.cache.ways[way].owner = ANY_BLOCK
            return _NONE
        return mask & (ALL ^ valid) & (ALL ^ pending) if kind == OP_LOAD else mask
    if kind != OP_STORE or policy == EVICT:
        if len(u.local):
            _leave_l1(u, m, sm, way, ALL if p.l1_unsectored else mask, traffic)
        u.cache.ways[way].valid = 0 if p.l1_unsectored else valid & (ALL ^ mask)
        if u.cache.ways[way].valid == 0 and pending == 0:
            invalidate_way(u.cache, s, way)
    return mask


@inlined
def _walk_instruction(u, m, i, sm, traffic):
    """Carry the transactions of one memory instruction out."""
    kind, op = u.instructions[i].kind, u.instructions[i].op
    bypasses = u.instructions[i].flags & BYPASS_FLAG != 0
    begin = u.instructions[i].first
    for k in range(begin, begin + u.instructions[i].count):
        line = np.int64(u.lines[k])
        missed = _through_l1(u, m, sm, line, np.int64(u.masks[k]), kind, op, bypasses, traffic)
        if len(u.merged):
            missed &= ALL ^ np.int64(u.merged[k])
        partial, words = (np.int64(u.partial[k]), np.int64(u.words[k])) if m.p[0].max_partial else (_NONE, _NONE)
        if missed:
            traffic[TO_L2] += m.sectors[missed]
            _through_l2(m, line, missed, partial, words, kind, op, sm, traffic)


@inlined
def _walk_warp(u, m, i, stop, sm, traffic):
    """Walk the next TURN instructions with transactions of a warp that is at `i`; returns where it is then."""
    walked = 0
    while i < stop and walked < TURN:
        if u.instructions[i].count:
            _walk_instruction(u, m, i, sm, traffic)
            walked += 1
        i += 1
    return i


@inlined
def walk_blocks(u, m, first, end, at, wave, traffic):
    """Walk the accesses of blocks, of which `wave` take turns.

    Args:
        u, m: the SMs and the slices of a machine.
        first, end: i8 [blocks, warps per block], instruction numbers.
        at: i8 [wave, warps per block], room for the warps' places.
        traffic: i8 [2], added to.
    """
    u, m = pointer_to(u), pointer_to(m)
    warps = first.shape[1]
    for begin in range(0, len(first), wave):
        blocks = min(wave, len(first) - begin)
        for block in range(blocks):
            for warp in range(warps):
                at[block, warp] = first[begin + block, warp]
        left = True
        while left:
            left = False
            sm = begin % len(u.sms)
            for block in range(blocks):
                for warp in range(warps):
                    i, stop = at[block, warp], end[begin + block, warp]
                    if i < stop:
                        at[block, warp] = _walk_warp(u, m, i, stop, sm, traffic)
                        left = True
                sm = sm + 1 if sm + 1 < len(u.sms) else 0
        if len(u.local):
            for sm in range(len(u.sms)):
                drop_local(u, sm, ANY_BLOCK)


def walk(machine: Machine, wave: int, first: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Walk blocks of a trace through the tags of a machine's caches.

    Args:
        machine: that replays the trace.
        wave: blocks that the GPU holds at once.
        first, end: i8 [blocks, warps per block], their warps' first and end instructions.

    Returns:
        i8 [2], the sectors TO_L2 and TO_DRAM.
    """
    traffic, at = np.zeros(2, np.int64), np.zeros((wave, first.shape[1]), np.int64)
    blocks = (records(np.ascontiguousarray(one)) for one in (first, end, at))
    arguments = machine.sms, machine.slices, *blocks, wave, records(traffic)
    machine.loop("walk", walk_blocks, *arguments)(*arguments)
    return traffic
