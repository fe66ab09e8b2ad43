"""One DRAM channel: lists of requests, and the history of its commands searched anew for each command."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from oracles.cache import sectors

from memsim.gpu.choices import DramPolicy, RowPolicy, WriteTurns
from memsim.gpu.config import GPU
from memsim.hierarchy.counters import Event, Level

PRE, ACT, RD, WR, REF = "precharge", "activate", "read", "write", "refresh"


class Channel:
    def __init__(self, world, number: int, gpu: GPU) -> None:
        self.world, self.number, self.gpu, self.dram = world, number, gpu, gpu.dram
        self.timing = gpu.dram.timing
        self.ratio = Fraction(round(self.dram.clock_mhz * 1000), round(gpu.sm.clock_mhz * 1000))
        self.waiting: list = []  # not yet seen by the scheduler
        self.seen: list = []
        self.left: dict[int, int] = {}  # sectors to come of a seen request
        self.rows: dict[int, int] = {}  # of the banks that have one open
        self.untouched: set[int] = set()  # banks whose open row has not been accessed
        self.commands: list[tuple[int, str, int, int]] = []  # (clock, name, bank, row)
        self.recent: list[tuple[int, str, int, int]] = []  # those that can still bind
        self.clock = 0  # the next to look at
        self.draining = False
        self.started: dict[
            int, object
        ] = {}  # bank -> the request that it has opened its row for, and serves whoever's turn
        self.served = 0  # clock at which the last of those was served
        self.held: list = []  # writes in no batch yet, where batches join the reads
        refi = self.timing.refi
        self.due = (number + 1) * refi // self.dram.channels if refi else None

    def arrive(self, request) -> None:
        self.waiting.append(request)
        if self.seen:
            self.clock = min(self.clock, self._arrival(request))
        else:
            self.clock = max(self.clock, self._arrival(self.waiting[0]))

    def _arrival(self, request) -> int:
        return ceil(request.time * self.ratio)

    def next_time(self) -> int | None:
        return floor(self.clock / self.ratio) if self.seen or self.waiting else None

    def step(self, time: int) -> None:
        """Every cycle up to `time` in which something can happen."""
        while (self.seen or self.waiting) and self.clock < ceil((time + 1) * self.ratio):
            while self._act():
                pass
            self.clock = self._next_clock()

    def _act(self) -> bool:
        """One thing that can happen in this cycle; False if there is none left."""
        due = self.due is not None and self.due <= self.clock
        if due and not self.started:
            self._refresh(max(self.due, self.served))
            return True
        if not due:
            self._admit()
        return bool(self.seen) and self._issue_one(due)

    def _next_clock(self) -> int:
        """When the next command can be issued, or something comes."""
        clocks = [self._arrival(r) for r in self.waiting[:1] if self._arrival(r) > self.clock]
        if self.seen:
            clocks += [] if self.due is None else [self.due]
            clocks += [self._ready(r) for r in self.seen]
        longest = sum(value or 0 for value in self.timing.model_dump(exclude={"refi"}).values())
        self.recent = [command for command in self.recent if command[0] > self.clock - longest]
        return max(self.clock + 1, min(clocks, default=0))

    def _ready(self, request) -> int:
        """When a request can have its next command."""
        _, bank, row = request.place
        if self.rows.get(bank) == row:
            return self._earliest(WR if request.write else RD, bank, 0)
        return self._earliest(PRE if bank in self.rows else ACT, bank, 0, alone=True)

    def _waiting(self, write: bool) -> list:
        """Requests that the scheduler sees, of a sort, without those that their banks have started."""
        return [r for r in self.seen if r.write == write and r not in self.started.values()]

    def _take_turns(self) -> None:
        """Something has come, has been started or has been served: does a drain or a batch begin, or a drain end?"""
        turns = self.dram.write_turns
        if turns == WriteTurns.with_reads:
            if self._entries(self.held) >= self.dram.write_high or not self.seen:
                self.seen += self.held
                self.held = []
            return
        mark = self.dram.write_low if self.draining else self.dram.write_high - 1
        self.draining = self._entries(self._waiting(True)) > mark
        if turns == WriteTurns.finish_opened and not self._waiting(False):
            self.draining = True

    def _queue(self) -> list:
        """The requests whose turn it is: reads, or writes while they are drained; all where writes join reads."""
        if self.dram.write_turns == WriteTurns.with_reads:
            return self.seen
        reads = self._waiting(False)
        return self._waiting(True) if self.draining or not reads else reads

    def _admit(self) -> None:
        while self.waiting and self._arrival(self.waiting[0]) <= self.clock:
            write, batches = self.waiting[0].write, self.dram.write_turns == WriteTurns.with_reads
            room = self.dram.write_queue if write else self.dram.queue
            inside = (self.held if write else self.seen) if batches else self._waiting(write)
            if self._entries(inside) >= room:
                return
            request = self.waiting.pop(0)
            (self.held if write and batches else self.seen).append(request)
            self.left[id(request)] = len(sectors(request.mask))
            self._take_turns()

    def _entries(self, requests: list) -> int:
        """What they take of a queue, until all their sectors have been sent for."""
        return sum(ceil(len(sectors(request.mask)) / self.dram.entry_sectors) for request in requests)

    def _refresh(self, clock: int) -> None:
        close = max([clock, *(self._earliest(PRE, bank, clock) for bank in self.rows)])
        for bank in sorted(self.rows):
            self._issue(PRE, bank, self.rows[bank], close)
        self.rows.clear()
        self._issue(REF, 0, -1, self._earliest(REF, 0, clock))
        self.due += self.timing.refi

    def _issue_one(self, due: bool) -> bool:
        """Issue the command that may go in this cycle, columns first; False if there is none.

        Args:
            due: a refresh is, and waits for what the banks have started.
        """
        queue = [] if due else self._queue()
        columns = [r for r in self.seen if r in queue or r in self.started.values()]
        for request in columns[:1] if self.dram.policy == DramPolicy.fcfs else columns:
            _, bank, row = request.place
            if self.rows.get(bank) == row and self._ready(request) <= self.clock:
                self._access(request, WR if request.write else RD, bank, row)
                return True
        for request in [] if due else self._closed(queue):
            if self._ready(request) <= self.clock and not self._too_late(request):
                self._open(*request.place[1:])
                if self.dram.write_turns == WriteTurns.finish_opened:
                    self.started[request.place[1]] = request
                    self._take_turns()
                return True
        return False

    def _too_late(self, request) -> bool:
        """Whether a bank that opens its row from this cycle on would not be activated before a refresh is due."""
        before = sorted(clock for clock, name, _, _ in self.recent if name == ACT)
        first = [before[-1] + self.timing.rrd] if before else []
        first += [before[-4] + self.timing.faw] if len(before) >= 4 else []
        closes = self.timing.rp if request.place[1] in self.rows else 0
        return self.due is not None and max([self.clock + closes, *first]) >= self.due

    def _closed(self, queue: list) -> list:
        """The oldest request of every bank that has none for its open row."""
        oldest = {r.place[1]: r for r in reversed(queue)}
        heads = oldest.values() if self.dram.policy == DramPolicy.fcfs else queue
        ready = {r.place[1] for r in heads if self.rows.get(r.place[1]) == r.place[2]}
        ready |= set(self.started)
        return [r for r in queue if r is oldest[r.place[1]] and r.place[1] not in ready]

    def _open(self, bank: int, row: int) -> None:
        if bank in self.rows:
            self._issue(PRE, bank, self.rows[bank], self.clock)
        self._issue(ACT, bank, row, self._earliest(ACT, bank, self.clock))
        self.rows[bank] = row
        self.untouched.add(bank)

    def _access(self, request, name: str, bank: int, row: int) -> None:
        every = len(sectors(request.mask))
        if self.left[id(request)] == every:
            miss = bank in self.untouched
            event = (
                (Event.write_miss if miss else Event.write_hit)
                if request.write
                else (Event.read_miss if miss else Event.read_hit)
            )
            self.world.count(request.op, Level.dram, event, {event: every})
        self.untouched.discard(bank)
        now = 1 if self.dram.bank_groups else every
        for _ in range(now):
            self._issue(name, bank, row, self._earliest(name, bank, self.clock))
        self.left[id(request)] -= now
        if not self.left[id(request)]:
            self.seen.remove(request)
            if self.started.get(bank) is request:
                del self.started[bank]
                self.served = self.clock
            if self.dram.row_policy == RowPolicy.closed_page and not self._wanted(bank, row):
                self._issue(PRE, bank, row, self._earliest(PRE, bank, self.clock))
                del self.rows[bank]
            if self.held or self._waiting(False) or self._waiting(True):
                self._take_turns()  # a drain may end with this write, before what waits outside comes into its room
            time = ceil(self._data_end() / self.ratio) + self.dram.latency_cycles
            self.world.from_dram(request, time, self.number)

    def _wanted(self, bank: int, row: int) -> bool:
        """Whether the scheduler sees a request to a row, with FCFS as the first to its bank of its sort."""
        here = [request for request in self.seen if request.place[1] == bank]
        if self.dram.policy == DramPolicy.fcfs:
            here = [next(r for r in here if r.write == write) for write in {r.write for r in here}]
        return any(request.place[2] == row for request in here)

    def _issue(self, name: str, bank: int, row: int, clock: int) -> None:
        self.commands.append((clock, name, bank, row))
        self.recent.append(self.commands[-1])

    def _earliest(self, name: str, bank: int, floor_: int, alone: bool = False) -> int:
        """The first cycle at which the command breaks no constraint with any command before it.

        Args:
            alone: with this bank's and refreshes, and activates do not keep others waiting: when it is worth trying.
        """
        groups = self.dram.bank_groups or 1
        bounds = [
            clock + wait
            for clock, before, other, _ in self.recent
            if not alone or before == REF or (bank == other and (before, name) != (ACT, ACT))
            for wait in waits(self.timing, before, name, bank == other, bank % groups == other % groups and groups > 1)
        ]
        activates = [clock for clock, before, _, _ in self.recent if before == ACT]
        if name == ACT and len(activates) >= 4 and not alone:
            bounds.append(sorted(activates)[-4] + self.timing.faw)
        return max([floor_, *bounds])

    def _data_end(self) -> int:
        t = self.timing
        return max(
            clock + t.burst + (t.cl if name == RD else t.cwl) for clock, name, _, _ in self.recent if name in (RD, WR)
        )


def waits(timing, before: str, after: str, same_bank: bool, same_group: bool = False) -> list[int]:
    """Cycles that must lie between two commands of one channel: JEDEC's table, a row a pair.

    Args:
        timing: a DramTiming; what is None in it does not bind.
        same_group: they go to one of several bank groups.
    """
    t = timing
    data = {RD: t.cl, WR: t.cwl}
    pairs = {
        (ACT, ACT): [t.rrd],
        (RD, RD): [t.ccd, t.burst],
        (WR, WR): [t.ccd, t.burst],
        (RD, WR): [t.ccd, t.rtw, t.cl + t.burst - t.cwl],
        (WR, RD): [t.ccd, t.cwl + t.burst + t.wtr, t.cwl + t.burst - t.cl],
        (PRE, REF): [t.rp],
        (REF, ACT): [t.rfc],
        (REF, REF): [t.rfc],
    }
    in_bank = {
        (PRE, ACT): [t.rp],
        (ACT, PRE): [t.ras],
        (ACT, RD): [t.rcd],
        (ACT, WR): [t.rcd],
        (RD, PRE): [t.rtp],
        (WR, PRE): [data[WR] + t.burst + t.wr],
    }
    in_group = {
        (ACT, ACT): [t.rrd_l],
        (RD, RD): [t.ccd_l],
        (WR, WR): [t.ccd_l],
        (RD, WR): [t.ccd_l],
        (WR, RD): [t.ccd_l, None if t.wtr_l is None else t.cwl + t.burst + t.wtr_l],
    }
    found = pairs.get((before, after), [])
    found = found + (in_bank.get((before, after), []) if same_bank else [])
    found = found + (in_group.get((before, after), []) if same_group else [])
    return [wait for wait in found if wait is not None]
