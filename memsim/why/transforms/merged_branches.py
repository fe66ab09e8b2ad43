"""Idle lanes filled: what one op does in a block is done by as few warps as have the lanes for it."""

from __future__ import annotations

import numpy as np

from memsim.trace.lanes import IDLE, lane_addresses, with_addresses, without
from memsim.trace.reader import Trace
from memsim.trace.schema import Chunk, OpKind, Space
from memsim.why.transforms.banks import distinct_rank
from memsim.why.transforms.transform import Blocks, Transform


def compact_lanes(trace: Trace, ops: tuple[int, ...]) -> Transform:
    """The k-th executions of an op by a block's warps, handed to the first of them; the others go on without.

    In shared memory their words lie side by side then: lanes that are numbered anew number their words anew.
    """
    on_chip = np.array([op.space is Space.shared for op in trace.ops])
    width = np.array([op.width for op in trace.ops], np.int64)

    def change(blocks: Blocks) -> Chunk:
        rows = blocks.rows_of(ops)
        order, starts = _together(blocks, rows)
        addresses = lane_addresses(blocks.chunk, rows[order])
        active = addresses != IDLE
        lanes = np.concatenate([[0], active.sum(axis=1).cumsum()])
        rank = np.arange(lanes[-1]) - np.repeat(lanes[starts], active.sum(axis=1))  # of a lane in its group
        dense = np.full_like(addresses, IDLE)
        row = np.repeat(starts, active.sum(axis=1)) + rank // dense.shape[1]
        dense[row, rank % dense.shape[1]] = addresses[active]
        op = blocks.chunk.op[rows[order]]
        remapped = np.where(dense == IDLE, IDLE, distinct_rank(dense) * width[op, None])
        dense = np.where(on_chip[op, None], remapped, dense)
        back = np.empty_like(dense)
        back[order] = dense
        left = ~(back != IDLE).any(axis=1)
        return without(with_addresses(blocks.chunk, rows, back), rows[left])

    return Transform("lanes with the same branch outcome in the same warps", change=lambda _: change)


def merge_branches(trace: Trace, ops: tuple[int, ...]) -> Transform:
    """A warp's accesses of one kind to one array on both sides of a branch, made by all lanes at once."""
    arrays = np.array([op.array * len(OpKind) + op.kind for op in trace.ops])

    def change(blocks: Blocks) -> Chunk:
        rows = blocks.rows_of(ops)
        if not len(rows):  # reduceat wants some
            return blocks.chunk
        op, warp = blocks.chunk.op[rows].astype(np.int64), blocks.warp[rows]
        keys = np.stack([warp, arrays[op], executions(op, warp)])
        order = np.lexsort((np.arange(len(rows)), *keys[::-1]))
        starts = _starts(keys[:, order])
        addresses = lane_addresses(blocks.chunk, rows[order])
        lanes = np.add.reduceat((addresses != IDLE).astype(np.int64), np.unique(starts), axis=0)
        disjoint = np.repeat(np.max(lanes, axis=-1) <= 1, np.diff(np.append(np.unique(starts), len(rows))))
        merged = np.maximum.reduceat(addresses, np.unique(starts), axis=0)
        first = starts == np.arange(len(rows))
        addresses[first & disjoint] = merged[disjoint[first]]
        addresses[~first & disjoint] = IDLE
        back = np.empty_like(addresses)
        back[order] = addresses
        left = (back == IDLE).all(axis=1)
        return without(with_addresses(blocks.chunk, rows, back), rows[left])

    return Transform("the accesses of both sides of a branch merged", change=lambda _: change)


def _starts(keys: np.ndarray) -> np.ndarray:
    """For each column of keys, the first of the run of equal ones that it is in."""
    new = np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])[: keys.shape[1]]
    return np.asarray(np.flatnonzero(new)[new.cumsum() - 1])


def _together(blocks: Blocks, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order of the rows in which those of a block, an op and an execution follow each other, and where such a
    group begins, row by row."""
    op, warp, block = (values[rows].astype(np.int64) for values in (blocks.chunk.op, blocks.warp, blocks.block))
    execution = executions(op, warp)
    order = np.lexsort((warp, execution, op, block))
    return order, _starts(np.stack([block, op, execution])[:, order])


def executions(op: np.ndarray, warp: np.ndarray) -> np.ndarray:
    """How often the warp of each row has executed its op before."""
    order = np.lexsort((np.arange(len(op)), op, warp))
    found = np.empty(len(op), np.int64)
    found[order] = np.arange(len(op)) - _starts(np.stack([warp, op])[:, order])
    return found
