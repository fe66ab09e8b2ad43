"""A streaming multiprocessor: every warp is a process that issues its instructions in order.

Between memory instructions, each warp issues compute runs (`issue.py`); at a memory instruction it joins the queue of
the load-store unit (`load_store.py`). It stops where its next instruction needs data: at the start of a sequence of
independent loads (bulk scheduling: Baghsorkhi et al., PPoPP 2012, section 2), or where the scoreboard says so (counts
of unanswered loads of a class, as the wait masks and counters of NVIDIA's machine code: Huerta et al., MICRO 2025).
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import simpy

from memsim.gpu.choices import Dependence, Divergence
from memsim.reference.address_map import hash32
from memsim.reference.clock import CycleStage, Process, Signal
from memsim.reference.issue import IssueUnit
from memsim.reference.l1 import L1Cache
from memsim.reference.load_store import LoadStoreUnit
from memsim.reference.packets import WITH_DATA, Packet
from memsim.reference.warp import Block, OutstandingAccess, OutstandingLoad, Warp
from memsim.trace.schema import NO_SCOREBOARD, RESULT_CLASSES, SCOREBOARDS, WAIT_COLUMNS, Flag, LoadClass, OpKind
from memsim.trace.transactions import CONSTANT_FLAG

if TYPE_CHECKING:
    from memsim.reference.model import ReferenceModel

NO_LIMIT = 255  # of unanswered loads, in the trace
# A new sequence, a barrier, or a store of what the sequence's loads bring.
SEQUENCE_ENDS = Flag.sequence | Flag.barrier | Flag.data
LOADS_TRACKED = 64  # unanswered loads of a class and warp, where the GPU states no number


class MultiprocessorUnit:
    """The warps of one SM, which holds `slots` of them at once."""

    def __init__(self, model: ReferenceModel, number: int, slots: int) -> None:
        self.model, self.number, self.clock, self.gpu = model, number, model.clock, model.gpu
        self.scoreboard = self.gpu.sm.dependence is Dependence.scoreboard
        self.loads_tracked = self.gpu.sm.loads_per_warp or LOADS_TRACKED
        self.slots = slots
        self.issue_units = [IssueUnit(self.gpu) for _ in range(self.gpu.sm.schedulers or 1)]
        self.l1 = L1Cache(self)
        self.load_store = LoadStoreUnit(self)
        self.reply_port = simpy.Resource(self.clock)
        self.replied = Signal(self.clock)
        self.barrier_free = 0  # cycle in which the next arrival at a barrier is taken
        self.end = 0  # cycle in which the last warp so far ended

    def launch(self, item: int, block_slot: int, first: list[int], end: list[int], time: int) -> None:
        """Start a block, or a part of one, at `time`.

        Args:
            item: its number in the order of launches.
            first, end: instructions of each warp.
        """
        chance, n = self.gpu.stochastic, len(first)
        block = Block(block_slot, n, Signal(self.clock))
        for k in range(n):
            age = item * n + k
            weight = 1 + hash32(self.model.key ^ hash32(age)) % (chance.max_weight if chance.warp_weights else 1)
            warp = Warp(block_slot * n + k, age, first[k], end[k], block, weight)
            self.clock.process(self.run_warp(warp, time))

    def resume_at(self, warp: Warp, time: int) -> simpy.Event:
        return self.clock.at(time, CycleStage.warps, warp.slot)

    def run_warp(self, warp: Warp, start: int) -> Process:
        """Process: one warp from its launch to its end."""
        yield self.resume_at(warp, start)
        yield from self.run_path(warp)
        self.end = max(self.end, self.clock.now)
        warp.block.live -= 1
        if warp.block.live:
            self.open_barrier(warp.block)
        else:
            self.l1.drop_local(warp.block.slot)
            self.model.blocks.free_slot(self.number, warp.block.slot)

    def run_path(self, warp: Warp) -> Process:
        """Issue a warp's instructions up to its end, and wait for its loads."""
        while warp.pc != warp.end:
            if path := self.second_path(warp):
                yield from self.run_both_paths(warp, path)
                continue
            yield from self.issue(warp)
            i = self.model.trace.instructions[warp.pc]
            barrier = bool(i["flags"] & Flag.barrier)
            memory = bool(i["count"] or i["slots"]) and not barrier
            if not memory and not barrier:
                self.set_scoreboard(warp)
            warp.pc += 1
            if memory:
                now = yield self.load_store.enqueue(warp)
            else:
                yield from self.wait_at_barrier(warp) if barrier else self.use_mbarrier(warp, i["flags"])
                now = self.clock.now
            if (self.scoreboard or not barrier) and self.may_wait(warp):
                yield from self.wait_for_loads(warp, now)
            elif memory:
                yield self.resume_at(warp, now)

    def issue(self, warp: Warp) -> Process:
        """Issue the compute run before an instruction, and with `memory_issue` the memory instruction itself."""
        i, sm = self.model.trace.instructions[warp.pc], self.gpu.sm
        masked = sm.masked_issue and i["flags"] & Flag.masked  # a predicate has turned off all lanes
        access = 1 if sm.memory_issue and (masked or i["count"] + i["slots"]) else 0
        count = int(i["compute_run"]) + access
        if not count:
            return
        unit, control, result = self.issue_unit(warp), self.model.control(warp.pc), self.result_class(warp)
        mix, begun = self.model.trace.mixes[i["instruction_mix"]], int(access or result != "") if sm.schedulers else 0
        first, pipe = max(self.clock.now, warp.next_issue), "control" if result == "register" else result
        done = unit.issue(count, begun, int(i["critical_path"]), mix, bool(i["instruction_mix"]), pipe, first)
        queued = sm.queued_barriers if i["flags"] & Flag.barrier else access and not i["flags"] & CONSTANT_FLAG
        if sm.address_cycles and queued:
            done = max(done, unit.generate_addresses(first))
        if result == "group":
            warp.groups.append(max(done, ceil(unit.pipe_free["tensor"])))
        warp.next_issue = done + (int(control["stall"]) if control is not None else 0)
        if done > self.clock.now:
            yield self.resume_at(warp, done)

    def issue_unit(self, warp: Warp) -> IssueUnit:
        """The issue unit of the warp's scheduler."""
        return self.issue_units[(warp.host or warp).slot % len(self.issue_units)]

    def result_class(self, warp: Warp) -> str:
        """Class of the variable-latency instruction that ends the next row of machine code; "" if none does."""
        control = self.model.control(warp.pc)
        return RESULT_CLASSES[control["result"] - 1] if control is not None and control["result"] else ""

    def set_scoreboard(self, warp: Warp) -> None:
        """Have an instruction of variable latency that is no memory access set its scoreboard, if it has one."""
        number = int(self.model.control(warp.pc)["set"]) if self.result_class(warp) else NO_SCOREBOARD
        if number != NO_SCOREBOARD:
            latency = self.issue_unit(warp).latency(self.result_class(warp))
            warp.scoreboards[number].append(OutstandingLoad(self.clock.event().succeed(self.clock.now + latency)))

    # Divergent paths

    def second_path(self, warp: Warp) -> Warp | None:
        """The second path of a branch at the warp's next instruction, if both paths are issued at once.

        Volta and later GPUs have a program counter for every thread (NVIDIA V100 whitepaper, WP-08608-001), so two
        divergent paths can be under way at a time. Paths do not diverge again.
        """
        branches = self.model.trace.divergences
        interleaved = self.scoreboard and self.gpu.sm.divergence is Divergence.interleaved
        if not interleaved or not len(branches) or warp.host or warp.diverged:
            return None
        first, end = (warp.pc + int(branches[warp.pc][name]) for name in ("second", "reconvergence"))
        if end == warp.pc or end > warp.end:
            return None
        return Warp(self.slots + warp.slot, warp.age, first, end, warp.block, warp.weight, host=warp)

    def run_both_paths(self, warp: Warp, second: Warp) -> Process:
        """Run a warp's two divergent paths as if they were two warps, up to where they reconverge."""
        other = self.clock.process(self.run_second_path(second))
        end, warp.end, warp.diverged = warp.end, second.pc, True
        yield from self.run_path(warp)
        yield other
        yield self.resume_at(warp, self.clock.now)
        warp.pc, warp.end, warp.diverged = second.end, end, False

    def run_second_path(self, warp: Warp) -> Process:
        yield self.resume_at(warp, self.clock.now)
        yield from self.run_path(warp)

    # Barriers

    def wait_at_barrier(self, warp: Warp) -> Process:
        """Wait for the other warps of the block; the SM takes arrivals of all its blocks one after the other."""
        block = warp.block
        block.arrival = max(self.barrier_free, self.clock.now)
        self.barrier_free = block.arrival + (self.gpu.sm.arrival_cycles or 0)
        block.waiting += 1
        opens = block.barrier.next
        self.open_barrier(block)
        yield self.resume_at(warp, (yield opens))

    def open_barrier(self, block: Block) -> None:
        """Open the barrier of a block if all its live warps have arrived."""
        if block.waiting == block.live:
            block.waiting = 0
            block.barrier.happen(max(self.clock.now, block.arrival) + self.gpu.sm.barrier_cycles)

    def use_mbarrier(self, warp: Warp, flags: int) -> Process:
        """Arrive at a phase of an mbarrier, or wait until all have arrived (PTX ISA, mbarrier)."""
        phase = self.model.mbarriers.phase_of(warp.pc - 1) if self.scoreboard else 0
        if phase and flags & Flag.arrives:
            self.model.mbarriers.arrive(phase, self.clock.now)
        elif phase:
            event = self.model.mbarriers.complete[phase]
            if not event.triggered or int(event.value or 0) > self.clock.now:
                yield self.resume_at(warp, (yield event))

    # Loads

    def take_needed(self, warp: Warp) -> list[OutstandingLoad]:
        """Stop tracking the loads whose data a warp needs before its next instruction, or its end; return them."""
        found = []
        if warp.pc == warp.end or not self.scoreboard:
            for loads in warp.loads.values():
                found += loads
                loads.clear()
            return found
        i, control = self.model.trace.instructions[warp.pc], self.model.control(warp.pc)
        for k in range(SCOREBOARDS):
            if control is not None and control["wait"] >> k & 1:
                found += warp.scoreboards.pop(k, [])
        for each, column in zip(LoadClass, WAIT_COLUMNS, strict=True):  # loads of a class are counted in order
            loads, most = warp.loads[each], int(i[column])
            unanswered = len(loads) if most == NO_LIMIT else most
            if i["answers"] == each:  # it will be one of the unanswered loads itself
                unanswered = min(unanswered, self.loads_tracked - 1)
            first = max(len(loads) - unanswered, 0)
            found += loads[:first]
            del loads[:first]
        return found

    def groups_done(self, warp: Warp) -> int:
        """When the groups of products are done that the next instruction, or the end, waits for (wgmma.wait_group)."""
        control = self.model.control(warp.pc) if warp.pc != warp.end else None
        left = 0 if warp.pc == warp.end else NO_LIMIT if control is None else int(control["products"])
        return warp.groups[-1 - left] if left < len(warp.groups) else 0

    def may_wait(self, warp: Warp) -> bool:
        """Whether the scheduler leaves the warp: it ends, or its next instruction may have to wait for loads."""
        if warp.pc == warp.end:
            return True
        i = self.model.trace.instructions[warp.pc]
        if not self.scoreboard:
            return bool(i["flags"] & SEQUENCE_ENDS)
        control = self.model.control(warp.pc)
        limited = control is not None and (control["wait"] > 0 or control["products"] != NO_LIMIT)
        limited |= any(i[column] != NO_LIMIT for column in WAIT_COLUMNS)
        return limited or any(len(warp.loads[each]) >= self.loads_tracked for each in LoadClass if i["answers"] == each)

    def wait_for_loads(self, warp: Warp, time: int) -> Process:
        """Wait for the loads that the next instruction needs, from `time` on."""
        warp.in_sequence = False
        time = max(time, self.groups_done(warp))
        for load in self.take_needed(warp):
            time = max(time, (yield load.answered))
        yield self.resume_at(warp, time)

    def finish(self, access: OutstandingAccess, time: int) -> None:
        """A memory instruction has issued and all its data are there; a load answers."""
        if access.kind in (OpKind.load, OpKind.atomic):
            self.model.statistics.instruction_latencies[access.op].append(access.done - access.start)
        if access.load:
            access.load.answered.succeed(access.done)
            if access.load.phase:
                self.model.mbarriers.arrive(access.load.phase, max(access.done, time))

    def receive(self, packet: Packet, slice_number: int, time: int) -> Process:
        """Process: a packet from L2 reaches the SM at `time`, and passes the reply port with its sectors."""
        yield self.clock.at(time, CycleStage.replies, slice_number)
        with self.reply_port.request() as port:
            yield port
            if packet.request in WITH_DATA:
                cycles = -(-32 * packet.mask.bit_count() // self.gpu.sm.reply_bytes_per_cycle)
                yield self.clock.at(self.clock.now + cycles, CycleStage.reply_port)
            self.l1.receive(packet)
            self.replied.happen()
