"""Times the launches that a program's tuner or benchmark asks about: they are traced and simulated, not run in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memsim.trace.reader import Trace

Clock = Callable[[Trace, bool], float]
"""Milliseconds of a traced launch; the flag says that L2 was flushed and is full of dirty lines."""

TIMED_BLOCKS = "2x"  # of what the GPU holds at once


@dataclass(frozen=True)
class Timed:
    """A launch that was timed.

    Attributes:
        kernel: its name.
        benchmark: which of its process's benchmarks, from 0.
        milliseconds: that the program was told.
        traces: one of each of :attr:`Timer.blocks`; empty where the timer keeps none.
    """

    kernel: str
    benchmark: int
    milliseconds: float
    traces: Sequence[Path] = ()


@dataclass
class Timer:
    """Times launches between the begin and the end of a benchmark.

    Args:
        clock: from a launch's trace to its milliseconds; gets the first of the traces.
        blocks: that are traced, a trace each.
        keeps: whether the traces stay until the capture ends, as :attr:`timed` lists them.
    """

    clock: Clock
    blocks: Sequence[str] = (TIMED_BLOCKS,)
    keeps: bool = False
    timed: list[Timed] = field(default_factory=list)
    _known: dict[Any, float] = field(default_factory=dict)

    def time(self, kernel: str, benchmark: int, flushed: bool, same: Any, trace: Callable[[str, str], Path]) -> float:
        """Milliseconds of a launch.

        Args:
            kernel: its name.
            benchmark: which of its process's.
            flushed: whether L2 was.
            same: equal for launches that take equally long.
            trace: makes a trace of the named blocks, under a name.
        """
        if not self.keeps and (same, flushed) in self._known:
            return self._known[same, flushed]
        number = len(self.timed)
        paths = [trace(blocks, f"timed-{number}-{k}") for k, blocks in enumerate(self.blocks)]
        milliseconds = self.clock(Trace.open(paths[0]), flushed)
        self._known[same, flushed] = milliseconds
        if not self.keeps:
            for path in paths:
                path.unlink()
        self.timed.append(Timed(kernel, benchmark, milliseconds, tuple(paths) if self.keeps else ()))
        return milliseconds
