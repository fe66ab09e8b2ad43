"""CuMAPz's input about a program (Kim and Shrivastava 2011, section 5, figure 4): its shape and its references."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Threads(NamedTuple):
    """Whom an index is asked for: arrays that broadcast to [blocks, steps, threads of a block].

    Attributes:
        bx, by: block index.
        x, y: thread index.
        phase: pass of the loop around the buffers' fetches.
        step: pass of the loop within.
    """

    bx: np.ndarray
    by: np.ndarray
    x: np.ndarray
    y: np.ndarray
    phase: np.ndarray
    step: np.ndarray


Index = Callable[[Threads], np.ndarray]


@dataclass(frozen=True)
class Reference:
    """A reference to global memory; where its element is buffered, the buffer is accessed instead.

    Attributes:
        array: name.
        index: element of the array, by thread.
        where: which threads access it; None: all.
        steps: passes of the loop that it stands in, within a phase.
        last: whether it is executed after the last phase alone, not in every phase.
        stored: whether the element is written; the model makes no difference.
    """

    array: str
    index: Index
    where: Index | None = None
    steps: int = 1
    last: bool = False
    stored: bool = False


@dataclass(frozen=True)
class BufferFetch:
    """A load from global memory to a shared buffer: a data fetch reference with its access reference.

    Attributes:
        index: element of the buffer's array, by thread.
        place: element of the shared buffer, by thread.
        where: which threads fetch; None: all.
    """

    index: Index
    place: Index
    where: Index | None = None


@dataclass(frozen=True)
class Buffer:
    """A shared buffer of part of an array, filled anew in every phase.

    Attributes:
        array: whose elements it holds.
        fetches: its loads; they are independent of each other.
        base: place of its first element in shared memory, counted in elements.
    """

    array: str
    fetches: tuple[BufferFetch, ...]
    base: int = 0


@dataclass(frozen=True)
class ScratchReference:
    """An access to shared memory that buffers no array: element `index`, as in :class:`Reference`."""

    index: Index
    where: Index | None = None
    steps: int = 1


@dataclass(frozen=True)
class CumapzProgram:
    """A kernel's launch and references.

    Attributes:
        grid, block: extents (x, y).
        references: to global memory, other than the fetches.
        buffers: of shared memory.
        scratch: accesses to other shared memory.
        phases: passes of the loop around the fetches.
        element_bytes: of every array.
        registers: of a thread; shared_bytes: of a block.
        alike: so many rows of blocks access memory alike (as to segments, channels and banks): only the first of every
            so many is gone through, and counted for all.
    """

    grid: tuple[int, int]
    block: tuple[int, int]
    references: tuple[Reference, ...]
    buffers: tuple[Buffer, ...] = ()
    scratch: tuple[ScratchReference, ...] = ()
    phases: int = 1
    element_bytes: int = 4
    registers: int = 16
    shared_bytes: int = 0
    alike: int = 1

    def __post_init__(self) -> None:
        assert self.grid[1] % self.alike == 0, "every row of blocks has its like"

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.block[0] * self.block[1]

    @property
    def blocks(self) -> int:
        """Of the grid."""
        return self.grid[0] * self.grid[1]

    def at(self, blocks: np.ndarray, phase: int, steps: int) -> Threads:
        """The threads of some blocks, by linear number, for all steps of a phase."""
        thread = np.arange(self.threads)[None, None, :]
        block = blocks[:, None, None]
        return Threads(
            block % self.grid[0],
            block // self.grid[0],
            thread % self.block[0],
            thread // self.block[0],
            np.array(phase).reshape(1, 1, 1),
            np.arange(steps)[None, :, None],
        )
