"""Control: groups of lanes that parted, lowest program counter first, and where they meet again.

Lanes at a barrier are parked while others of their warp run: since Volta, threads arrive one by one (PTX ISA,
"barrier"), and those that have ended are not waited for.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, inlined
from memsim.sources.ptx.machine.codes import LANES, N_GROUPS, PARKED

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
def lowest_running(masks, record):
    """The index of the group with the lowest program counter that is not parked; their number if all are."""
    k, n, parked = 0, record[N_GROUPS], record[PARKED]
    while k < n and masks[k] & ~parked == 0:
        k += 1
    return k


@inlined
def take(pcs, masks, record, at):
    """Remove a group; the caller knows it: pcs[at], masks[at] before."""
    n = record[N_GROUPS] - 1
    for k in range(at, n):
        pcs[k], masks[k] = pcs[k + 1], masks[k + 1]
    record[N_GROUPS] = n


@inlined
def next_stop(pcs, masks, record, pc):
    """Where a group that runs from ``pc`` on meets another, or lets one run that is behind it."""
    n, parked = record[N_GROUPS], record[PARKED]
    for k in range(n):
        if pcs[k] >= pc or masks[k] & ~parked != 0:
            return pcs[k]
    return NOWHERE


@inlined
def park(pcs, masks, record, pc, mask):
    """Let lanes wait at a barrier, while others of their warp run."""
    insert(pcs, masks, record, pc, mask)
    record[PARKED] |= mask


@inlined
def wait_alike(waits_for, active):
    """Whether all active lanes wait for the same lanes."""
    members, alike = np.int64(-1), True
    for lane in range(LANES):
        if (active >> lane) & 1:
            if members >= 0 and waits_for[lane] != members:
                alike = False
            members = waits_for[lane]
    return alike


@called
def let_converge(pcs, masks, record, pc, waits_for):
    """Let the lanes parked at a place go on behind it, if all lanes are there that theirs wait for; whether some may.

    Those must wait for the lane as well: a function that calls itself may come to the place again, with fewer lanes.

    Args:
        waits_for: i8 [LANES], of each lane there the lanes that it waits for; those that have ended are not.
    """
    alive, here, at = np.int64(0), np.int64(0), np.int64(0)
    for k in range(record[N_GROUPS]):
        alive |= masks[k]
        if pcs[k] == pc:
            here, at = masks[k] & record[PARKED], np.int64(k)
    going = members = np.int64(0)
    mutual = np.int64(-1)  # lanes that all members wait for
    for lane in range(LANES):
        if (here >> lane) & 1 and waits_for[lane] & alive & ~here == 0:
            if waits_for[lane] != members:
                members, mutual = waits_for[lane], np.int64(-1)
                for other in range(LANES):
                    if (members & alive) >> other & 1:
                        mutual &= waits_for[other]
            going |= (mutual | ~members) & np.int64(1) << lane
    if going == 0:
        return False
    record[PARKED] &= ~going
    if going == masks[at]:
        take(pcs, masks, record, at)
    else:
        masks[at] &= ~going
    insert(pcs, masks, record, pc + 1, going)
    return True
