"""Barriers that a repair leaves without purpose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.trace.schema import NO_OP, Chunk, Flag
from memsim.why.repairs.repair import Blocks


def without_idle_barriers(blocks: Blocks, repaired: Chunk) -> Chunk:
    """Blocks after a repair, but for barriers that order nothing: no warp of the block accesses memory between such a
    barrier and the one before. What it waits for, and the gap in front of it, stay.

    Args:
        blocks: as they were.
        repaired: the same rows.
    """
    barrier = repaired.flags & Flag.barrier != 0
    before = np.concatenate([[0], barrier.cumsum()])
    passed = before[:-1] - before[repaired.first_instruction[:-1]][blocks.warp]
    between = blocks.block * (int(passed.max(initial=0)) + 1) + passed
    used = np.bincount(between[repaired.op != NO_OP], minlength=int(between.max(initial=0)) + 1) > 0
    flags = repaired.flags.copy()
    flags[barrier & ~used[between]] &= ~np.uint8(Flag.barrier)
    return replace(repaired, flags=flags)
