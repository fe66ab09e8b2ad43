"""What a transform is, and a trace that is transformed while it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.trace.reader import Trace
from memsim.trace.schema import MIX, Chunk, LaunchShape, RepairedChunk, StaticInstruction

BLOCK_ROWS = 1 << 16  # rows of whole blocks that are transformed together, where blocks are not longer


@dataclass(frozen=True)
class Blocks:
    """Whole blocks of a trace.

    Attributes:
        chunk: their warps.
        block, warp: i8 [rows], numbers among those of the chunk.
    """

    chunk: Chunk
    block: np.ndarray
    warp: np.ndarray

    def rows_of(self, ops: tuple[int, ...]) -> np.ndarray:
        """Rows of some static instructions, ascending."""
        return np.flatnonzero(np.isin(self.chunk.op, ops))


Change = Callable[[Blocks], Chunk]


@dataclass(frozen=True)
class Transform:
    """One what-if transform of a trace.

    Attributes:
        text: what, in words that follow "with".
        change: of the trace's blocks, in order; made anew for every reading. None: they stay.
        machine: of the GPU; None: it stays.
        launch: of the launch; None: it stays.
        trace: of the trace as a whole, where its blocks do not stay; instead of `change` and `launch`.
        more_ops: memory instructions in addition to those of the trace.
        more_mixes: mixes behind those of the trace.
    """

    text: str
    change: Callable[[Trace], Change] | None = None
    machine: Callable[[GPU], GPU] | None = None
    launch: Callable[[LaunchShape], LaunchShape] | None = None
    trace: Callable[[Trace], Trace] | None = None
    more_ops: tuple[StaticInstruction, ...] = ()
    more_mixes: np.ndarray = field(default_factory=lambda: np.zeros(0, MIX))

    def of(self, trace: Trace, gpu: GPU) -> tuple[Trace, GPU]:
        """The trace and the GPU with it.

        Raises:
            InputError: a machine that cannot be.
        """
        machine = self.machine(gpu) if self.machine else gpu
        if self.trace is not None:
            return self.trace(trace), machine
        launch = self.launch(trace.launch) if self.launch else trace.launch
        if self.change is None:
            return replace(trace, launch=launch), machine
        values: dict[str, Any] = {field.name: getattr(trace, field.name) for field in fields(Trace)}
        values |= {"launch": launch, "ops": trace.ops + self.more_ops}
        values["issue"] = replace(trace.issue, mixes=np.concatenate([trace.issue.mixes, self.more_mixes]))
        return TransformedTrace(**values, change=self.change), machine


@dataclass(frozen=True, eq=False, repr=False)
class TransformedTrace(Trace):
    """A trace that is transformed as it is read."""

    change: Callable[[Trace], Change] = lambda _: lambda blocks: blocks.chunk

    def chunks(self, max_instructions: int = BLOCK_ROWS) -> Iterator[Chunk]:
        """Whole blocks, transformed."""
        change = self.change(self)
        for blocks in read_blocks(self, max_instructions):
            yield RepairedChunk(**vars(change(blocks)), before=blocks.chunk)


def read_blocks(trace: Trace, max_instructions: int = BLOCK_ROWS) -> Iterator[Blocks]:
    """The blocks of a trace as they are, some at a time.

    Raises:
        InputError: as :meth:`Trace.chunks` does.
    """
    values: dict[str, Any] = {field.name: getattr(trace, field.name) for field in fields(Trace)}
    values |= {name: getattr(trace, name)[trace.first_warp] for name in ("first_instruction", "first_address")}
    for chunk in Trace(**values).chunks(max_instructions):  # whose warps are blocks
        first, last = trace.first_warp[[chunk.warps.start, chunk.warps.stop]].tolist()
        starts = {name: getattr(trace, name)[first : last + 1] for name in ("first_instruction", "first_address")}
        blocks = replace(
            chunk, warps=range(first, last), **{name: values - values[0] for name, values in starts.items()}
        )
        block = np.repeat(np.arange(len(chunk.warps)), np.diff(chunk.first_instruction))
        warp = np.repeat(np.arange(last - first), np.diff(blocks.first_instruction))
        yield Blocks(blocks, block, warp)
