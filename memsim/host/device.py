"""The GPU's block scheduler, seen from outside: which kernel's blocks run when several kernels could.

Blocks of the kernel that came first are handed out while there is room; what room is left then goes to the next one
(the leftover policy: Pai, Thazhuthaveetil and Govindarajan, ASPLOS 2013, section 2). Room is counted as the fraction of
the GPU that a block takes when only its own kernel runs. How kernels slow each other down at L2 and DRAM is not
modelled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction

import simpy

from memsim.host.program import Work


@dataclass(eq=False)
class _Grid:
    work: Work
    done: simpy.Event
    waiting: int
    running: int = 0


class Device:
    """Runs kernels; at most `most` at a time."""

    def __init__(self, env: simpy.Environment, most: int) -> None:
        self._env, self._most = env, most
        self._room = Fraction(1)
        self._grids: deque[_Grid] = deque()

    def run(self, work: Work) -> simpy.Event:
        """Start a kernel as soon as there is room; the event happens when its last block ends."""
        grid = _Grid(work, self._env.event(), work.blocks)
        self._grids.append(grid)
        self._hand_out()
        return grid.done

    def _hand_out(self) -> None:
        for grid in list(self._grids)[: self._most]:
            share = Fraction(1, grid.work.wave_blocks)
            count = min(grid.waiting, int(self._room / share))
            if count:
                self._room -= count * share
                grid.waiting -= count
                grid.running += count
                self._env.process(self._blocks(grid, count, share))
            if grid.waiting:
                return  # leftover: who came later gets what this one cannot use, which is nothing

    def _blocks(self, grid: _Grid, count: int, share: Fraction) -> Generator[simpy.Event, None, None]:
        yield self._env.timeout(grid.work.block_us)
        self._room += count * share
        grid.running -= count
        if not grid.waiting and not grid.running:
            self._grids.remove(grid)
            grid.done.succeed()
        self._hand_out()
