"""Barriers without purpose: that a repair leaves so, or that order the accesses of one warp."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.trace.schema import NO_OP, Chunk, Flag
from memsim.why.repairs.repair import Blocks, Repair


def without_idle_barriers(blocks: Blocks, repaired: Chunk) -> Chunk:
    """Blocks after a repair, but for barriers that order nothing: no warp of the block accesses memory between such a
    barrier and the one before. What it waits for, and the gap in front of it, stay.

    Args:
        blocks: as they were.
        repaired: the same rows.
    """
    between = _between_barriers(blocks, repaired)
    used = np.bincount(between[repaired.op != NO_OP], minlength=int(between.max(initial=0)) + 1) > 0
    return _without(repaired, ~used[between])


def barriers_of_one_warp(blocks: Blocks) -> np.ndarray:
    """bool [rows]: barriers on both sides of which, up to the next ones, one warp, the same, accesses memory, or none.

    A warp's own accesses are ordered without, if its lanes are in step (``__syncwarp``).
    """
    chunk, between = blocks.chunk, _between_barriers(blocks, blocks.chunk)
    accesses = chunk.op != NO_OP
    size = int(between.max(initial=0)) + 2
    first, last = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
    np.minimum.at(first, between[accesses], blocks.warp[accesses])
    np.maximum.at(last, between[accesses], blocks.warp[accesses])
    lowest, highest = np.minimum(first[:-1], first[1:]), np.maximum(last[:-1], last[1:])
    return (chunk.flags & Flag.barrier != 0) & (highest <= lowest)[between]


def without_barriers_of_one_warp() -> Repair:
    """One warp goes on where no other one accesses memory, and its block does not wait."""
    return Repair(
        "no barriers where one warp is at work",
        change=lambda _: lambda blocks: _without(blocks.chunk, barriers_of_one_warp(blocks)),
    )


def _between_barriers(blocks: Blocks, chunk: Chunk) -> np.ndarray:
    """i8 [rows]: numbers of the stretches from a block's barrier to its next, which all its warps have in common."""
    barrier = chunk.flags & Flag.barrier != 0
    before = np.concatenate([[0], barrier.cumsum()])
    passed = before[:-1] - before[chunk.first_instruction[:-1]][blocks.warp]
    return np.asarray(blocks.block * (int(passed.max(initial=0)) + 2) + passed)


def _without(chunk: Chunk, left_out: np.ndarray) -> Chunk:
    flags = chunk.flags.copy()
    flags[left_out & (flags & Flag.barrier != 0)] &= ~np.uint8(Flag.barrier)
    return replace(chunk, flags=flags)
