"""Partial stores that L1 merges before they leave for L2.

A warp that stores a structure by its parts covers the same sectors in part by several instructions, one after the
other. GPUs of compute capability 8.0 and later send such a sector once (``l1.merges_stores``): it waits for the warp's
next memory instruction, and is merged if that is a store that covers the same sector in part. Every instruction is
still looked up in L1 with all of its sectors, as counters of L1 show.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.trace.coalesce_loop import ADDRESS, FULL_SECTOR, MOST_TRANSACTIONS, PARTIAL_SHIFT, WORDS_SHIFT, expand_lanes
from memsim.trace.schema import EXPLICIT, NO_OP, Flag, OpKind

_STORE = int(OpKind.store)
_BARRIER = int(Flag.barrier)
_SECTORS = 8  # of a line at most
COVERED_SHAPE = (2, MOST_TRANSACTIONS, _SECTORS)  # bytes written, of the last instruction and the one before it


@loop
def merge_stores(
    rows, offsets, rules, out, starts, line_shift, first_row, address, lines, masks, merged, covered, scratch
):
    """Mark the sectors of transactions that a later store of the warp takes along; clear what is whole by then.

    Two instructions merge only if their transactions are in the same buffer.

    Args:
        rows: (op, flags, mask, base, stride), columns of a chunk.
        offsets: of its explicit instructions' addresses.
        rules: RULE records by static instruction.
        out: INSTRUCTION records of the chunk's rows.
        starts: i8, rows at which warps begin, and one past the end.
        line_shift: log2 of the sectors of a line.
        first_row, address: where the buffer begins: a row, and its first address among the offsets.
        lines, masks: of the buffer's transactions; masks hold partial sectors from PARTIAL_SHIFT on.
        merged: u1, of the same, to be filled: sectors that are not sent.
        covered: i8 of COVERED_SHAPE.
        scratch: i8 of coalescing's SCRATCH_SHAPE.
    """
    op, flags, mask, base, stride = rows
    sent, taken, before, n_before, now = np.int64(0), np.int64(0), np.int64(0), np.int64(0), 0
    warp = 0
    for i in range(first_row, len(op)):
        if sent >= len(lines):
            return
        while warp < len(starts) and starts[warp] <= i:
            n_before = np.int64(0)
            warp += 1
        if op[i] == NO_OP:
            if flags[i] & _BARRIER:
                n_before = np.int64(0)
            continue
        rule, count = rules[np.int64(op[i])], np.int64(out[i].count)
        first, sent = sent, sent + count
        explicit = np.int64(stride[i]) == EXPLICIT
        partial = np.int64(0)
        if np.int64(rule.kind) == _STORE and rule.partial:
            for k in range(first, sent):
                partial |= np.int64(masks[k]) >> PARTIAL_SHIFT & 0xFF
        n = np.int64(0)
        if partial or explicit:
            lanes, lowest, step = np.int64(mask[i]), np.int64(base[i]), np.int64(stride[i])
            n = expand_lanes(lanes, lowest, step, offsets, address + taken, scratch)
        if explicit:
            taken += n
        if partial == 0:
            n_before = np.int64(0) if count or np.int64(out[i].slots) else n_before
            continue
        cover(n, np.int64(rule.width), line_shift, first, count, lines, covered[now], scratch)
        merge_partial_sectors(first, count, before, n_before, lines, masks, merged, covered, now)
        before, n_before, now = first, count, 1 - now


@loop
def cover(n, width, line_shift, first, count, lines, covered, scratch):
    """Note the bytes that `n` lanes write of each sector of an instruction's lines."""
    covered[:count] = 0
    k = 0
    for lane in range(n):
        address = scratch[ADDRESS, lane]
        for sector in range(address >> 5, ((address + width - 1) >> 5) + 1):
            line, tries = sector >> line_shift, 0
            while lines[first + k] != line and tries < count:
                k = k + 1 if k + 1 < count else 0
                tries += 1
            begin, past = max(address - (sector << 5), 0), min(address + width - (sector << 5), 32)
            covered[k, sector & ((1 << line_shift) - 1)] |= (1 << past) - (1 << begin)


@loop
def merge_partial_sectors(first, count, before, n_before, lines, masks, merged, covered, now):
    """Let a store take the partial sectors of the store before it along, where it covers them in part as well."""
    for j in range(n_before):
        for k in range(count):
            if lines[first + k] != lines[before + j]:
                continue
            both = (np.int64(masks[first + k]) & np.int64(masks[before + j])) >> PARTIAL_SHIFT
            for s in range(_SECTORS):
                if both >> s & 1:
                    covered[now, k, s] |= covered[1 - now, j, s]
                    merged[before + j] |= 1 << s
                    masks[before + j] &= ~(1 << PARTIAL_SHIFT + s)
                    masks[first + k] |= masks[before + j] & 0xFF << WORDS_SHIFT + 8 * s
                    if covered[now, k, s] == FULL_SECTOR:
                        masks[first + k] &= ~(1 << PARTIAL_SHIFT + s)
