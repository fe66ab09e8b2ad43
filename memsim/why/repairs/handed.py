"""What a block hands to itself through memory, handed from lane to lane instead."""

from __future__ import annotations

import numpy as np

from memsim.trace.lanes import IDLE, LANES, lane_addresses, with_addresses
from memsim.trace.reader import Trace
from memsim.trace.schema import Chunk
from memsim.why.repairs.barriers import without_idle_barriers
from memsim.why.repairs.repair import Blocks, Repair
from memsim.why.repairs.shared import sectors_of_blocks


def handed_over(trace: Trace, ops: tuple[int, ...], name: str) -> Repair:
    """Loads of what their own block stored, and these stores, are left out: registers and shuffles hold it.

    So are the barriers that have nothing left to order.

    Args:
        trace: the trace.
        ops: loads that read back.
        name: of their arrays.
    """
    arrays = {trace.ops[op].array for op in ops}
    both = tuple(op for op, of in enumerate(trace.ops) if of.array in arrays)

    def change(blocks: Blocks) -> Chunk:
        rows = blocks.rows_of(both)
        loads = np.isin(blocks.chunk.op[rows], ops)
        addresses = lane_addresses(blocks.chunk, rows)
        active, keys = addresses != IDLE, sectors_of_blocks(blocks.block[rows], addresses)
        handed = np.intersect1d(keys[loads][active[loads]], keys[~loads][active[~loads]])
        left_out = rows[(np.isin(keys, handed) | ~active).all(axis=1)]
        idle = np.full((len(left_out), LANES), IDLE, np.int64)
        return without_idle_barriers(blocks, with_addresses(blocks.chunk, left_out, idle))

    return Repair(f"what a block reads back of {name} in registers", change=lambda _: change)
