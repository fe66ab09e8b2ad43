"""The load-store unit of an SM: it serves the memory instructions of ready warps, one at a time.

Each warp has a queue of memory transactions, and the transactions of one instruction stay together (Baghsorkhi et al.,
PPoPP 2012, section 3.2.2). The unit looks up `l1.tags_per_cycle` of them per lookup time in L1. It is busy for the
instruction's wavefronts, or for the lookups if a full resource made them take longer, and for as long as its
`sm.load_store_lanes` need for a warp. Shared memory takes a pass for each bank conflict; constants have a unit of their
own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import simpy

from memsim.reference.clock import CycleStage, Process, Signal
from memsim.reference.warp import OutstandingAccess, OutstandingLoad, Warp
from memsim.reference.warp_scheduler import WarpSelector
from memsim.trace.schema import NO_SCOREBOARD, Flag, LoadClass, OpKind
from memsim.trace.transactions import BYPASS_FLAG, CONSTANT_FLAG

if TYPE_CHECKING:
    from memsim.reference.sm import MultiprocessorUnit


class LoadStoreUnit:
    """The queue of ready warps and the unit that serves it."""

    def __init__(self, sm: MultiprocessorUnit) -> None:
        self.sm, self.model, self.clock, self.gpu = sm, sm.model, sm.clock, sm.gpu
        self.selector = WarpSelector(self.gpu.sm.warp_scheduler, 2 * sm.slots, sm.number, self.model.key)
        self.ready: dict[int, Warp] = {}  # by slot
        self.work = Signal(self.clock)  # a warp becomes ready
        self.free = 0  # cycle in which the unit can act again
        self.constants_free = 0  # the same of the unit for constants
        self.clock.process(self.run())

    def enqueue(self, warp: Warp) -> simpy.Event:
        """A warp is ready to issue a memory instruction; the event succeeds when it has issued."""
        self.ready[warp.slot] = warp
        warp.issued = self.clock.event()
        self.work.happen()
        return warp.issued

    def resume_at(self, time: int) -> simpy.Event:
        return self.clock.at(time, CycleStage.load_store)

    def run(self) -> Process:
        while True:
            if not self.ready:
                yield self.work.next
            yield self.resume_at(max(self.free, self.clock.now))
            warp = self.selector.select(self.ready)
            del self.ready[warp.slot]
            yield from self.serve(warp)

    def serve(self, warp: Warp) -> Process:
        time, pc = self.clock.now, warp.pc - 1
        i = self.model.trace.instructions[pc]
        warp.in_sequence = True
        first, kind = int(i["first"]), OpKind(int(i["kind"]))
        bypasses = bool(i["flags"] & BYPASS_FLAG)
        access = OutstandingAccess(warp, int(i["op"]), kind, time, first, first + int(i["count"]), time, bypasses)
        if i["answers"] < len(LoadClass):
            phase = self.model.mbarriers.phase_of(pc) if i["flags"] & Flag.arrives else 0
            access.load = OutstandingLoad(self.clock.event(), phase)
            warp.loads[LoadClass(i["answers"])].append(access.load)
            control = self.model.control(pc)
            if control is not None and control["set"] != NO_SCOREBOARD:
                warp.scoreboards[int(control["set"])].append(access.load)
        if i["slots"]:
            self.access_on_chip(access, int(i["slots"]), bool(i["flags"] & CONSTANT_FLAG))
        else:
            yield from self.look_up_all(access, int(i["wavefronts"]))

    def access_on_chip(self, access: OutstandingAccess, passes: int, constants: bool) -> None:
        """Shared memory keeps the unit busy for all passes; constants have a unit of their own, which takes over."""
        sm = self.gpu.sm
        if constants:
            self.constants_free = max(self.constants_free, access.start) + passes * (sm.constant_cycles or 0)
            busy = self.constants_free - access.start
        else:
            busy = passes * sm.pass_cycles
            self.free = access.start + max(busy, sm.request_cycles)
        if constants or access.kind in (OpKind.load, OpKind.atomic):
            self.answer_after(access, busy - 1 + sm.shared_latency_cycles)
        self.issued(access, access.start if constants else self.free)

    def look_up_all(self, access: OutstandingAccess, wavefronts: int) -> Process:
        """Look up the transactions of an instruction in L1, in order."""
        cycles = self.gpu.sm.lookup_cycles
        for number in range(access.first, access.stop):
            while not self.sm.l1.look_up(access, number):
                yield self.sm.replied.next
                yield self.resume_at(self.clock.now)
            looked_up = number + 1 - access.first
            if number + 1 < access.stop and looked_up % self.gpu.l1.tags_per_cycle == 0:
                yield self.resume_at(self.clock.now + cycles)
        tags_done = self.clock.now + cycles
        data_done = max(tags_done, access.start + wavefronts * cycles)
        access.done += data_done - tags_done  # hits answer as much later as the data stage is behind the lookups
        self.free = max(data_done, access.start + self.gpu.sm.request_cycles)
        self.issued(access, self.free)

    def issued(self, access: OutstandingAccess, time: int) -> None:
        """All transactions have been looked up; the warp continues at `time`."""
        self.model.statistics.transactions += access.stop - access.first
        access.issued = True
        if not access.outstanding:
            self.sm.finish(access, time)
        assert access.warp.issued is not None
        access.warp.issued.succeed(time)

    def answer_after(self, access: OutstandingAccess, latency: int) -> None:
        """A transaction's data arrive after a latency that is certain."""
        access.done = max(access.done, self.clock.now + latency)
        self.model.statistics.latencies[access.op].append(latency)

    def await_data(self, access: OutstandingAccess, fills: list[simpy.Event]) -> None:
        """A transaction waits for the replies that bring its sectors."""
        access.outstanding += 1
        self.clock.process(self.wait_for_fills(access, fills))

    def wait_for_fills(self, access: OutstandingAccess, fills: list[simpy.Event]) -> Process:
        """Process: one transaction, from its lookup to its data."""
        begin = self.clock.now
        yield self.clock.all_of(fills)
        self.model.statistics.latencies[access.op].append(self.clock.now - begin)
        access.done = max(access.done, self.clock.now)
        access.outstanding -= 1
        if access.issued and not access.outstanding:
            self.sm.finish(access, self.clock.now)
