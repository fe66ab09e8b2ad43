"""Warp instructions that a GPU recorded become instructions of the trace: compiled.

A record is four 32-bit words ``{block, warp | variant << 16, mask, space}`` and an address of two words for each lane
of the mask, lowest lane first; or, where the variant is a mark, only the four, the last of which is the mark's site.
Records of one warp come in the order of issue, those of different warps mixed.
"""

from __future__ import annotations

import numpy as np

from memsim.sources.capture.accesses import is_back_edge, issue
from memsim.sources.capture.positions import BAD_WORD, BARRIER, DONE, LATCH, TAG_MASK, WARP_SIZE
from memsim.sources.rows import START, log_barrier
from memsim.support.compiled import loop
from memsim.trace.bits import popcount

HEADER_WORDS, SITE_BITS = 4, 16
GLOBAL, CONSTANT, SHARED, LOCAL = range(4)  # spaces, as the probes number them
# Where the trace has what the probes give as offsets in the block's shared, or in the thread's local memory.
SHARED_WINDOW, LOCAL_WINDOW, WINDOW_BYTES = 1 << 60, 1 << 61, 1 << 32


@loop
def find_records(words, first_block, n_blocks, warps_per_block, starts, warps):
    """Fill where each record starts and its warp, counted from the first block's; how many there are, -1 for nonsense.

    Args:
        words: u4 [n].
        starts: i8, room for a record every four words.
        warps: i8, the same.
    """
    at, count = 0, 0
    while at + HEADER_WORDS <= len(words):
        block, warp = np.int64(words[at]) - first_block, np.int64(words[at + 1]) & TAG_MASK
        variant, mask = np.int64(words[at + 1]) >> SITE_BITS, words[at + 2]
        if not 0 <= block < n_blocks or warp >= warps_per_block or mask == 0:
            return -1
        starts[count], warps[count] = at, block * warps_per_block + warp
        count += 1
        at += HEADER_WORDS + (0 if variant >= LATCH else 2 * popcount(mask))
    return count if at == len(words) else -1


@loop
def merge_records(words, starts, warps, order, first_warp, sites, memory, ops, out, lanes, address, barrier):
    """Log the records' instructions, in the given order, which has each warp's together; DONE, or what is wrong.

    A GPU does not record calls. So a latch has been a back-edge if the warp's next record is of the latch's site or
    one before. Where a loop's body only calls functions that is not seen: what they wait for ends sequences there.

    Args:
        first_warp: number in the launch of the first block's first warp.
        lanes, address: i8 [WARP_SIZE].
        barrier: u4 [2].
    """
    warp, latch = np.int64(-1), np.int64(0)
    for k in range(len(order)):
        at = starts[order[k]]
        if warps[order[k]] != warp:
            warp, latch = warps[order[k]], np.int64(0)
            out.state[warp, START] = 1
            out.issued[:] = -1
            out.latched[:] = 0
        variant, mask, last = np.int64(words[at + 1]) >> SITE_BITS, words[at + 2], np.int64(words[at + 3])
        site = last & TAG_MASK
        if variant < LATCH:
            site = np.int64(sites.site_of[variant]) if variant < len(sites.site_of) else np.int64(0)
        if latch != 0 and site <= latch and variant != BARRIER:
            out.state[warp, START] = 1
        latch = np.int64(0)
        if variant == LATCH:
            latch = site if is_back_edge(site, sites, out) else np.int64(0)
        elif variant == BARRIER:
            barrier[0], barrier[1] = mask, warp
            log_barrier(out.rows, out.cursor, out.state, barrier[:1], barrier[1:], 0, 1)
        elif variant > BARRIER or site == 0 or last > LOCAL:
            return BAD_WORD
        else:
            window = SHARED_WINDOW if last == SHARED else LOCAL_WINDOW if last == LOCAL else np.int64(0)
            count = read_addresses(words, at, np.int64(mask), window, lanes, address)
            access = np.int64(sites.access_of[variant])
            result = issue(warp, first_warp + warp, access, site, lanes, address, count, sites, memory, ops, out)
            if result != DONE:
                return result
    return DONE


@loop
def read_addresses(words, at, mask, window, lanes, address):
    """Fill a record's lanes and addresses, the latter moved into a window; how many there are."""
    count = np.int64(0)
    for lane in range(WARP_SIZE):
        if (mask >> lane) & 1:
            low, high = words[at + HEADER_WORDS + 2 * count], words[at + HEADER_WORDS + 2 * count + 1]
            lanes[count], address[count] = lane, window + (np.int64(low) | np.int64(high) << 32)
            count += 1
    return count
