"""The GPU's block scheduler, seen from outside: which kernel's blocks run when several kernels could.

Blocks of the kernel that came first are handed out while there is room; what room is left then goes to the next one
(the leftover policy: Pai, Thazhuthaveetil and Govindarajan, ASPLOS 2013, section 2). Room is counted as the fraction of
the GPU that a block takes when only its own kernel runs. How kernels slow each other down at L2 and DRAM is not
modelled. A kernel that a block launches comes after all that are there; its parent is done when it is (CUDA C++
Programming Guide, "Dynamic Parallelism").
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import simpy

from memsim.host.program import KernelWork, Nested


@dataclass(eq=False)
class _Grid:
    work: KernelWork | Nested
    launch_us: float
    share: Fraction
    done: simpy.Event
    waiting: int
    running: int = 0
    children: int = 0


class HostDevice:
    """Runs kernels; at most `most` at a time."""

    def __init__(self, env: simpy.Environment, most: int) -> None:
        self._env, self._most = env, most
        self._room = Fraction(1)
        self._grids: deque[_Grid] = deque()

    def run(self, work: KernelWork | Nested, launch_us: float = 0.0) -> simpy.Event:
        """Start a kernel as soon as there is room; the event happens when its last block, and child, ends.

        `launch_us` is how long a block takes to launch a child; it keeps its place meanwhile.
        """
        grid = _Grid(work, launch_us, Fraction(1, work.wave_blocks), self._env.event(), work.blocks)
        self._grids.append(grid)
        self._hand_out()
        return grid.done

    def _hand_out(self) -> None:
        for grid in islice(self._grids, self._most):
            if not self._room:
                return
            count = min(grid.waiting, int(self._room * grid.work.wave_blocks)) if grid.waiting else 0
            if count:
                self._room -= count * grid.share
                grid.running += count
                self._start(grid, count)
                grid.waiting -= count
            if grid.waiting:
                return  # leftover: who came later gets what this one cannot use, which is nothing

    def _start(self, grid: _Grid, count: int) -> None:
        work = grid.work
        if isinstance(work, KernelWork):
            self._env.process(self._blocks(grid, count, work.block_us, None))
            return
        first = work.blocks - grid.waiting
        for block_us, child in zip(work.blocks_us[first:], work.children[first : first + count], strict=False):
            self._env.process(self._blocks(grid, 1, block_us, child))

    def _blocks(
        self, grid: _Grid, count: int, block_us: float, child: KernelWork | None
    ) -> Generator[simpy.Event, None, None]:
        yield self._env.timeout(block_us + (grid.launch_us if child else 0.0))
        self._room += count * grid.share
        grid.running -= count
        if not grid.waiting and not grid.running:
            self._grids.remove(grid)
        if child:
            grid.children += 1
            self.run(child).callbacks.append(lambda _: self._child_ends(grid))
        self._end(grid)
        self._hand_out()

    def _child_ends(self, grid: _Grid) -> None:
        grid.children -= 1
        self._end(grid)

    @staticmethod
    def _end(grid: _Grid) -> None:
        if not (grid.waiting or grid.running or grid.children):
            grid.done.succeed()
