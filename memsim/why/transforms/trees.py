"""Blocks that add up for others: of two blocks, one does what comes after its first barrier."""

from __future__ import annotations

import numpy as np

from memsim.trace.lanes import without
from memsim.trace.reader import Trace
from memsim.trace.schema import Chunk, Flag
from memsim.why.transforms.transform import Blocks, Change, Transform


def after_first_barrier(blocks: Blocks) -> np.ndarray:
    """bool [rows]: a warp's first barrier, and what comes after it."""
    barrier = blocks.chunk.flags & Flag.barrier != 0
    before = np.concatenate([[0], barrier.cumsum()])
    first = before[blocks.chunk.first_instruction[:-1]]
    return np.asarray(before[1:] > first[blocks.warp])


def merge_trees() -> Transform:
    """Every other block ends at its first barrier, as if the one before it added up for both."""

    def made(trace: Trace) -> Change:
        warps = trace.launch.warps_per_block

        def change(blocks: Blocks) -> Chunk:
            number = blocks.chunk.warps.start // warps + blocks.block
            left_out = after_first_barrier(blocks) & (number % 2 == 1)
            return without(blocks.chunk, np.flatnonzero(left_out))

        return change

    return Transform("the work after the first barrier done by one block for two", change=made)
