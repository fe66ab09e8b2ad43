"""Shared memory without bank conflicts: distinct words of an instruction side by side, broadcasts as they are.

Constant memory broadcasts one word: there, all lanes read the same.
"""

from __future__ import annotations

import numpy as np

from memsim.trace.lanes import IDLE, lane_addresses, with_addresses
from memsim.trace.reader import Trace
from memsim.trace.schema import Chunk, Space
from memsim.why.transforms.transform import Blocks, Change, Transform


def spread_over_banks(ops: tuple[int, ...]) -> Transform:
    """Accesses of some ops without conflicts."""

    def made(trace: Trace) -> Change:
        widths = np.array([0 if op.space is Space.constant else op.width for op in trace.ops], np.int64)

        def change(blocks: Blocks) -> Chunk:
            rows = blocks.rows_of(ops)
            addresses = lane_addresses(blocks.chunk, rows)
            remapped = distinct_rank(addresses) * widths[blocks.chunk.op[rows], None]
            return with_addresses(blocks.chunk, rows, np.where(addresses == IDLE, IDLE, remapped))

        return change

    return Transform("each lane's word in a bank of its own", change=made)


def distinct_rank(addresses: np.ndarray) -> np.ndarray:
    """For each lane, how many distinct lower addresses its instruction has: i8 [rows, LANES].

    >>> distinct_rank(np.array([[70, 9, 9, IDLE]])).tolist()
    [[1, 0, 0, 0]]
    """
    order = np.argsort(addresses, axis=1, kind="stable")
    ascending = np.take_along_axis(addresses, order, axis=1)
    steps = (ascending[:, 1:] != ascending[:, :-1]) & (ascending[:, :-1] != IDLE)
    ranks = np.concatenate([np.zeros((len(addresses), 1), np.int64), steps.cumsum(axis=1)], axis=1)
    found = np.empty_like(ranks)
    np.put_along_axis(found, order, ranks, axis=1)
    return found
