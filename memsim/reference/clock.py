"""Time in SM cycles, and the order in which the units of the machine act within one cycle.

SimPy handles the events of one time by priority, then in the order in which they were scheduled. Two rules on top of
this make every run of the model repeatable, and equal to the compiled engine bit by bit:

- A unit acts in its *stage* of a cycle, so that a request can pass through all units in the cycle in which it is made.
  Units of one kind act in the order of their numbers.
- What SimPy schedules itself (a `Store` that has an item for a process, a `Resource` that becomes free, an event that
  succeeds) comes before every stage: the processes that it concerns continue at once, within the stage that caused it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from enum import IntEnum
from fractions import Fraction
from math import ceil
from typing import Any

import simpy
from simpy.events import NORMAL

Process = Generator[simpy.Event, Any, None]


class CycleStage(IntEnum):
    """The order of the units within a cycle; SimPy's own priorities are 0 and 1."""

    replies = 2  # packets from L2 reach an SM's reply port
    reply_port = 3  # and have passed it
    warps = 4  # warps issue instructions, by warp slot
    load_store = 5  # load-store units look up a transaction
    blocks = 6  # block slots that became free get a new block
    translation = 7  # TLBs and page walkers
    crossbar = 8  # requests of the SMs enter L2
    crossing = 9  # requests from the other partition of L2, and of the prefetcher, enter
    slices = 10
    memory_side = 11  # cache levels between L2 and DRAM
    channels = 12


class Clock(simpy.Environment):
    """A SimPy environment whose priorities are tuples: a stage, then numbers that order the units within it."""

    @property
    def now(self) -> int:
        return int(self._now)

    def schedule(self, event: simpy.Event, priority: Any = NORMAL, delay: Any = 0) -> None:
        """Schedule an event, as SimPy does, with a stage or one of SimPy's priorities."""
        super().schedule(event, priority if isinstance(priority, tuple) else (priority,), delay)  # type: ignore[arg-type]

    def at(self, time: int, *stage: int) -> simpy.Event:
        """Return an event in a stage of the cycle `time`, which is this cycle or a later one."""
        event = simpy.Event(self)
        event._ok, event._value = True, None
        self.schedule(event, stage, time - self.now)
        return event

    def call(self, time: int, stage: tuple[int, ...], function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function in a stage of the cycle `time`."""
        after(self.at(time, *stage), function, *arguments)


def after(event: simpy.Event, function: Callable[..., Any], *arguments: Any) -> None:
    """Call a function when an event that lies ahead happens."""
    assert event.callbacks is not None
    event.callbacks.append(lambda event: function(*arguments))


class Signal:
    """Something that happens again and again; `next` is the event of its next time."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.next = clock, clock.event()

    def happen(self, value: int | None = None) -> None:
        """Resume all that wait for it."""
        event, self.next = self.next, self.clock.event()
        event.succeed(value)


class QueueServer:
    """A unit with a queue, which serves one request after the other: a slice of L2, or of a level behind it.

    Args:
        stage: in which it acts. Within it, the slice takes in answers (ANSWERS) before it serves its queue (SERVE).
    """

    ANSWERS, SERVE = 0, 1

    def __init__(self, clock: Clock, *stage: int) -> None:
        self.clock, self.stage = clock, stage
        self.queue = simpy.Store(clock)
        self.free = Fraction(0)  # cycle, with fractions, in which it can serve the next request
        self.answered = Signal(clock)  # a request that it sent on is answered
        self.blocked = False  # the request in service waits for an answer
        clock.process(self.run())

    def run(self) -> Process:
        """Process: serve the queue; a request that cannot be served is tried again at the next answer."""
        while True:
            request = yield self.queue.get()
            yield self.clock.at(max(self.clock.now, ceil(self.free)), *self.stage, self.SERVE)
            while not self.serve(request):
                self.blocked = True
                yield self.answered.next
                yield self.clock.at(self.clock.now, *self.stage, self.SERVE)

    def serve(self, request: Any) -> bool:
        """Serve a request in this cycle; False if it has to be tried again."""
        raise NotImplementedError

    def occupy(self, cycles: Fraction) -> None:
        """Be busy from now on, or from the moment within this cycle in which the unit got free."""
        begin = self.free if ceil(self.free) == self.clock.now else Fraction(self.clock.now)
        self.free = begin + cycles

    def unblock(self) -> None:
        """An answer has come: try the request in service again."""
        if self.blocked and self.clock.now > ceil(self.free):
            self.free = Fraction(self.clock.now)
        self.blocked = False
        self.answered.happen()
