"""A cache level between L2 and DRAM: every slice serves its queue in order, and reads from below what it lacks.

The level caches memory, whoever asks for it. It is written through and allocates on reads alone, so it holds nothing
that memory lacks and nothing has to be written back (AMD CDNA 3 white paper, "AMD Infinity Cache"). Sectors that are
under way are an event that later requests share, as the MSHRs of L1. A read that finds all ways of its set waiting for
data passes, and leaves no line.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import simpy

from memsim.gpu.memory_side import MemorySideLevel
from memsim.reference.address_map import set_within_slice, slice_of
from memsim.reference.cache_set import CacheSets, Way
from memsim.reference.clock import CycleStage
from memsim.reference.packets import Fetch, Receiver, mask_of, sectors

if TYPE_CHECKING:
    from memsim.reference.model import ReferenceModel

FILL, SERVE = 0, 1  # a slice takes what arrives before it serves its queue


class MemorySideCache:
    """One level.

    Args:
        depth: of the level, 0 next to L2.
        below: takes requests to the next level, or to DRAM.
    """

    def __init__(
        self, model: ReferenceModel, own: MemorySideLevel, depth: int, below: Callable[[Fetch, Receiver], None]
    ) -> None:
        self.model, self.own, self.depth, self.below = model, own, depth, below
        # From a slice's lookup to its answer in L2, on a hit: a request comes in the cycle in which L2 sends it.
        self.latency = own.hit_latency_cycles - model.gpu.l2.hit_latency_cycles
        self.slices = [MemorySideSlice(self, number) for number in range(own.slices)]

    def send(self, request: Fetch, receiver: Receiver) -> None:
        """Queue a request at its slice; `receiver` takes it back with the SM cycle of the answer."""
        address = self.model.addresses.addresses[request.line]
        self.slices[slice_of(address, self.own)].queue.put((request, receiver))

    def take_over(self, old: MemorySideCache) -> None:
        """Hold what the level held at the end of an earlier launch."""
        for mine, before in zip(self.slices, old.slices, strict=True):
            for number, held in before.sets.used.items():
                mine.sets[number].take_over(held)


class MemorySideSlice:
    """One slice, with its share of the level's sets."""

    def __init__(self, cache: MemorySideCache, number: int) -> None:
        self.cache, self.number, self.own = cache, number, cache.own
        self.model, self.clock = cache.model, cache.model.clock
        n = self.own.size_bytes // self.own.slices // self.own.line_bytes // self.own.ways
        self.sets = CacheSets(n, self.own.ways, self.own.replacement, number * n, self.model.key)
        self.lines_per_packet = self.model.gpu.l1.line_bytes // self.own.line_bytes
        self.queue = simpy.Store(self.clock)
        self.free = Fraction(0)  # SM cycle, with fractions, in which the slice can serve the next request
        self.clock.process(self.run())

    def stage(self, kind: int) -> tuple[int, ...]:
        """The slice's stage of a cycle."""
        return CycleStage.memory_side, self.cache.depth, self.number, kind

    def count(self, event: str, number: int) -> None:
        """Count sectors or lines."""
        self.model.statistics.components["memory_side", f"{self.own.name}_{event}"] += number

    def run(self) -> Generator[simpy.Event, Any, None]:
        """Process: serve one request after the other."""
        while True:
            request, receiver = yield self.queue.get()
            yield self.clock.at(max(self.clock.now, ceil(self.free)), *self.stage(SERVE))
            size = 32 * len(sectors(request.mask))
            begin = self.free if ceil(self.free) == self.clock.now else Fraction(self.clock.now)
            self.free = begin + Fraction(size, self.own.slice_bytes_per_cycle)
            if request.write:
                self.write(request, receiver)
            else:
                self.read(request, receiver)

    def lines(self, request: Fetch) -> Generator[tuple[int, int, set[int]], None, None]:
        """The lines of the level that a request names: line, set and sectors, as the L1 line numbers them."""
        first, per_line = self.model.addresses.addresses[request.line], self.own.line_bytes // 32
        for position in range(self.lines_per_packet):
            named = {s for s in sectors(request.mask) if s // per_line == position}
            if named:
                address = first + position * self.own.line_bytes
                number = request.line * self.lines_per_packet + position
                yield number, set_within_slice(address, self.own), named

    def write(self, request: Fetch, receiver: Receiver) -> None:
        """Write sectors below; those that are present stay valid."""
        self.count("writes", len(sectors(request.mask)))
        for line, number, named in self.lines(request):
            if way := self.sets[number].find(line):
                self.count("updates", len(named & way.valid))
                self.sets[number].touch(way)
        self.cache.below(replace(request, time=self.clock.now), lambda _, time: receiver(request, time))

    def read(self, request: Fetch, receiver: Receiver) -> None:
        """Read sectors: those that are neither present nor under way from below."""
        arrived = self.clock.event()  # succeeds when it is certain when what is missing arrives, with that cycle
        missing, awaited, filled = set[int](), list[simpy.Event](), list[tuple[Way, set[int]]]()
        for line, number, named in self.lines(request):
            cache_set = self.sets[number]
            way = cache_set.find(line)
            pending = named & way.pending.keys() if way else set()
            absent = named - pending - way.valid if way else named
            if way:
                cache_set.touch(way)
                awaited += [way.pending[sector] for sector in pending]
            elif way := cache_set.find_victim():
                self.count("evictions", int(way.line is not None))
                cache_set.fill(way, line)
            if way and absent:
                way.pending |= dict.fromkeys(absent, arrived)
                filled.append((way, absent))
            missing |= absent
            for event, number in (
                ("hits", len(named - pending - absent)),
                ("merges", len(pending)),
                ("misses", len(absent)),
            ):
                self.count(event, number)
        self.count("reads", len(sectors(request.mask)))
        if missing:
            awaited.append(arrived)
            below = replace(request, time=self.clock.now, mask=mask_of(missing))
            self.cache.below(below, lambda _, time: self.receive(arrived, filled, time))
        self.clock.process(self.answer(request, receiver, awaited))

    def receive(self, arrived: simpy.Event, filled: list[tuple[Way, set[int]]], time: int) -> None:
        """What was missing arrives at `time`."""
        arrived.succeed(time)
        self.clock.call(time, self.stage(FILL), self.fill, filled)

    def fill(self, filled: list[tuple[Way, set[int]]]) -> None:
        """Sectors are here."""
        for way, arrived in filled:
            way.valid |= arrived
            for sector in arrived:
                del way.pending[sector]

    def answer(
        self, request: Fetch, receiver: Receiver, awaited: list[simpy.Event]
    ) -> Generator[simpy.Event, Any, None]:
        """Process: answer a read when all its sectors are here."""
        time = self.clock.now + self.cache.latency
        for event in awaited:
            time = max(time, (yield event))
        receiver(request, time)
