"""The whole machine, one event after the other: objects and lists, no windows, no compiled code, no arrays.

It is written from the model's description, not from memsim.hierarchy, and shares with it only the configuration, the
numbering of counters, and (as given) the work items. Slow; for small machines and traces.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from itertools import count

import numpy as np
from oracles import mapping
from oracles.cache import mix
from oracles.dram import Channel
from oracles.l2 import Slice
from oracles.l2_off import Port
from oracles.messages import Fetch, Packet
from oracles.sm import SM
from oracles.translation import Translation

from memsim.gpu.choices import Dependence, Divergence
from memsim.gpu.config import GPU
from memsim.hierarchy.counters import LATENCY_BINS, Event, Level, Unit, latency_bin_edges
from memsim.trace.transactions import Transactions


class World:
    """One trial.

    Args:
        first, end: instructions of each work item's warps.
        key: of the trial's draws.
        before: the launch whose L2 this one finds, over.
    """

    def __init__(
        self, trace: Transactions, gpu: GPU, resident: int, key: int, first, end, before: World | None = None
    ) -> None:
        self.trace, self.gpu, self.key = trace, gpu, key
        self.items = list(zip(first.tolist(), end.tolist(), strict=True))
        self.resident = resident
        self.address = [int(a) * gpu.l1.line_bytes for a in trace.line_address]
        self.l1_set = [mapping.l1_set(a, gpu) for a in self.address]
        slots = resident * trace.warps_per_block
        self.sms = [SM(self, n, gpu, key, slots) for n in range(gpu.sm.count)]
        part = Slice if gpu.l2.enabled else Port
        self.slices = [part(self, n, gpu, key) for n in range(gpu.l2.slices)]
        if before and gpu.l2.enabled:
            for mine, old in zip(self.slices, before.slices, strict=True):
                mine.take_over(old)
        self.channels = [Channel(self, n, gpu) for n in range(gpu.dram.channels)]
        self.now = 0
        self.order = count()
        self.translation = Translation(self, gpu, key) if gpu.translation.enabled else None
        self.sent: list[tuple[int, int, Packet]] = []
        self.freed: list[tuple[int, int]] = []
        self.counters = np.zeros((trace.n_ops + 1, len(Level), len(Event), len(Unit)), np.int64)
        self.latencies: dict[int, list[int]] = defaultdict(list)  # of transactions, by op
        self.instructions: dict[int, list[int]] = defaultdict(list)  # of whole instructions, by op
        self.transactions = 0
        self.arrived: dict[int, list[int]] = defaultdict(list)  # at a phase of an mbarrier: when
        self.memory: list[tuple[int, int]] = []  # (line, mask) of every request to DRAM

    def run(self) -> World:
        started = [(sm, slot) for slot in range(self.resident) for sm in range(len(self.sms))][: len(self.items)]
        self.spans = [[0, 0] for _ in self.items]  # start and end of each work item
        self.held = {place: item for item, place in enumerate(started)}
        for item, (sm, slot) in enumerate(started):
            self.sms[sm].launch(item, slot, *self.items[item], 0)
        self.launched = len(started)
        parts = [*self.sms, *([self.translation] if self.translation else []), *self.slices, *self.channels]
        while times := [t for part in parts if (t := part.next_time()) is not None]:
            self.now = min(times)
            self._cycle()
        self.cycles = max(sm.end for sm in self.sms)
        return self

    def _cycle(self) -> None:
        for sm in self.sms:
            sm.step(self.now)
        for sm, slot in self.freed:
            self.spans[self.held[sm, slot]][1] = self.now
            if self.launched < len(self.items):
                time = self.now + self.gpu.sm.launch_cycles
                self.sms[sm].launch(self.launched, slot, *self.items[self.launched], time)
                self.spans[self.launched][0], self.held[sm, slot] = time, self.launched
                self.launched += 1
        self.freed.clear()
        sent, self.sent = sorted(self.sent, key=lambda entry: entry[:2]), []
        if self.translation:
            sent = sorted(self.translation.step(self.now, sent), key=lambda entry: entry[:2])
        for _, _, packet in sent:
            packet.time = self.now
            self._entry(packet).queue.append(packet)
        for part in self.slices:
            part.receive(self.now)
        for part in [*self.slices, *self.channels]:
            part.step(self.now)

    def phase(self, instruction: int) -> int:
        return int(self.trace.phase[instruction]) if len(self.trace.phase) else 0

    def control(self, instruction: int):
        """What the control code of an instruction says; None of a trace without, or where warps wait by sequence."""
        known = self.gpu.sm.dependence == Dependence.scoreboard and len(self.trace.controls)
        return self.trace.controls[instruction] if known else None

    def parting(self, instruction: int) -> tuple[int, int]:
        """Where a second side begins and where both have ended, if lanes part at an instruction; else 0, 0."""
        sm = self.gpu.sm
        both = sm.dependence == Dependence.scoreboard and sm.divergence == Divergence.interleaved
        if not both or not len(self.trace.partings):
            return 0, 0
        second, join = (int(self.trace.partings[instruction][name]) for name in ("second", "join"))
        return (instruction + second, instruction + join) if join else (0, 0)

    def over(self, phase: int) -> int | None:
        times = self.arrived[phase]
        return max(times, default=0) if len(times) == self.trace.arrivals[phase] else None

    def home(self, line: int) -> Slice:
        return self.slices[mapping.slice_of(self.address[line], self.gpu)]

    def _entry(self, packet: Packet) -> Slice:
        """The slice of the line, or with two partitions its counterpart in that of the SM: SMs alternate."""
        home = self.home(packet.line)
        if self.gpu.l2.partitions == 2 and packet.sm % 2 != home.partition:
            return home.opposite()
        return home

    def forget(self, sm: int, line: int) -> None:
        """An L1 replaces a line: L2 need not tell it when the line goes."""
        self.home(line).sharers.get(line, set()).discard(sm)

    def to_l2(self, packet: Packet) -> None:
        gpu = self.gpu
        drawn = mix(self.key ^ mix(packet.time * 256 + packet.sm)) if gpu.stochastic.arbitration else packet.sm
        self.locate(packet)
        self.sent.append((drawn, next(self.order), packet))

    def locate(self, packet: Packet) -> None:
        gpu = self.gpu
        lines = range(gpu.l1.line_bytes // gpu.l2.line_bytes)
        start = self.address[packet.line]
        packet.l2_sets = [mapping.l2_set(start + k * gpu.l2.line_bytes, gpu) for k in lines]
        packet.place = mapping.channel_bank_row(start, gpu)

    def to_sm(self, packet: Packet, slice_: int, time: int) -> None:
        link = -(-self.gpu.l1.sector_bytes // self.gpu.sm.reply_bytes_per_cycle)
        way_back = max(1, self.gpu.l2.hit_latency_cycles - link)
        walks = packet.sm == len(self.sms)  # the page walkers stand behind the last SM
        replies = self.translation.replies if walks else self.sms[packet.sm].replies
        insort(replies, (time + way_back, slice_, next(self.order), packet))

    def to_dram(self, fetch: Fetch, slice_: int) -> None:
        fetch.source = slice_
        self.channels[fetch.place[0]].arrive(fetch)
        self.memory.append((fetch.line, fetch.mask))

    def from_dram(self, fetch: Fetch, time: int, channel: int) -> None:
        insort(self.slices[fetch.source].answers, (time, channel, next(self.order), fetch))

    def count(self, op: int, level: Level, event: Event, units: dict[Event, int]) -> None:
        self.counters[op, level, event, Unit.transactions] += 1
        for name, sectors in units.items():
            self.counters[op, level, name, Unit.sectors] += sectors

    def times(self) -> list[tuple[int, int, int, int]]:
        """(sum, count) of transactions' latencies, then of instructions', of every static op."""
        rows = []
        for op in range(self.trace.n_ops):
            a, b = self.latencies[op], self.instructions[op]
            rows.append((sum(a), len(a), sum(b), len(b)))
        return rows

    def histogram(self) -> np.ndarray:
        edges = latency_bin_edges()
        drawn = [np.histogram(self.latencies[op], edges)[0] for op in range(self.trace.n_ops)]
        return np.array(drawn, np.int64).reshape(-1, LATENCY_BINS)
