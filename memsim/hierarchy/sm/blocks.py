"""Blocks go to SMs: breadth-first at the start, then one to each slot that becomes free.

What a slot runs is a *work item*: a block, for each warp from a first to an end instruction. With random start
alignment (Baghsorkhi 2012, 3.2.1) the blocks that start together begin at random phases: each is split in two items,
the part after its phase, which starts at once, and the part before it, which comes after all other blocks. Every
instruction of the trace is still replayed once.
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.hashed_draws import hash32
from memsim.hierarchy.sm.events import push
from memsim.hierarchy.sm.scoreboard import begin_warp
from memsim.hierarchy.sm.state import SLOTS
from memsim.jit.compiled import inlined
from memsim.jit.plain_python import records
from memsim.trace.schema import Flag
from memsim.trace.transactions import Transactions

BARRIER, SEQUENCE = int(Flag.barrier), int(Flag.sequence)


@inlined
def cut(instructions, divergences, first, end, phase):
    """Instruction at which a warp that is `phase` (0 to 1) of its way through starts.

    Warps of a block must agree on the barriers they have passed, so the phase chooses a stretch between barriers first
    and within it the last start of a sequence at which its warp is converged.
    """
    barriers = 0
    for i in range(first, end):
        if instructions[i].flags & BARRIER:
            barriers += 1
    epoch = int(phase * (barriers + 1))
    begin = first
    while epoch:
        if instructions[begin].flags & BARRIER:
            epoch -= 1
        begin += 1
    stop = begin
    while stop < end and instructions[stop].flags & BARRIER == 0:
        stop += 1
    within = phase * (barriers + 1) - int(phase * (barriers + 1))
    at = begin + int(within * (stop - begin))
    earlier = at
    while earlier > begin and (len(divergences) > 0 or instructions[at].flags & SEQUENCE == 0):
        earlier -= 1
        inside = len(divergences) > 0 and earlier + divergences[earlier].reconvergence > at
        if inside or instructions[at].flags & SEQUENCE == 0:
            at = earlier
    return at


@inlined
def _cut_all(instructions, divergences, first, end, phases):
    """Move the first instructions of blocks, [block, warp], to where their phases let them start."""
    for b in range(len(first)):
        for w in range(first.shape[1]):
            first[b, w] = cut(instructions, divergences, first[b, w], end[b, w], phases[b])


def work_items(
    transactions: Transactions, started: int, phases: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Work items in the order of their dispatch.

    Args:
        started: blocks that start at once.
        phases: of these blocks, each in [0, 1), or None for starts at the beginning. Blocks that use mbarriers start
            there anyway: a warp could wait for what came before its block's phase.

    Returns:
        first, end: i8 [items, warps per block], instruction numbers. A block with fewer warps has empty ranges.
        block: i8 [items], the block of each item.
    """
    bounds, blocks = transactions.first_instruction, np.arange(len(transactions.first_warp) - 1)
    warps = np.diff(transactions.first_warp)
    width = int(warps.max())
    warp = transactions.first_warp[:-1, None] + np.minimum(np.arange(width), warps[:, None] - 1)
    first, end = bounds[warp], bounds[warp + 1]
    first = np.where(np.arange(width) < warps[:, None], first, end)
    if phases is None or len(transactions.arrivals):
        return first, end, blocks
    middle = first[:started].copy()
    instructions, divergences = (
        records(np.asarray(one)) for one in (transactions.instructions, transactions.divergences)
    )
    _cut_all(instructions, divergences, records(middle), end, phases)
    rest = np.concatenate([middle, first[started:], first[:started]])
    ends = np.concatenate([end[:started], end[started:], middle])
    return rest, ends, np.concatenate([blocks, blocks[:started]])


@inlined
def launch(m, first, end, sm, block, item, time):
    """Start a work item in a block slot of an SM at `time`."""
    p = m.p[0]
    b = sm * SLOTS + block
    m.blocks[b].live = p.warps_per_block
    m.blocks[b].arrived = 0
    for k in range(p.warps_per_block):
        slot = block * p.warps_per_block + k
        number = item * p.warps_per_block + k
        weight = 1 + hash32(p.weights_key ^ hash32(number)) % p.max_weight
        begin_warp(m, sm * SLOTS + slot, block, first[item, k], end[item, k], number, weight)
        push(m, sm, slot, time)


@inlined
def launch_items(m, first, end, item, slots, starts):
    """Start the work items from `item` on in block slots (FREED), one in each, at `starts`."""
    for k in range(len(starts)):
        launch(m, first, end, slots[k].sm, slots[k].block, item + k, starts[k])
