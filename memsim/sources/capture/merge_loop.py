"""What the threads of a warp did, each for itself, becomes the instructions of the warp: compiled."""

from __future__ import annotations

import numpy as np

from memsim.sources.capture.accesses import ADDRESS_MASK, is_back_edge, issue
from memsim.sources.capture.positions import (
    BAD_BLOCK,
    BARRIER,
    DONE,
    LATCH,
    NOWHERE,
    TAG_MASK,
    TAG_SHIFT,
    WARP_SIZE,
    compare,
    next_group,
    note,
    settle,
)
from memsim.sources.rows import START, log_barrier
from memsim.support.compiled import inlined, loop

HEADER_WORDS = 2  # of a message, before each block but the first


@loop
def merge_warps(words, starts, first_warp, progress, last, sites, memory, ops, out, lane, calls, group, barrier):
    """Merge some warps of blocks; returns DONE, or what stopped it at warp ``progress[0]``, which leaves no trace.

    Args:
        words, starts: of :class:`memsim.sources.capture.lane_log.Blocks`.
        first_warp: i8 [n_blocks], number in the launch of each block's first warp.
        progress: i8 [1], the first warp to merge, counted over these blocks; moved on with each that is merged.
        last: the warp to stop before.
        sites, memory, ops, out: see :mod:`memsim.sources.capture.accesses`; ``out`` has room for all.
        lane: LANE [WARP_SIZE + 1].
        calls: i8 [WARP_SIZE + 1, deepest].
        group: i8 [3, WARP_SIZE].
        barrier: u4 [2], room for one warp's mask and number.
    """
    warp = np.int64(0)  # typed, or all that gets it would be compiled twice, once for a constant
    for b in range(len(starts) - 1):
        start, stop = starts[b], starts[b + 1] - HEADER_WORDS
        n_threads = words[start + 1]
        first_word = start + 3 + n_threads
        if n_threads < 0 or first_word > stop or first_word + words[first_word - 1] != stop:
            return BAD_BLOCK
        for thread in range(0, n_threads, WARP_SIZE):
            if progress[0] <= warp < last:
                n_lanes = min(WARP_SIZE, n_threads - thread)
                for i in range(n_lanes):
                    lane[i]["at"] = first_word + words[start + 2 + thread + i]
                    lane[i]["stop"] = first_word + words[start + 3 + thread + i]
                    if not first_word <= lane[i]["at"] <= lane[i]["stop"] <= stop:
                        return BAD_BLOCK
                rows, addresses = out.cursor[0], out.cursor[1]
                number = first_warp[b] + thread // WARP_SIZE
                result = merge_warp(words, warp, number, n_lanes, sites, memory, ops, out, lane, calls, group, barrier)
                if result != DONE:
                    out.cursor[0], out.cursor[1] = rows, addresses
                    return result
                progress[0] = warp + 1
            warp += 1
    return DONE


@inlined
def merge_warp(words, warp, number, n_lanes, sites, memory, ops, out, lane, calls, group, barrier):
    """Log the instructions of one warp, by repeatedly letting the lanes at the smallest position go on."""
    out.state[warp, :] = 0
    out.state[warp, START] = 1
    out.issued[:] = -1
    out.latched[:] = 0
    for i in range(n_lanes):
        lane[i]["outer"], lane[i]["depth"] = NOWHERE, 0
        result = settle(words, lane, calls, i, sites.site_of)
        if result != DONE:
            return result
    together = group[0]
    while True:
        count = next_group(lane, calls, n_lanes, together)
        if count == 0:
            return DONE
        first = together[0]
        tag = (words[lane[first]["at"]] >> TAG_SHIFT) & TAG_MASK
        if tag == LATCH:
            note(lane, calls, first, WARP_SIZE)
        elif tag == BARRIER:
            log_block_barrier(warp, together, count, out, barrier)
        else:
            result = access(words, warp, number, lane, together, count, sites, memory, ops, out, group)
            if result != DONE:
                return result
        for i in range(count):
            lane[together[i]]["at"] += 1
            result = settle(words, lane, calls, together[i], sites.site_of)
            if result != DONE:
                return result
        if tag == LATCH and is_back_edge(lane[WARP_SIZE]["site"], sites, out):
            for i in range(count):
                if goes_back(lane, calls, together[i], WARP_SIZE):
                    out.state[warp, START] = 1


@inlined
def goes_back(lane, calls, i, latch):
    """Whether a lane that was at a latch is in another iteration of its loop, rather than behind it."""
    if lane[i]["key"] != lane[latch]["key"]:
        return lane[i]["key"] < lane[latch]["key"]
    return compare(lane, calls, i, latch) <= 0


@inlined
def log_block_barrier(warp, lanes, count, out, barrier):
    """Log a barrier that some lanes of a warp wait at."""
    mask = np.int64(0)
    for i in range(count):
        mask |= np.int64(1) << lanes[i]
    barrier[0], barrier[1] = mask, warp
    log_barrier(out.rows, out.cursor, out.state, barrier[:1], barrier[1:], 0, 1)


@inlined
def access(words, warp, number, lane, together, count, sites, memory, ops, out, group):
    """Log what the lanes at one site access: together, unless they access different widths there."""
    lanes, address = group[1], group[2]
    done = np.int64(0)  # lanes of `together`, as bits
    while done != (np.int64(1) << count) - 1:
        taken, wanted = np.int64(0), np.int64(-1)
        for i in range(count):
            word = words[lane[together[i]]["at"]]
            kind = np.int64(sites.access_of[(word >> TAG_SHIFT) & TAG_MASK])
            if (done >> i) & 1 or wanted not in (-1, kind):
                continue
            wanted, done = kind, done | np.int64(1) << i
            lanes[taken], address[taken] = together[i], word & ADDRESS_MASK
            taken += 1
        site = lane[together[0]]["site"]
        result = issue(warp, number, wanted, site, lanes, address, taken, sites, memory, ops, out)
        if result != DONE:
            return result
    return DONE
