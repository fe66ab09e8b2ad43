"""Times the launches that a program's tuner or benchmark asks about: they are traced and simulated, not run in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from memsim.capture.arena import ProcessMemory
from memsim.capture.tuning import SilentTuner, TimedLaunch, TunedKernel
from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.trace import HostCalls
from memsim.trace.reader import Trace

Clock = Callable[[Trace, bool], float]
"""Milliseconds of a traced launch; the flag says that L2 was flushed and is full of dirty lines."""


class LaunchTimer(Protocol):
    """Times launches of a benchmark by itself, without traces that stay."""

    def milliseconds(
        self, launch: PtxLaunch, memory: ProcessMemory, host_calls: HostCalls, flushed: bool, runs: bool = False
    ) -> float:
        """The time of a launch, which is executed as well if it ``runs``.

        L2 is full of another kernel's dirty lines if it is ``flushed``.
        """
        ...

    @property
    def notes(self) -> list[str]:
        """What the user should know of the times."""
        ...


TIMED_BLOCKS = "2x"  # of what the GPU holds at once


@dataclass
class Timer:
    """Times launches between the begin and the end of a benchmark.

    Args:
        clock: from a launch's trace to its milliseconds; gets the first of the traces.
        blocks: that are traced, a trace each.
        folder: where the traces stay; None: they are deleted once they are timed.
        until: whether the program is to end when a kernel of this name is tuned; None: it runs to its end.

    Attributes:
        tuned: kernels that were tuned, and tuners that do not report them.
    """

    clock: Clock
    blocks: Sequence[str] = (TIMED_BLOCKS,)
    folder: Path | None = None
    until: Callable[[str], bool] | None = None
    tuned: list[TunedKernel | SilentTuner] = field(default_factory=list)
    _count: int = 0
    _known: dict[Any, TimedLaunch] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether the program is to end."""
        if self.until is None:
            return False
        return any(isinstance(one, SilentTuner) or self.until(one.kernel) for one in self.tuned)

    def time(self, flushed: bool, same: Any, trace: Callable[[str, str], Path]) -> TimedLaunch:
        """Time a launch.

        Args:
            flushed: whether L2 was.
            same: equal for launches that take equally long.
            trace: makes a trace of the named blocks, under a name.
        """
        if self.folder is None and (same, flushed) in self._known:
            return self._known[same, flushed]
        number, self._count = self._count, self._count + 1
        paths = [trace(blocks, f"timed-{number}-{k}") for k, blocks in enumerate(self.blocks)]
        milliseconds = self.clock(Trace.open(paths[0]), flushed)
        if self.folder is not None:
            return TimedLaunch(milliseconds, paths)
        for path in paths:
            path.unlink()
        self._known[same, flushed] = TimedLaunch(milliseconds)
        return self._known[same, flushed]
