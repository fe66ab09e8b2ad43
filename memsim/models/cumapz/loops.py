"""Counting half-warps' accesses, compiled; the rules of coalescing and of banks are those of memsim.trace."""

from __future__ import annotations

from memsim.jit.compiled import loop
from memsim.trace.bits import popcount
from memsim.trace.coalesce_loop import ADDRESS, LANE, count_distinct, count_passes, emit_group

SECTOR_BYTES = 32


@loop
def move_bytes(addresses, active, rule, line_shift, position, scratch, lines, masks):
    """Bytes transferred, and bytes asked for, by groups of lanes that access global memory.

    Args:
        addresses, active: i8 and b1 [groups, lanes].
        rule: RULE [1] of the access.
        line_shift: log2 of the sectors of a line.
        position, scratch, lines, masks: room for :func:`memsim.trace.coalesce_loop.emit_group`.
    """
    transferred = requested = 0
    for g in range(len(addresses)):
        n = _gather(addresses[g], active[g], scratch)
        if n == 0:
            continue
        requested += count_distinct(0, n, scratch) * rule[0].width
        position[0].buffered = 0
        emit_group(0, n, rule[0], line_shift, position[0], scratch, lines, masks)
        for k in range(position[0].buffered):
            transferred += SECTOR_BYTES * popcount(masks[k])
    return transferred, requested


@loop
def count_bank_passes(addresses, active, width, banks, scratch):
    """(groups of lanes that access shared memory, sum of their passes: the most different words in one bank)."""
    groups = passes = 0
    for g in range(len(addresses)):
        n = _gather(addresses[g], active[g], scratch)
        groups += n > 0
        passes += count_passes(0, n, width, banks, False, scratch)
    return groups, passes


@loop
def _gather(addresses, active, scratch):
    """Put the active lanes and their addresses in `scratch`; how many they are."""
    n = 0
    for lane in range(len(addresses)):
        if active[lane]:
            scratch[LANE, n] = lane
            scratch[ADDRESS, n] = addresses[lane]
            n += 1
    return n
