"""mbarriers in shared memory (PTX ISA, mbarrier): a phase completes when all its arrivals have come.

The trace says which phase each arrival and each wait belongs to, so no parities or byte counts are replayed.
"""

from __future__ import annotations

import simpy

from memsim.trace.transactions import Transactions


class Mbarriers:
    """The phases of a trace's mbarriers.

    Attributes:
        complete: by phase; succeeds when it is certain when the last arrival comes, with that cycle.
    """

    def __init__(self, clock: simpy.Environment, trace: Transactions) -> None:
        self.trace = trace
        self.left = trace.arrivals.tolist()
        self.last = [0] * len(self.left)
        self.complete = [clock.event() for _ in self.left]
        for event, left in zip(self.complete, self.left, strict=True):
            if not left:
                event.succeed(0)

    def phase_of(self, instruction: int) -> int:
        """The phase at which an instruction arrives or for which it waits; 0 for none."""
        return int(self.trace.phase[instruction]) if len(self.trace.phase) else 0

    def arrive(self, phase: int, time: int) -> None:
        """Arrive at a phase at `time`, which is now or later."""
        self.left[phase] -= 1
        self.last[phase] = max(self.last[phase], time)
        if not self.left[phase]:
            self.complete[phase].succeed(self.last[phase])
