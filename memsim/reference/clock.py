"""Time in SM cycles, and the order in which the units of the machine act within one cycle.

SimPy handles the events of one time by priority, then in the order in which they were scheduled. Two rules on top of
this make every run of the model repeatable, and equal to the compiled engine bit by bit:

- A unit acts in its *stage* of a cycle. SMs come first, then the TLBs, the crossbar, the L2 slices and the DRAM
  channels, so that a request can pass through all of them in the cycle in which it is made. Units of one kind act
  in the order of their numbers.
- What SimPy schedules itself (a `Store` that has an item for a process, a `Resource` that becomes free, an event that
  succeeds) comes before every stage: the processes that it concerns continue at once, within the stage that caused it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import simpy
from simpy.events import NORMAL


class CycleStage(IntEnum):
    """The order of the units within a cycle; SimPy's own priorities are 0 and 1."""

    replies = 2  # packets from L2 reach an SM's reply port
    reply_port = 3  # and have passed it
    warps = 4  # warps issue instructions, by warp slot
    load_store = 5  # load-store units look up a transaction
    blocks = 6  # block slots that became free get a new block
    translation = 7  # TLBs and page walkers
    crossbar = 8  # requests of the SMs enter L2
    crossing = 9  # requests from the other partition of L2 enter
    slices = 10
    memory_side = 11  # cache levels between L2 and DRAM
    channels = 12


class Clock(simpy.Environment):
    """A SimPy environment whose priorities are tuples: a stage, then numbers that order the units within it."""

    @property
    def now(self) -> int:
        """The present cycle."""
        return int(self._now)

    def schedule(self, event: simpy.Event, priority: Any = NORMAL, delay: Any = 0) -> None:
        """Schedule an event, as SimPy does, with a stage or one of SimPy's priorities."""
        stage: Any = priority if isinstance(priority, tuple) else (priority,)
        super().schedule(event, stage, delay)

    def at(self, time: int, *stage: int) -> simpy.Event:
        """Return an event in a stage of the cycle `time`, which is this cycle or a later one."""
        event = simpy.Event(self)
        event._ok, event._value = True, None
        self.schedule(event, stage, time - self.now)
        return event

    def call(self, time: int, stage: tuple[int, ...], function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function in a stage of the cycle `time`."""
        callbacks = self.at(time, *stage).callbacks
        assert callbacks is not None
        callbacks.append(lambda event: function(*arguments))
