"""A launch that does not fill the GPU, with the work of each thread divided among threads of several blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import resident_blocks
from memsim.trace.lanes import without
from memsim.trace.reader import Trace
from memsim.trace.schema import Chunk, Flag, RepairedChunk
from memsim.why.transforms.transform import BLOCK_ROWS, Transform, read_blocks

_LEAST_ROWS = 8  # of a warp in each part: with fewer, what every thread does first would count more than its loop
_MOST_ROWS = 1 << 21  # of all parts: each reads the whole trace
# Rows that belong to others: of warps that wait for one another, and of both paths of one that diverged.
_TOGETHER = Flag.barrier | Flag.arrives | Flag.awaits | Flag.path_switch


def fills_gpu(trace: Trace, gpu: GPU) -> bool:
    """Whether more blocks were traced than the GPU holds at a time."""
    return trace.n_blocks > _held_blocks(trace, gpu)


def divide_threads(trace: Trace, gpu: GPU) -> list[Transform]:
    """Transforms for one block per SM, and for as many as fit.

    None of a launch that nearly fills the GPU or of which a part is traced, of threads that do too little to divide, of
    warps that wait for each other (what stands between two barriers is not independent of the rest), or that diverge.
    """
    if trace.n_blocks < trace.launch.n_blocks or not trace.n_blocks:
        return []
    most = min(trace.n_instructions // trace.n_warps // _LEAST_ROWS, _MOST_ROWS // max(1, trace.n_instructions))
    parts = {min(most, blocks // trace.n_blocks) for blocks in (gpu.sm.count, _held_blocks(trace, gpu))}
    if max(parts) < 2 or any((chunk.flags & _TOGETHER).any() for chunk in trace.chunks()):
        return []
    return [_divided(number) for number in sorted(parts) if number > 1]


def _held_blocks(trace: Trace, gpu: GPU) -> int:
    shape = trace.launch
    return gpu.sm.count * resident_blocks(gpu, shape.threads_per_block, shape.registers, shape.shared_bytes)


def _divided(parts: int) -> Transform:
    return Transform(
        f"the accesses of each thread divided among {parts} threads of other blocks (adding up their results would "
        "come on top)",
        trace=lambda trace: DividedTrace.of(trace, parts),
    )


@dataclass(frozen=True, eq=False, repr=False)
class DividedTrace(Trace):
    """A trace with several blocks for each block; each has a part of the rows of every warp.

    Attributes:
        whole: the trace as it was.
        parts: blocks for each of its blocks.
    """

    whole: Trace | None = None
    parts: int = 1

    @classmethod
    def of(cls, whole: Trace, parts: int) -> DividedTrace:
        """The trace that is divided so: its blocks in order, with their first parts; then all with their second."""
        values: dict[str, Any] = {field.name: getattr(whole, field.name) for field in fields(Trace)}
        values |= {name: _repeated(getattr(whole, name), parts) for name in ("first_warp", "first_instruction")}
        return cls(
            **values
            | {
                "launch": replace(whole.launch, grid=(whole.n_blocks * parts, 1, 1)),
                "block_ids": np.arange(whole.n_blocks * parts),
                "first_address": _repeated(whole.first_address, parts),
            },
            whole=whole,
            parts=parts,
        )

    def chunks(self, max_instructions: int = BLOCK_ROWS) -> Iterator[Chunk]:
        """Whole blocks; the rows of other parts are left, and cost nothing."""
        assert self.whole is not None
        for part in range(self.parts):
            shift = part * self.whole.n_warps
            for blocks in read_blocks(self.whole, max_instructions):
                chunk = blocks.chunk
                here = _part_of_rows(chunk.first_instruction, blocks.warp, self.parts)
                warps = range(chunk.warps.start + shift, chunk.warps.stop + shift)
                kept = replace(without(chunk, np.flatnonzero(here != part)), warps=warps)
                yield RepairedChunk(**vars(kept), before=replace(chunk, warps=warps))


def _repeated(starts: np.ndarray, times: int) -> np.ndarray:
    """Starts of as many equal runs, one after the other."""
    each = starts[:-1] + starts[-1] * np.arange(times)[:, None]
    return np.append(each.ravel(), starts[-1] * times)


def _part_of_rows(first_instruction: np.ndarray, warp: np.ndarray, parts: int) -> np.ndarray:
    """i8 [rows], the part of each: equal shares of a warp's rows, one after the other."""
    rows = np.arange(len(warp)) - first_instruction[warp]
    return rows * parts // np.diff(first_instruction)[warp]
