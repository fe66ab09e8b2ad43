"""Barriers without purpose: that a transform leaves so, or that order the accesses of one warp."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.trace.schema import NO_OP, Chunk, Flag
from memsim.why.transforms.transform import Blocks, Transform


def without_idle_barriers(blocks: Blocks, transformed: Chunk) -> Chunk:
    """Blocks after a transform, but for barriers that order nothing: no warp of the block accesses memory between
    such a barrier and the one before. What it waits for, and the compute run in front of it, stay.

    Args:
        blocks: as they were.
        transformed: the same rows.
    """
    block, passed = _stretches(blocks, transformed)
    used = np.zeros((int(block.max(initial=0)) + 1, int(passed.max(initial=0)) + 1), bool)
    used[block[transformed.op != NO_OP], passed[transformed.op != NO_OP]] = True
    return _without(transformed, ~used[block, passed])


def barriers_of_one_warp(blocks: Blocks) -> np.ndarray:
    """bool [rows]: barriers that order no two warps: nearest to them, on both sides, one and the same warp accesses
    memory, or none; and all but the first of barriers that have no accesses between, for it does for them.

    A warp's own accesses are ordered without, if its lanes are in step (``__syncwarp``).
    """
    chunk, (block, passed) = blocks.chunk, _stretches(blocks, blocks.chunk)
    accesses = chunk.op != NO_OP
    none = int(passed.max(initial=0)) + 1  # a stretch that no block has stands for none on a side
    at = np.arange(none + 1)
    lowest = np.full((int(block.max(initial=0)) + 1, none + 1), np.iinfo(np.int64).max)  # of a stretch's warps
    highest = np.full_like(lowest, -1)
    np.minimum.at(lowest, (block[accesses], passed[accesses]), blocks.warp[accesses])
    np.maximum.at(highest, (block[accesses], passed[accesses]), blocks.warp[accesses])
    used = highest >= 0
    before = np.maximum.accumulate(np.where(used, at, -1), axis=1)  # -1 is the last one, which is `none`
    after = np.minimum.accumulate(np.where(used, at, none)[:, ::-1], axis=1)[:, ::-1]
    neighbours = [(block, before[block, passed]), (block, after[block, passed + 1])]
    one_warp = np.maximum(*(highest[stretch] for stretch in neighbours)) <= np.minimum(
        *(lowest[stretch] for stretch in neighbours)
    )
    again = ~used[block, passed] & (passed > 0)
    return (chunk.flags & Flag.barrier != 0) & (one_warp | again)


def without_barriers_of_one_warp() -> Transform:
    """One warp runs alone where no other one accesses memory, and its block does not wait."""
    return Transform(
        "no barriers where a single warp is active",
        change=lambda _: lambda blocks: _without(blocks.chunk, barriers_of_one_warp(blocks)),
    )


def _stretches(blocks: Blocks, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
    """i8 [rows] each: block, and number in it of the stretch from a barrier to the next, which all its warps have in
    common."""
    barrier = chunk.flags & Flag.barrier != 0
    before = np.concatenate([[0], barrier.cumsum()])
    return blocks.block, before[:-1] - before[chunk.first_instruction[:-1]][blocks.warp]


def _without(chunk: Chunk, left_out: np.ndarray) -> Chunk:
    flags = chunk.flags.copy()
    flags[left_out & (flags & Flag.barrier != 0)] &= ~np.uint8(Flag.barrier)
    return replace(chunk, flags=flags)
