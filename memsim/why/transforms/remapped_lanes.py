"""What a block accesses, dealt out anew to its lanes in order of address: what a detour through shared memory wins."""

from __future__ import annotations

import numpy as np

from memsim.trace.lanes import IDLE, lane_addresses, with_addresses
from memsim.trace.schema import Chunk
from memsim.why.transforms.transform import Blocks, Transform


def remap_lanes(ops: tuple[int, ...], name: str) -> Transform:
    """The same accesses of a block by one op, neighbours to neighbouring lanes."""

    def change(blocks: Blocks) -> Chunk:
        rows = blocks.rows_of(ops)
        addresses = lane_addresses(blocks.chunk, rows)
        active = addresses != IDLE
        group = blocks.block[rows] * (max(ops) + 1) + blocks.chunk.op[rows]
        which = np.repeat(group, active.sum(axis=1))
        lanes = addresses[active]
        slots = np.argsort(which, kind="stable")  # lanes of a group, in the order of the trace
        moved = np.empty_like(lanes)
        moved[slots] = lanes[np.lexsort((lanes, which))]
        addresses[active] = moved
        return with_addresses(blocks.chunk, rows, addresses)

    return Transform(f"a block's accesses to {name} assigned to its lanes in address order", change=lambda _: change)
