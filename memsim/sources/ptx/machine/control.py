"""Control: groups of lanes that parted, lowest program counter first, and where they meet again."""

from __future__ import annotations

from memsim.sources.ptx.machine.codes import N_GROUPS
from memsim.support.compiled import inlined

NOWHERE = 1 << 40  # a program counter beyond all


@inlined
def insert(pcs, masks, record, pc, mask):
    """Add a group; one that is there already takes its lanes."""
    n = record[N_GROUPS]
    at = n
    while at > 0 and pcs[at - 1] >= pc:
        at -= 1
    if at < n and pcs[at] == pc:
        masks[at] |= mask
        return
    for k in range(n, at, -1):
        pcs[k], masks[k] = pcs[k - 1], masks[k - 1]
    pcs[at], masks[at] = pc, mask
    record[N_GROUPS] = n + 1


@inlined
def take_lowest(pcs, masks, record):
    """Remove the group with the lowest program counter; the caller knows it: pcs[0], masks[0] before."""
    n = record[N_GROUPS] - 1
    for k in range(n):
        pcs[k], masks[k] = pcs[k + 1], masks[k + 1]
    record[N_GROUPS] = n


@inlined
def next_stop(pcs, record):
    """Where the running group meets another."""
    return pcs[0] if record[N_GROUPS] > 0 else NOWHERE
