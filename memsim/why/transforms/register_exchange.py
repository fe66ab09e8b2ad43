"""What a block hands to itself through memory, handed from lane to lane instead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.trace.lanes import IDLE, LANES, lane_addresses, with_addresses
from memsim.trace.reader import Trace
from memsim.trace.schema import MOST_MIXES, Chunk
from memsim.why.transforms.barriers import without_idle_barriers
from memsim.why.transforms.shared import sectors_of_blocks
from memsim.why.transforms.transform import Blocks, Transform


def pass_by_shuffle(trace: Trace, ops: tuple[int, ...], name: str) -> Transform:
    """Loads of what their own block stored, and these stores, are left out: registers hold it, a shuffle hands it on.

    So are the barriers that have nothing left to order.

    Args:
        trace: the trace.
        ops: loads that read back.
        name: of their arrays.
    """
    arrays = {trace.ops[op].array for op in ops}
    both = tuple(op for op, of in enumerate(trace.ops) if of.array in arrays)
    more_mixes = _and_a_shuffle(trace.issue.mixes)

    def change(blocks: Blocks) -> Chunk:
        rows = blocks.rows_of(both)
        loads = np.isin(blocks.chunk.op[rows], ops)
        addresses = lane_addresses(blocks.chunk, rows)
        active, keys = addresses != IDLE, sectors_of_blocks(blocks.block[rows], addresses)
        handed = np.intersect1d(keys[loads][active[loads]], keys[~loads][active[~loads]])
        left_out = rows[(np.isin(keys, handed) | ~active).all(axis=1)]
        idle = np.full((len(left_out), LANES), IDLE, np.int64)
        shuffled = _with_shuffles(blocks.chunk, np.intersect1d(left_out, rows[loads]), len(more_mixes))
        return without_idle_barriers(blocks, with_addresses(shuffled, left_out, idle))

    text = f"the data of {name} that a block reads back kept in registers"
    return Transform(text, change=lambda _: change, more_mixes=more_mixes)


def _and_a_shuffle(mixes: np.ndarray) -> np.ndarray:
    """Each mix with one shuffle more; none where a trace cannot tell so many apart."""
    more = mixes.copy() if 2 * len(mixes) <= MOST_MIXES else mixes[:0].copy()
    more["count_shuffle"] += 1
    more["chain_shuffle"] += 1
    return more


def _with_shuffles(chunk: Chunk, rows: np.ndarray, n_more: int) -> Chunk:
    """A shuffle more in the gaps of some rows, whose mixes are ``n_more`` on.

    Where what is in a gap is not known, it is one more of that; without a mix for it, nothing of the gap is known.
    """
    gap, mix = chunk.gap.copy(), chunk.mix.copy()
    known = ((mix[rows] != 0) | (gap[rows] == 0)) & (n_more > 0)
    mix[rows] = np.where(known, mix[rows] + mix.dtype.type(n_more), 0)
    gap[rows] += 1
    return replace(chunk, gap=gap, mix=mix)
