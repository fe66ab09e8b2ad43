"""Atomics that are added up before they are made: in the warp, or by the block in shared memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.trace.lanes import IDLE, lane_addresses, with_addresses
from memsim.trace.reader import Trace
from memsim.trace.schema import Chunk, Space
from memsim.why.transforms.transform import Blocks, Change, Transform

_SHARED_BYTES = 1 << 15  # of a block's own copy, over which addresses are folded


def merge_atomics_by_warp(ops: tuple[int, ...]) -> Transform:
    """Of an instruction's lanes on one address, the first alone makes its atomic."""

    def change(blocks: Blocks) -> Chunk:
        rows = blocks.rows_of(ops)
        addresses = lane_addresses(blocks.chunk, rows)
        again = np.zeros(addresses.shape, bool)
        for lane in range(1, addresses.shape[1]):
            again[:, lane] = (addresses[:, :lane] == addresses[:, lane, None]).any(axis=1)
        return with_addresses(blocks.chunk, rows, np.where(again, IDLE, addresses))

    return Transform("one atomic per address and warp", change=lambda _: change)


def merge_atomics_by_block(trace: Trace, ops: tuple[int, ...]) -> Transform:
    """A block makes one atomic an address; all others it makes in its own copy in shared memory.

    An instruction that is the block's first on some of its addresses stays with the lanes that are.
    """
    twins = tuple(replace(trace.ops[op], space=Space.shared) for op in ops)

    def made(transformed: Trace) -> Change:
        twin = np.arange(len(transformed.ops))
        twin[list(ops)] = len(transformed.ops) - len(twins) + np.arange(len(twins))

        def change(blocks: Blocks) -> Chunk:
            rows = blocks.rows_of(ops)
            addresses = lane_addresses(blocks.chunk, rows)
            first = _first_on_address(blocks.block[rows], addresses)
            stays: np.ndarray = np.logical_or.reduce(first, axis=1)
            own = np.where(addresses == IDLE, IDLE, addresses % _SHARED_BYTES)
            global_addresses = np.where(first, addresses, IDLE)
            op = blocks.chunk.op.copy()
            op[rows[~stays]] = twin[op[rows[~stays]]]
            return with_addresses(replace(blocks.chunk, op=op), rows, np.where(stays[:, None], global_addresses, own))

        return change

    return Transform(
        "each block's atomics in shared memory, and one global atomic per address and block",
        change=made,
        more_ops=twins,
    )


def _first_on_address(block: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    active = addresses != IDLE
    keys = np.where(active, addresses + (block[:, None] + 1) * (1 << 48), IDLE).ravel()
    first = np.zeros(len(keys), bool)
    first[np.unique(keys, return_index=True)[1]] = True
    return first.reshape(addresses.shape) & active
