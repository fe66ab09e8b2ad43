"""One DRAM channel: request queues, a scheduler, and commands that keep all timing constraints.

The scheduler is first-ready, first come, first served (FR-FCFS: Rixner et al., ISCA 2000), or FCFS. Writes wait in a
queue of their own and are drained in batches (Chatterjee et al., HPCA 2012). The channel runs on the clock of its
commands; in each of its clocks it issues what it can, and then skips to the next clock in which something can happen.
The distances between commands are those of JEDEC's standards (JESD212, JESD235).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from math import ceil, floor
from typing import Any

import simpy

from memsim.gpu.choices import DramPolicy, RowPolicy, WriteTurns
from memsim.gpu.config import GPU
from memsim.gpu.memory import DramTiming
from memsim.reference.clock import Clock, CycleStage, Process
from memsim.reference.packets import Fetch, Receiver, Statistics

PRE, ACT, RD, WR, REF = "precharge", "activate", "read", "write", "refresh"
Command = tuple[int, str, int, int]  # clock, name, bank, row
NEVER = 2**62  # clocks between refreshes of memory that needs none


class Channel:
    """One channel.

    Attributes:
        commands: all commands issued.
    """

    def __init__(self, clock: Clock, number: int, gpu: GPU, statistics: Statistics) -> None:
        self.clock, self.number, self.dram, self.statistics = clock, number, gpu.dram, statistics
        self.timing = gpu.dram.timing
        self.fcfs = self.dram.policy is DramPolicy.fcfs
        self.with_reads = self.dram.write_turns is WriteTurns.with_reads  # writes join the reads' queue in batches
        self.finish_opened = self.dram.write_turns is WriteTurns.finish_opened
        self.distances = cache(partial(distances, self.timing))
        self.ratio = Fraction(round(self.dram.clock_mhz * 1000), round(gpu.sm.clock_mhz * 1000))  # clocks per SM cycle
        self.arriving = simpy.Store(clock)
        self.waiting: list[Fetch] = []  # have arrived, and do not fit the scheduler's queues
        self.queue: list[Fetch] = []  # the scheduler sees them
        self.held: list[Fetch] = []  # writes that wait to become a batch
        self.sectors_left: dict[Fetch, int] = {}
        self.receivers: dict[Fetch, Receiver] = {}
        self.open_rows: dict[int, int] = {}  # bank -> row
        self.unused_rows: set[int] = set()  # banks whose open row has not been accessed
        self.started: dict[int, Fetch] = {}  # bank -> request for which it opened its row (finish_opened)
        self.started_served = 0  # clock at which the last of those was served
        self.draining = False  # writes have their turn
        self.commands: list[Command] = []
        self.recent: list[Command] = []  # commands that can still delay others
        self.longest = sum(value or 0 for value in self.timing.model_dump(exclude={"refi"}).values())  # such a delay
        self.next_clock = 0
        self.refresh_interval = self.timing.refi or NEVER
        self.refresh_due = (number + 1) * self.refresh_interval // self.dram.channels
        clock.process(self.run())

    # Time

    def send(self, request: Fetch, receiver: Receiver) -> None:
        self.receivers[request] = receiver
        self.arriving.put(request)

    def run(self) -> Process:
        """Process: take in requests, and issue commands in the SM cycles in which there are any to issue."""
        arrival = self.arriving.get()
        while True:
            if self.queue or self.waiting:
                cycle = floor(self.next_clock / self.ratio)
                yield arrival | self.clock.at(max(cycle, self.clock.now), CycleStage.channels, self.number)
            else:
                yield arrival
            if arrival.triggered:
                request: Any = arrival.value
                self.take(request)
                arrival = self.arriving.get()
            else:
                self.issue_until(ceil((self.clock.now + 1) * self.ratio))

    def arrival_clock(self, request: Fetch) -> int:
        """The first clock in which a request can be scheduled."""
        return ceil(request.time * self.ratio)

    def take(self, request: Fetch) -> None:
        """A request arrives: the channel looks at the clock of its arrival, if it would have skipped it."""
        self.waiting.append(request)
        if self.queue:
            self.next_clock = min(self.next_clock, self.arrival_clock(request))
        else:
            self.next_clock = max(self.next_clock, self.arrival_clock(self.waiting[0]))

    def issue_until(self, clock: int) -> None:
        """Issue all commands before a clock."""
        while (self.queue or self.waiting) and self.next_clock < clock:
            while self.act():
                pass
            self.next_clock = self.skip()

    def act(self) -> bool:
        """Do one thing that can be done in this clock; False if there is none left."""
        due = self.refresh_due <= self.next_clock
        if due and not self.started:
            self.refresh()
            return True
        if not due:
            self.admit()
        return self.issue_one(due)

    def skip(self) -> int:
        """The next clock in which a command can be issued or a request arrives."""
        clocks = [self.arrival_clock(r) for r in self.waiting[:1] if self.arrival_clock(r) > self.next_clock]
        if self.queue:
            clocks += [self.refresh_due, *map(self.ready_clock, self.queue)]
        self.recent = [command for command in self.recent if command[0] > self.next_clock - self.longest]
        return max(self.next_clock + 1, min(clocks, default=0))

    # Queues

    def entries(self, requests: list[Fetch]) -> int:
        """Queue entries that requests take; each holds some sectors."""
        return sum(ceil(request.mask.bit_count() / self.dram.entry_sectors) for request in requests)

    def not_started(self, write: bool) -> list[Fetch]:
        """Reads or writes in the queue for which no bank has opened its row yet."""
        return [r for r in self.queue if r.write == write and r not in self.started.values()]

    def admit(self) -> None:
        """Let requests into the queues, in order of arrival, while there is room."""
        while self.waiting and self.arrival_clock(self.waiting[0]) <= self.next_clock:
            write = self.waiting[0].write
            into = self.held if write and self.with_reads else self.queue
            room = self.dram.write_queue if write else self.dram.queue
            if self.entries(into if self.with_reads else self.not_started(write)) >= room:
                return
            request = self.waiting.pop(0)
            into.append(request)
            self.sectors_left[request] = request.mask.bit_count()
            self.take_turns()

    def take_turns(self) -> None:
        """A request has arrived, started or been served: a drain or a batch of writes may begin, or a drain end."""
        if self.with_reads:
            if self.entries(self.held) >= self.dram.write_high or not self.queue:
                self.queue += self.held
                self.held = []
            return
        mark = self.dram.write_low if self.draining else self.dram.write_high - 1
        self.draining = self.entries(self.not_started(True)) > mark
        if self.finish_opened and not self.not_started(False):
            self.draining = True

    def eligible(self) -> list[Fetch]:
        """The requests whose turn it is: reads, or writes while they are drained."""
        if self.with_reads:
            return self.queue
        reads = self.not_started(False)
        return self.not_started(True) if self.draining or not reads else reads

    # The scheduler

    def issue_one(self, refresh_due: bool) -> bool:
        """Issue a command that can go in this clock, column commands first; False if there is none.

        Args:
            refresh_due: banks finish what they have started, and start nothing.
        """
        eligible = [] if refresh_due else self.eligible()
        columns = [r for r in self.queue if r in eligible or r in self.started.values()]
        for request in columns[:1] if self.fcfs else columns:
            _, bank, row = request.location
            if self.open_rows.get(bank) == row and self.ready_clock(request) <= self.next_clock:
                self.access(request, bank, row)
                return True
        for request in self.row_requests(eligible):
            if self.ready_clock(request) <= self.next_clock and not self.too_late(request):
                self.open_row(request)
                return True
        return False

    def ready_clock(self, request: Fetch) -> int:
        """The clock in which a request can have its next command."""
        _, bank, row = request.location
        if self.open_rows.get(bank) == row:
            return self.earliest(WR if request.write else RD, bank, 0)
        return self.earliest(PRE if bank in self.open_rows else ACT, bank, 0, own_bank_only=True)

    def too_late(self, request: Fetch) -> bool:
        """Whether the bank, if it began to open the row now, would not be activated before a refresh is due."""
        before = sorted(clock for clock, name, _, _ in self.recent if name == ACT)
        first = [before[-1] + self.timing.rrd] if before else []
        first += [before[-4] + self.timing.faw] if len(before) >= 4 else []
        closing = self.timing.rp if request.location[1] in self.open_rows else 0
        return max([self.next_clock + closing, *first]) >= self.refresh_due

    def row_requests(self, eligible: list[Fetch]) -> list[Fetch]:
        """The oldest request of every bank for whose open row there is none."""
        oldest = {r.location[1]: r for r in reversed(eligible)}
        candidates = list(oldest.values()) if self.fcfs else eligible
        busy = {r.location[1] for r in candidates if self.open_rows.get(r.location[1]) == r.location[2]}
        return [r for r in eligible if r is oldest[r.location[1]] and r.location[1] not in busy | self.started.keys()]

    # Commands

    def refresh(self) -> None:
        clock = max(self.refresh_due, self.started_served)
        close = max([clock, *(self.earliest(PRE, bank, clock) for bank in self.open_rows)])
        for bank in sorted(self.open_rows):
            self.log(PRE, bank, self.open_rows[bank], close)
        self.open_rows.clear()
        self.log(REF, 0, -1, self.earliest(REF, 0, clock))
        self.refresh_due += self.refresh_interval

    def open_row(self, request: Fetch) -> None:
        _, bank, row = request.location
        if bank in self.open_rows:
            self.log(PRE, bank, self.open_rows[bank], self.next_clock)
        self.log(ACT, bank, row, self.earliest(ACT, bank, self.next_clock))
        self.open_rows[bank] = row
        self.unused_rows.add(bank)
        if self.finish_opened:
            self.started[bank] = request
            self.take_turns()

    def access(self, request: Fetch, bank: int, row: int) -> None:
        """Read or write sectors of a request in an open row: all of them, or with bank groups one."""
        every = request.mask.bit_count()
        if self.sectors_left[request] == every:
            kind, event = "write" if request.write else "read", "miss" if bank in self.unused_rows else "hit"
            self.statistics.count(request.op, "dram", kind, event, {event: every})
        self.unused_rows.discard(bank)
        now, name = 1 if self.dram.bank_groups else every, WR if request.write else RD
        for _ in range(now):
            self.log(name, bank, row, self.earliest(name, bank, self.next_clock))
        self.sectors_left[request] -= now
        if not self.sectors_left[request]:
            self.finish(request, bank, row)

    def finish(self, request: Fetch, bank: int, row: int) -> None:
        """All sectors of a request have been sent for: answer it, and close the row if the policy says so."""
        self.queue.remove(request)
        del self.sectors_left[request]
        if self.started.get(bank) is request:
            del self.started[bank]
            self.started_served = self.next_clock
        if self.dram.row_policy is RowPolicy.closed_page and not self.has_request_to(bank, row):
            self.log(PRE, bank, row, self.earliest(PRE, bank, self.next_clock))
            del self.open_rows[bank]
        if self.held or self.not_started(False) or self.not_started(True):
            self.take_turns()  # before a request that waits outside takes the room
        latency = {RD: self.timing.cl, WR: self.timing.cwl}
        data_end = max(c + latency[name] + self.timing.burst for c, name, _, _ in self.recent if name in latency)
        self.receivers.pop(request)(request, ceil(data_end / self.ratio) + self.dram.latency_cycles)

    def has_request_to(self, bank: int, row: int) -> bool:
        """Whether the scheduler sees a request for a row; with FCFS, as the first read or write of its bank."""
        here = [request for request in self.queue if request.location[1] == bank]
        if self.fcfs:
            here = [next(r for r in here if r.write == write) for write in {r.write for r in here}]
        return any(request.location[2] == row for request in here)

    def log(self, name: str, bank: int, row: int, clock: int) -> None:
        self.commands.append((clock, name, bank, row))
        self.recent.append(self.commands[-1])

    def earliest(self, name: str, bank: int, first: int, own_bank_only: bool = False) -> int:
        """The first clock from `first` on at which a command keeps its distance from all commands before it.

        Args:
            own_bank_only: consider only what this bank and refreshes allow; activates of other banks do not count.
        """
        groups = self.dram.bank_groups or 1
        clocks = [
            clock + distance
            for clock, before, other, _ in self.recent
            if not own_bank_only or before == REF or (bank == other and (before, name) != (ACT, ACT))
            for distance in self.distances(before, name, bank == other, groups > 1 and bank % groups == other % groups)
        ]
        activates = sorted(clock for clock, before, _, _ in self.recent if before == ACT)
        if name == ACT and len(activates) >= 4 and not own_bank_only:
            clocks.append(activates[-4] + self.timing.faw)
        return max([first, *clocks])


def distances(timing: DramTiming, before: str, after: str, same_bank: bool, same_group: bool = False) -> list[int]:
    """The clocks that must lie between two commands of a channel; constraints that are None do not bind.

    Args:
        same_group: the commands go to one of several bank groups.
    """
    t = timing
    write_to_read = None if t.wtr_l is None else t.cwl + t.burst + t.wtr_l
    rules: dict[tuple[str, str], tuple[list[int | None], list[int | None], list[int | None]]] = {
        # before, after: to any bank, to the same bank, to the same bank group
        (ACT, ACT): ([t.rrd], [], [t.rrd_l]),
        (RD, RD): ([t.ccd, t.burst], [], [t.ccd_l]),
        (WR, WR): ([t.ccd, t.burst], [], [t.ccd_l]),
        (RD, WR): ([t.ccd, t.rtw, t.cl + t.burst - t.cwl], [], [t.ccd_l]),
        (WR, RD): ([t.ccd, t.cwl + t.burst + t.wtr, t.cwl + t.burst - t.cl], [], [t.ccd_l, write_to_read]),
        (PRE, REF): ([t.rp], [], []),
        (REF, ACT): ([t.rfc], [], []),
        (REF, REF): ([t.rfc], [], []),
        (PRE, ACT): ([], [t.rp], []),
        (ACT, PRE): ([], [t.ras], []),
        (ACT, RD): ([], [t.rcd], []),
        (ACT, WR): ([], [t.rcd], []),
        (RD, PRE): ([], [t.rtp], []),
        (WR, PRE): ([], [t.cwl + t.burst + t.wr], []),
    }
    anywhere, in_bank, in_group = rules.get((before, after), ([], [], []))
    found = anywhere + (in_bank if same_bank else []) + (in_group if same_group else [])
    return [clocks for clocks in found if clocks is not None]
