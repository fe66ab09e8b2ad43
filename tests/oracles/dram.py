"""One DRAM channel: lists of requests, and the history of its commands searched anew for each decision."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from oracles.cache import sectors

from memsim.config import GPU, DramPolicy
from memsim.hierarchy.counters import Event, Level

PRE, ACT, RD, WR = "precharge", "activate", "read", "write"


class Channel:
    def __init__(self, world, number: int, gpu: GPU) -> None:
        self.world, self.number, self.gpu, self.dram = world, number, gpu, gpu.dram
        self.ratio = Fraction(round(self.dram.clock_mhz * 1000), round(gpu.sm.clock_mhz * 1000))
        self.waiting: list = []  # not yet seen by the scheduler
        self.seen: list = []
        self.rows: dict[int, int] = {}
        self.commands: list[tuple[int, str, int, int]] = []  # (clock, name, bank, row)
        self.clock = 0
        self.draining = False

    def arrive(self, request) -> None:
        self.waiting.append(request)

    def _arrival(self, request) -> int:
        return ceil(request.time * self.ratio)

    def _decision(self) -> int | None:
        if self.seen:
            return self.clock
        return max(self.clock, self._arrival(self.waiting[0])) if self.waiting else None

    def next_time(self) -> int | None:
        decision = self._decision()
        return None if decision is None else floor(decision / self.ratio)

    def step(self, time: int) -> None:
        while (decision := self._decision()) is not None and decision < ceil((time + 1) * self.ratio):
            self.clock = decision
            self._admit()
            self._serve()
            t = self.dram.timing
            self.clock = max(decision + 1, self._bus_free() - (t.rp + t.rcd + t.cl))

    def _admit(self) -> None:
        while self.waiting and self._arrival(self.waiting[0]) <= self.clock:
            write = self.waiting[0].write
            room = self.dram.write_queue if write else self.dram.queue
            if sum(request.write == write for request in self.seen) == room:
                return
            self.seen.append(self.waiting.pop(0))

    def _serve(self) -> None:
        reads = [r for r in self.seen if not r.write]
        writes = [r for r in self.seen if r.write]
        self.draining = len(writes) > (self.dram.write_low if self.draining else self.dram.write_high - 1)
        request = self._choose(writes if self.draining or not reads else reads)
        self.seen.remove(request)
        _, bank, row = request.place
        hit = self.rows.get(bank) == row
        if not hit:
            self._open(bank, row)
        end = self._transfer(bank, row, request)
        event = (Event.write_hit if hit else Event.write_miss) if request.write else (
            Event.read_hit if hit else Event.read_miss)
        self.world.count(request.op, Level.dram, event, {event: len(sectors(request.mask))})
        self.world.from_dram(request, ceil(end / self.ratio) + self.dram.latency_cycles, self.number)

    def _choose(self, queue: list):
        if self.dram.policy == DramPolicy.fcfs:
            return queue[0]
        hits = [r for r in queue if self.rows.get(r.place[1]) == r.place[2]]
        if hits:
            return hits[0]
        return min(queue, key=lambda r: self._can_activate(r.place[1]))  # of the first such bank, the oldest

    def _can_activate(self, bank: int) -> int:
        """When its row can be open for the next, as far as the bank alone knows."""
        if bank not in self.rows:
            return self.clock
        return max(self.clock, self._earliest(PRE, bank, floor_=-(10**9)) + self.dram.timing.rp)

    def _open(self, bank: int, row: int) -> None:
        if bank in self.rows:
            self._issue(PRE, bank, self.rows[bank], self._earliest(PRE, bank, self.clock))
        self._issue(ACT, bank, row, self._earliest(ACT, bank, self.clock))
        self.rows[bank] = row

    def _transfer(self, bank: int, row: int, request) -> int:
        name = WR if request.write else RD
        for _ in sectors(request.mask):
            self._issue(name, bank, row, self._earliest(name, bank, self.clock))
        return self._bus_free()

    def _issue(self, name: str, bank: int, row: int, clock: int) -> None:
        self.commands.append((clock, name, bank, row))

    def _earliest(self, name: str, bank: int, floor_: int) -> int:
        """The first cycle at which the command breaks no constraint with any command before it."""
        bounds = [
            clock + wait
            for clock, before, other, _ in self.commands
            for wait in waits(self.dram.timing, before, name, bank == other)
        ]
        activates = [clock for clock, before, _, _ in self.commands if before == ACT]
        if name == ACT and len(activates) >= 4:
            bounds.append(sorted(activates)[-4] + self.dram.timing.faw)
        return max([floor_, *bounds])

    def _bus_free(self) -> int:
        t = self.dram.timing
        ends = [clock + t.burst + (t.cl if name == RD else t.cwl) for clock, name, _, _ in self.commands
                if name in (RD, WR)]
        return max(ends)


def waits(t, before: str, after: str, same_bank: bool) -> list[int]:
    """Cycles that must lie between two commands of one channel: JEDEC's table, a row a pair."""
    data = {RD: t.cl, WR: t.cwl}
    pairs = {
        (ACT, ACT): [t.rrd],
        (RD, RD): [t.ccd, t.burst],
        (WR, WR): [t.ccd, t.burst],
        (RD, WR): [t.ccd, t.rtw, t.cl + t.burst - t.cwl],
        (WR, RD): [t.ccd, t.cwl + t.burst + t.wtr, t.cwl + t.burst - t.cl],
    }
    in_bank = {
        (PRE, ACT): [t.rp],
        (ACT, PRE): [t.ras],
        (ACT, RD): [t.rcd],
        (ACT, WR): [t.rcd],
        (RD, PRE): [t.rtp],
        (WR, PRE): [data[WR] + t.burst + t.wr],
    }
    return pairs.get((before, after), []) + (in_bank.get((before, after), []) if same_bank else [])
