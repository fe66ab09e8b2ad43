"""Accesses that shared memory serves instead of global memory: conflict-free, by a copy of their memory instruction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.trace.coalescing_rules import SECTOR_BYTES
from memsim.trace.lanes import IDLE, lane_addresses, with_addresses
from memsim.trace.reader import Trace
from memsim.trace.schema import Chunk, Space
from memsim.why.transforms.banks import distinct_rank
from memsim.why.transforms.transform import Blocks, Change, Transform


def keep_in_shared_memory(trace: Trace, ops: tuple[int, ...], name: str) -> Transform:
    """What a block has loaded once comes from shared memory when it asks again."""
    twins = tuple(replace(trace.ops[op], space=Space.shared) for op in ops)

    def made(transformed: Trace) -> Change:
        twin = np.arange(len(transformed.ops))
        twin[list(ops)] = len(transformed.ops) - len(twins) + np.arange(len(twins))
        width = np.array([op.width for op in transformed.ops], np.int64)

        def change(blocks: Blocks) -> Chunk:
            rows = blocks.rows_of(ops)
            addresses = lane_addresses(blocks.chunk, rows)
            again = ~(_first_of_block(blocks.block[rows], addresses) & (addresses != IDLE)).any(axis=1)
            rows, addresses = rows[again], addresses[again]
            remapped = distinct_rank(addresses) * width[blocks.chunk.op[rows], None]
            op = blocks.chunk.op.copy()
            op[rows] = twin[op[rows]]
            return with_addresses(replace(blocks.chunk, op=op), rows, np.where(addresses == IDLE, IDLE, remapped))

        return change

    return Transform(f"the data of {name} that a block loads again kept in shared memory", change=made, more_ops=twins)


def sectors_of_blocks(block: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    """A number of each (block, sector): i8 [rows, LANES]; anything for idle lanes."""
    return addresses // SECTOR_BYTES + block[:, None] * (1 << 42)


def _first_of_block(block: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    """Whether a lane is the first of its block, in the order of the trace, to ask for its sector: [rows, LANES]."""
    keys = sectors_of_blocks(block, addresses).ravel()
    first = np.zeros(len(keys), bool)
    first[np.unique(keys, return_index=True)[1]] = True
    return first.reshape(addresses.shape)
