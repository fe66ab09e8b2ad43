"""What a block hands to itself through memory, exchanged from lane to lane instead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.trace.lanes import IDLE, lane_addresses, no_lanes, with_addresses
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
        exchanged = np.intersect1d(keys[loads][active[loads]], keys[~loads][active[~loads]])
        left_out = rows[(np.isin(keys, exchanged) | ~active).all(axis=1)]
        shuffled = _with_shuffles(blocks.chunk, np.intersect1d(left_out, rows[loads]), len(more_mixes))
        return without_idle_barriers(blocks, with_addresses(shuffled, left_out, no_lanes(shuffled, left_out)))

    text = f"the data of {name} that a block reads back kept in registers"
    return Transform(text, change=lambda _: change, more_mixes=more_mixes)


def _and_a_shuffle(mixes: np.ndarray) -> np.ndarray:
    """Each mix with one shuffle more; none where a trace cannot tell so many apart."""
    more = mixes.copy() if 2 * len(mixes) <= MOST_MIXES else mixes[:0].copy()
    more["count_shuffle"] += 1
    more["critical_shuffle"] += 1
    return more


def _with_shuffles(chunk: Chunk, rows: np.ndarray, n_more: int) -> Chunk:
    """One more shuffle in the compute runs of some rows, whose mixes are ``n_more`` rows further on.

    A compute run of unknown instructions becomes longer by one. If there is no mix with the shuffle, the classes of the
    compute run are no longer known.
    """
    compute_run, mix = chunk.compute_run.copy(), chunk.instruction_mix.copy()
    known = ((mix[rows] != 0) | (compute_run[rows] == 0)) & (n_more > 0)
    mix[rows] = np.where(known, mix[rows] + mix.dtype.type(n_more), 0)
    compute_run[rows] += 1
    return replace(chunk, compute_run=compute_run, instruction_mix=mix)
