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

MESSAGE_WORDS = 2  # of a message's header, before each block but the first
# How far a warp is: whether it has begun, how many lanes of the last group are to be settled, whether those were at a
# latch that is a back-edge.
BEGUN, UNSETTLED, LATCHED = range(3)
TURN = 3


@loop
def merge_warps(words, starts, first_warp, progress, turn, sites, memory, ops, out, lane, calls, group, barrier):
    """Merge the warps of blocks; returns DONE, or what stopped it at warp ``progress[0]``, where it can go on.

    Args:
        words, starts: of :class:`memsim.sources.capture.lane_log.Blocks`.
        first_warp: i8 [n_blocks], number in the launch of each block's first warp.
        progress: i8 [1], the first warp to merge, counted over these blocks; moved on with each that is merged.
        turn: i8 [TURN], zeros at first.
        sites, memory, ops, out: see :mod:`memsim.sources.capture.accesses`; ``out`` has room for all.
        lane: LANE [WARP_SIZE + 1].
        calls: i8 [WARP_SIZE + 1, deepest].
        group: i8 [3, WARP_SIZE].
        barrier: u4 [2], room for one warp's mask and number.
    """
    warp = np.int64(0)  # typed, or all that gets it would be compiled twice, once for a constant
    for b in range(len(starts) - 1):
        start, stop = starts[b], starts[b + 1] - MESSAGE_WORDS
        n_threads = words[start + 1]
        first_word = start + 3 + n_threads
        if n_threads < 0 or first_word > stop or first_word + words[first_word - 1] != stop:
            return BAD_BLOCK
        for thread in range(0, n_threads, WARP_SIZE):
            if warp == progress[0]:
                n_lanes = min(WARP_SIZE, n_threads - thread)
                if not turn[BEGUN]:
                    for i in range(n_lanes):
                        lane[i]["at"] = first_word + words[start + 2 + thread + i]
                        lane[i]["stop"] = first_word + words[start + 3 + thread + i]
                        lane[i]["more"] = 0
                        if not first_word <= lane[i]["at"] <= lane[i]["stop"] <= stop:
                            return BAD_BLOCK
                number = first_warp[b] + thread // WARP_SIZE
                result = merge_warp(
                    words, warp, number, n_lanes, turn, sites, memory, ops, out, lane, calls, group, barrier
                )
                if result != DONE:
                    return result
                turn[BEGUN] = 0
                progress[0] = warp + 1
            warp += 1
    return DONE


@loop
def merge_window(words, warp, number, n_lanes, turn, sites, memory, ops, out, lane, calls, group, barrier):
    """Go on with one warp, whose lanes have the words that are here and maybe more; as :func:`merge_warp`."""
    return merge_warp(words, warp, number, n_lanes, turn, sites, memory, ops, out, lane, calls, group, barrier)


@inlined  # a call takes as long as some accesses: short warps would notice
def merge_warp(words, warp, number, n_lanes, turn, sites, memory, ops, out, lane, calls, group, barrier):
    """Log the instructions of one warp, by repeatedly letting the lanes at the smallest position go on.

    Returns DONE, or what stopped it: STARVED where a lane has come to the end of its words here, and there are more.
    """
    together = group[0]
    if not turn[BEGUN]:
        begin_warp(warp, n_lanes, turn, out, lane, together)
    while True:
        for i in range(turn[UNSETTLED]):
            result = settle(words, lane, calls, together[i], sites.site_of)
            if result != DONE:
                return result
        if turn[LATCHED]:
            for i in range(turn[UNSETTLED]):
                if goes_back(lane, calls, together[i], WARP_SIZE):
                    out.state[warp, START] = 1
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
        turn[UNSETTLED] = count
        turn[LATCHED] = tag == LATCH and is_back_edge(lane[WARP_SIZE]["site"], sites, out)


@inlined
def begin_warp(warp, n_lanes, turn, out, lane, together):
    """Forget the warp before; all lanes are to be settled."""
    out.state[warp, :] = 0
    out.state[warp, START] = 1
    out.issued[:] = -1
    out.latched[:] = 0
    for i in range(n_lanes):
        lane[i]["outer"], lane[i]["depth"] = NOWHERE, 0
        together[i] = i
    turn[BEGUN], turn[UNSETTLED], turn[LATCHED] = 1, n_lanes, 0


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
