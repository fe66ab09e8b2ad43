"""How long a launch takes that a tuner times, and what a tuner has tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsim.sources.ptx.launchers.caught import Caught
from memsim.trace.reader import Trace

TUNED_BLOCKS = "2x"  # what a tuner's launches are simulated on, as versions are in `memsim explore`


@dataclass(frozen=True)
class Timing:
    """How launches are timed.

    Attributes:
        clock: from a launch's trace to its milliseconds.
        blocks: that are traced, a trace each; the clock gets the first.
        folder: where the traces go; None: a temporary one.
        stop: whether the program ends when the wanted kernel, by default the first, is tuned.
    """

    clock: Callable[[Trace], float]
    blocks: Sequence[str] = (TUNED_BLOCKS,)
    folder: Path | None = None
    stop: bool = False


@dataclass(frozen=True)
class Tried:
    """A launch that a tuner timed: its traces, one for each of :attr:`Timing.blocks`, and what the tuner was told."""

    caught: Caught
    traces: Sequence[Trace]
    milliseconds: float

    @property
    def trace(self) -> Trace:
        """That which was timed."""
        return self.traces[0]


@dataclass(frozen=True)
class Tuned:
    """A kernel that was tuned.

    Attributes:
        kernel: its name.
        configurations: value by choice of each, in the order in which they were timed.
        calls: of each configuration, the launches, or why it could not be launched.
    """

    kernel: str
    configurations: Sequence[dict[str, Any]]
    calls: Sequence[list[Tried] | str]
