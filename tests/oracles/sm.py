"""One SM: warps as objects; everything that happens at one cycle in the order the model gives."""

from __future__ import annotations

from heapq import heappop, heappush

from oracles.cache import mix, sectors
from oracles.issue import Scheduler
from oracles.l1 import FirstLevel
from oracles.messages import Packet
from oracles.warps import Block, Flight, Load, Transaction, Warp

from memsim.gpu.choices import Dependence, WarpScheduler
from memsim.gpu.config import GPU
from memsim.trace.schema import NO_SCOREBOARD, RESULT_CLASSES, SCOREBOARDS, Flag, Kind, LoadClass
from memsim.trace.transactions import BYPASS_FLAG, CONSTANT_FLAG


class SM(FirstLevel):
    def __init__(self, world, number: int, gpu: GPU, key: int, slots: int) -> None:
        super().__init__(world, number, gpu, key)
        self.events: list[tuple[int, int]] = []
        self.warps: dict[int, Warp] = {}
        self.ready: set[int] = set()
        self.n_slots = slots
        self.replies: list[tuple[int, int, int, Packet]] = []
        self.link_free = 0
        self.schedulers = [Scheduler(gpu) for _ in range(gpu.sm.schedulers or 1)]
        self.current: Flight | None = None
        self.free = 0  # when the load-store unit can act next
        self.constants = 0  # when the constants' unit is free
        self.blocked = False
        self.last, self.credit, self.draws = 0, 0, 0
        self.end = 0
        self.barrier_free = 0  # when the next arrival at a barrier is taken

    # Time

    def next_time(self) -> int | None:
        times = [self.events[0][0]] if self.events else []
        if self.replies:
            times.append(self.due())
        if (self.current and not self.blocked) or (not self.current and self.ready):
            times.append(max(self.free, self.world.now))
        return min(times, default=None)

    def step(self, time: int) -> None:
        while True:
            if self.replies and self.due() <= time:
                self.receive(self.replies.pop(0)[-1], time)
                self.blocked = False
            elif self.events and self.events[0][0] <= time:
                self.act(self.warps[heappop(self.events)[1]], time)
            elif self.free <= time and not self.blocked and (self.current or self.ready):
                self.use_unit(time)
            else:
                return

    def at(self, time: int, warp: Warp) -> None:
        heappush(self.events, (time, warp.slot))

    # Warps

    def launch(self, item: int, block_slot: int, first: list[int], end: list[int], time: int) -> None:
        n = len(first)
        block = Block(n, block_slot)
        for k in range(n):
            age = item * n + k
            most = self.gpu.stochastic.max_weight if self.gpu.stochastic.warp_weights else 1
            weight = 1 + mix(self.key ^ mix(age)) % most
            warp = Warp(block_slot * n + k, age, first[k], end[k], block, weight)
            block.warps.append(warp)
            self.warps[warp.slot] = warp
            self.at(time, warp)

    def act(self, warp: Warp, time: int) -> None:
        released, warp.released = warp.released, False
        if released and self.gpu.sm.dependence == Dependence.scoreboard and self.may_wait(warp):
            self.stall(warp, time)
            return
        while True:
            if warp.pc == warp.end:
                if not self.end_side(warp.host or warp, time):
                    self.end_warp(warp, time)
                return
            self.part(warp, time)
            i = self.world.trace.instructions[warp.pc]
            gap, sm = int(i["gap"]), self.gpu.sm
            masked = sm.masked_issue and i["flags"] & Flag.masked
            access = 1 if sm.memory_issue and (masked or i["count"] + i["slots"]) else 0
            control = self.world.control(warp.pc)
            own = RESULT_CLASSES[control["result"] - 1] if control is not None and control["result"] else ""
            taken, begun = gap + access, int(access or own != "") if sm.schedulers else 0
            if taken and not warp.gap_issued:
                warp.gap_issued = True
                scheduler = self.schedulers[(warp.host or warp).slot % len(self.schedulers)]
                mix = self.world.trace.mixes[i["mix"]]
                first = max(time, warp.next_issue)
                pipe = "control" if own == "register" else own
                ready = scheduler.issue(taken, begun, int(i["chain"]), mix, i["mix"], pipe, first)
                if access and sm.address_cycles and not i["flags"] & CONSTANT_FLAG:
                    ready = max(ready, scheduler.address(first))
                warp.next_issue = ready + (int(control["stall"]) if control is not None else 0)
                if ready > time:
                    self.at(ready, warp)
                    return
            warp.gap_issued = False
            if i["flags"] & Flag.barrier:
                warp.pc += 1
                warp.at_barrier = True
                warp.block.arrival = max(self.barrier_free, time)
                self.barrier_free = warp.block.arrival + (sm.arrival_cycles or 0)
                self.open_barrier(warp.block, time)
                return
            if i["count"] or i["slots"]:
                self.ready.add(warp.slot)
                return
            if own:
                result = Load(done=time + self.schedulers[0].latency(own))
                warp.scoreboards[int(control["set"])].append(result)
            warp.pc += 1
            phase = self.world.phase(warp.pc - 1) if sm.dependence == Dependence.scoreboard else 0
            if phase and i["flags"] & Flag.arrives:
                self.come(warp.block, phase, time)
            elif phase:
                over = self.world.over(phase)
                if over is None or over > time:
                    warp.phase = phase
                    self.let_go(warp)
                    return
            if self.may_wait(warp):
                self.stall(warp, time)
                return

    def part(self, warp: Warp, time: int) -> None:
        """Where lanes part, the second side runs as if it were another warp, if the warp runs both."""
        second, join = self.world.parting(warp.pc)
        if not join or warp.host or warp.sides or warp.gap_issued or join > warp.end:
            return
        slot = self.n_slots + warp.slot
        self.warps[slot] = Warp(slot, warp.age, second, join, warp.block, warp.weight, host=warp)
        self.at(time, self.warps[slot])
        warp.sides, warp.join, warp.whole_end, warp.end = 2, join, warp.end, second

    def end_side(self, warp: Warp, time: int) -> bool:
        """One of two sides is over; after the other too, the warp goes on. False if there are no sides."""
        if not warp.sides:
            return False
        warp.sides -= 1
        if not warp.sides:
            warp.pc, warp.end = warp.join, warp.whole_end
            self.at(time, warp)
        return True

    def come(self, block: Block, phase: int, time: int) -> None:
        self.world.arrived[phase].append(time)
        for warp in block.warps:
            if warp.phase == phase:
                self.let_go(warp)

    def let_go(self, warp: Warp) -> None:
        over = self.world.over(warp.phase)
        if over is not None:
            warp.phase, warp.released = 0, True
            self.at(over, warp)

    def end_warp(self, warp: Warp, time: int) -> None:
        self.end = max(self.end, time)
        block = warp.block
        block.live -= 1
        if block.live:
            self.open_barrier(block, time)
        else:
            self.world.freed.append((self.number, block.slot))

    def open_barrier(self, block: Block, time: int) -> None:
        arrived = [warp for warp in block.warps if warp.at_barrier]
        if len(arrived) == block.live:
            for warp in arrived:
                warp.at_barrier, warp.released = False, True
                self.at(max(time, block.arrival) + self.gpu.sm.barrier_cycles, warp)

    def needed(self, warp: Warp) -> list[Load]:
        """The loads that must have answered before the warp's next instruction issues, or before it ends."""
        if warp.pc == warp.end:
            return [load for loads in warp.loads.values() for load in loads]
        i = self.world.trace.instructions[warp.pc]
        if self.gpu.sm.dependence == Dependence.sequence:
            waits = i["flags"] & (Flag.sequence | Flag.barrier)
            return [load for loads in warp.loads.values() for load in loads] if waits else []
        control = self.world.control(warp.pc)
        named = [k for k in range(SCOREBOARDS) if control is not None and control["wait"] >> k & 1]
        found = [load for k in named for load in warp.scoreboards[k]]
        for each, wait in zip(LoadClass, (i["wait_long"], i["wait_short"], i["wait_copies"]), strict=True):
            loads, may_lack = warp.loads[each], int(wait) if wait < 255 else None
            if i["answers"] == each:  # itself is one of those that may be unanswered
                most = (self.gpu.sm.loads_per_warp or 64) - 1
                may_lack = most if may_lack is None else min(may_lack, most)
            if may_lack is not None:
                found += loads[: max(len(loads) - may_lack, 0)]
        return found

    def may_wait(self, warp: Warp) -> bool:
        """Whether the scheduler lets the warp go: it ends, or its next instruction may wait for loads."""
        if warp.pc == warp.end:
            return True
        i = self.world.trace.instructions[warp.pc]
        if self.gpu.sm.dependence == Dependence.sequence:
            return bool(i["flags"] & (Flag.sequence | Flag.barrier))
        control = self.world.control(warp.pc)
        said = control is not None and control["wait"] > 0
        said |= any(i[name] != 255 for name in ("wait_long", "wait_short", "wait_copies"))
        return said or any(not load.passed for load in self.needed(warp))

    def stall(self, warp: Warp, time: int) -> None:
        warp.in_sequence = False
        warp.stalled = time
        self.maybe_wake(warp)

    def maybe_wake(self, warp: Warp) -> None:
        if warp.stalled is None:
            return
        needed = self.needed(warp)
        if all(load.done is not None for load in needed):
            self.at(max([warp.stalled, *(load.done for load in needed)]), warp)
            warp.stalled = None
            for load in needed:
                load.passed = True

    # The load-store unit

    def use_unit(self, time: int) -> None:
        """Take an instruction if there is none, and look one transaction up."""
        if not self.current:
            self.start(self.choose(), time)
        flight = self.current
        if flight and flight.next < flight.stop:
            if not self.look_up(flight, time):
                self.blocked = True
                return
            flight.next += 1
            i = self.world.trace.instructions[flight.warp.pc]
            looked_up = flight.next - int(i["first"])
            if flight.next == flight.stop:
                tags_done = time + self.gpu.sm.lookup_cycles
                self.free = max(tags_done, flight.start + int(i["wavefronts"]) * self.gpu.sm.lookup_cycles)
                flight.done += self.free - tags_done
                self.finish(flight, self.free)
            elif looked_up % self.gpu.l1.tags_per_cycle == 0:
                self.free = time + self.gpu.sm.lookup_cycles

    def choose(self) -> Warp:
        scheduler = self.gpu.sm.warp_scheduler
        last = self.warps[self.last]
        if self.last in self.ready:
            if last.in_sequence or scheduler.startswith("greedy"):
                return last
            if scheduler == WarpScheduler.weighted_round_robin and self.credit:
                self.credit -= 1
                return last
        following = sorted(self.ready, key=lambda slot: (slot - self.last - 1) % (2 * self.n_slots))
        slot = following[0]
        if scheduler == WarpScheduler.greedy_then_oldest:
            slot = min(self.ready, key=lambda slot: (self.warps[slot].age, slot))
        elif scheduler == WarpScheduler.greedy_then_youngest:
            slot = max(self.ready, key=lambda slot: (self.warps[slot].age, -slot))
        elif scheduler == WarpScheduler.random:
            slot = following[mix(self.key ^ mix(self.draws * 256 + self.number)) % len(following)]
            self.draws += 1
        self.last, self.credit = slot, self.warps[slot].weight - 1
        return self.warps[slot]

    def start(self, warp: Warp, time: int) -> None:
        self.ready.remove(warp.slot)
        warp.in_sequence = True
        i = self.world.trace.instructions[warp.pc]
        first, count, slots = int(i["first"]), int(i["count"]), int(i["slots"])
        kind = Kind(int(i["kind"]))
        self.current = Flight(
            warp, int(i["op"]), kind, time, first + count, first, time, bool(i["flags"] & BYPASS_FLAG)
        )
        if i["answers"] < len(LoadClass):
            self.current.load = Load(phase=self.world.phase(warp.pc) if i["flags"] & Flag.arrives else 0)
            warp.loads[LoadClass(i["answers"])].append(self.current.load)
            control = self.world.control(warp.pc)
            if control is not None and control["set"] != NO_SCOREBOARD:
                warp.scoreboards[int(control["set"])].append(self.current.load)
        if slots and i["flags"] & CONSTANT_FLAG:
            self.constants = max(self.constants, time) + slots * self.gpu.sm.constant_cycles
            self.complete(self.current, self.constants - 1 + self.gpu.sm.shared_latency_cycles - time, time)
            self.finish(self.current, time)
        elif slots:
            taken = slots * self.gpu.sm.pass_cycles
            self.free = time + taken
            if kind in (Kind.load, Kind.atomic):
                self.complete(self.current, taken - 1 + self.gpu.sm.shared_latency_cycles, time)
            self.finish(self.current, self.free)

    def finish(self, flight: Flight, time: int) -> None:
        """The unit is through with its instruction at `time`."""
        self.current = None
        warp = flight.warp
        self.world.transactions += flight.stop - int(self.world.trace.instructions[warp.pc]["first"])
        flight.issued = True
        if not flight.waits:
            self.land(flight, time)
        warp.pc += 1
        if self.may_wait(warp):
            self.stall(warp, time)
        else:
            self.at(time, warp)

    # Replies

    def due(self) -> int:
        arrival, *_, packet = self.replies[0]
        size = 32 * len(sectors(packet.mask)) if packet.kind in ("load", "bypass", "atomic") else 0
        return max(arrival, self.link_free) + -(-size // self.gpu.sm.reply_bytes_per_cycle)

    def receive(self, packet: Packet, time: int) -> None:
        self.link_free = time
        if packet.kind in ("load", "bypass", "atomic"):
            self.loads -= 1
        if packet.kind == "load":
            self.arrive(packet.line, sectors(packet.mask), time)
        elif packet.kind == "invalidate":
            way = self.group(packet.line).find(packet.line)
            if way and way.born <= packet.time:  # else the copy was asked for after L2 replaced the line
                self.invalidate(packet.line, sectors(packet.mask), time)
        elif packet.transaction:
            self.answer(packet.transaction, time)
        else:
            self.stores -= 1

    def arrive(self, line: int, mask: set[int], time: int) -> None:
        way = self.group(line).find(line)
        way.valid |= mask
        way.pending -= mask
        for transaction in [t for t in self.waiting if t.way is way]:
            transaction.need -= mask
            if not transaction.need:
                self.waiting.remove(transaction)
                self.answer(transaction, time)
        stale = way.poisoned & mask
        way.poisoned -= mask
        if stale:
            self.invalidate(line, stale, time)

    def answer(self, transaction: Transaction, time: int) -> None:
        flight = transaction.flight
        self.world.latencies[flight.op].append(time - transaction.time)
        flight.done = max(flight.done, time)
        flight.waits -= 1
        if flight.issued and not flight.waits:
            self.land(flight, time)
            self.maybe_wake(flight.warp)

    def land(self, flight: Flight, time: int) -> None:
        """An instruction is through, and answers if it is a load."""
        if flight.kind in (Kind.load, Kind.atomic):
            self.world.instructions[flight.op].append(flight.done - flight.start)
        if flight.load:
            flight.load.done = flight.done
            if flight.load.phase:
                self.come(flight.warp.block, flight.load.phase, max(flight.done, time))
