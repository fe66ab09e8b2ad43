"""What a trace holds, counted: pure functions of its instructions and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memsim.trace.bits import popcounts
from memsim.trace.schema import NO_OP, Chunk, Flag, Space, StaticInstruction


@dataclass(frozen=True)
class TraceInfo:
    """Sizes of a trace.

    Attributes:
        memory_instructions, lane_accesses: i8 [n_ops], by static instruction.
        barriers: rows that are barriers, one per warp.
        sequences: sequences of all warps.
        compute_instructions: non-memory instructions.
    """

    memory_instructions: np.ndarray
    lane_accesses: np.ndarray
    barriers: int
    sequences: int
    compute_instructions: int


def count(chunks: Iterable[Chunk], n_ops: int) -> TraceInfo:
    """Count what the chunks of a trace with ``n_ops`` static instructions hold.

    >>> count([], 2).lane_accesses.tolist()
    [0, 0]
    """
    instructions, lanes = np.zeros((2, n_ops), np.int64)
    barriers = sequences = compute_instructions = 0
    for chunk in chunks:
        accesses = chunk.op != NO_OP
        op = chunk.op[accesses]
        instructions += np.bincount(op, minlength=n_ops)
        weights = popcounts(chunk.mask[accesses])
        lanes += np.bincount(op, weights=weights, minlength=n_ops).astype(np.int64)
        barriers += int(np.count_nonzero(chunk.flags & Flag.barrier))
        sequences += int(np.count_nonzero(accesses & ((chunk.flags & Flag.sequence) != 0)))
        compute_instructions += int(chunk.compute_run.sum(dtype=np.int64))
    return TraceInfo(instructions, lanes, barriers, sequences, compute_instructions)


def lane_bytes(chunk: Chunk, ops: Sequence[StaticInstruction]) -> int:
    """Bytes the lanes of a chunk access outside shared memory."""
    widths = np.array([0 if op.space is Space.shared else op.width for op in ops], np.int64)
    return int(count([chunk], len(ops)).lane_accesses @ widths)
