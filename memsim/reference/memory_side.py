"""A cache level between L2 and DRAM: every slice serves its queue in order, and reads from below what it lacks.

The level caches memory, whatever unit reads it. It is written through and allocates on reads alone, so it holds nothing
that memory lacks and nothing has to be written back (AMD CDNA 3 white paper, "AMD Infinity Cache"). A read that finds
all ways of its set waiting for data passes, and leaves no line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import simpy

from memsim.gpu.memory_side import MemorySideLevel
from memsim.reference.address_map import slice_of
from memsim.reference.cache import CacheSlice, Way
from memsim.reference.clock import CycleStage, Process
from memsim.reference.packets import Fetch, Receiver

if TYPE_CHECKING:
    from memsim.reference.model import ReferenceModel

Below = Callable[[Fetch, Receiver], None]  # takes requests to the next level, or to DRAM


class MemorySideCache:
    """One level; `depth` 0 is next to L2."""

    def __init__(self, model: ReferenceModel, own: MemorySideLevel, depth: int, below: Below) -> None:
        self.model, self.own = model, own
        self.slices = [MemorySideSlice(model, own, depth, number, below) for number in range(own.slices)]

    def send(self, request: Fetch, receiver: Receiver) -> None:
        """Queue a request at its slice; `receiver` takes it back with the SM cycle of the answer."""
        address = self.model.addresses.addresses[request.line]
        self.slices[slice_of(address, self.own)].queue.put((request, receiver))

    def take_over(self, old: MemorySideCache) -> None:
        """Hold what the level held at the end of an earlier launch."""
        for mine, before in zip(self.slices, old.slices, strict=True):
            mine.sets.take_over(before.sets)


class MemorySideSlice(CacheSlice):
    """One slice."""

    def __init__(self, model: ReferenceModel, own: MemorySideLevel, depth: int, number: int, below: Below) -> None:
        super().__init__(model, own, CycleStage.memory_side, depth, number)
        self.own, self.below = own, below
        # From the lookup to the answer in L2, on a hit: a request comes in the cycle in which L2 sends it.
        self.latency = own.hit_latency_cycles - model.gpu.l2.hit_latency_cycles

    def count(self, event: str, number: int) -> None:
        self.model.statistics.components["memory_side", f"{self.own.name}_{event}"] += number

    def serve(self, queued: tuple[Fetch, Receiver]) -> bool:
        request, receiver = queued
        self.occupy(Fraction(32 * request.mask.bit_count(), self.own.slice_bytes_per_cycle))
        (self.write if request.write else self.read)(request, receiver)
        return True

    def write(self, request: Fetch, receiver: Receiver) -> None:
        """Write sectors below; those that are present stay valid."""
        self.count("writes", request.mask.bit_count())
        for line, named in self.lines(request.line, request.mask):
            if way := self.set_of(line).find(line):
                self.count("updates", (named & way.valid).bit_count())
                self.set_of(line).touch(way)
        self.below(replace(request, time=self.clock.now), lambda _, time: receiver(request, time))

    def read(self, request: Fetch, receiver: Receiver) -> None:
        """Read sectors: those that are neither present nor under way from below."""
        arrived = self.clock.event()  # an MSHR; succeeds when it is certain when its sectors arrive, with that cycle
        missing, awaited, filled = 0, list[simpy.Event](), list[Way]()
        for line, named in self.lines(request.line, request.mask):
            cache_set = self.set_of(line)
            way = cache_set.find(line)
            hits, merges = (named & way.valid, named & way.under_way) if way else (0, 0)
            absent = named & ~hits & ~merges
            if way:
                cache_set.touch(way)
                awaited += way.mshrs(merges)
            elif way := cache_set.find_victim():
                self.count("evictions", int(way.line is not None))
                cache_set.fill(way, line)
            if way and absent:
                way.pending[arrived] = absent
                filled.append(way)
            missing |= self.in_packet(line, absent)
            for event, mask in (("hits", hits), ("merges", merges), ("misses", absent)):
                self.count(event, mask.bit_count())
        self.count("reads", request.mask.bit_count())
        if missing:
            awaited.append(arrived)
            below = replace(request, time=self.clock.now, mask=missing)
            self.below(below, lambda _, time: self.receive(arrived, filled, time))
        self.clock.process(self.answer(request, receiver, awaited))

    def receive(self, arrived: simpy.Event, filled: list[Way], time: int) -> None:
        """What was missing arrives at `time`."""
        arrived.succeed(time)
        for way in filled:
            self.clock.call(time, (*self.stage, self.ANSWERS), way.fill, arrived)

    def answer(self, request: Fetch, receiver: Receiver, awaited: list[simpy.Event]) -> Process:
        """Process: answer a read when all its sectors are here."""
        time = self.clock.now + self.latency
        for event in awaited:
            time = max(time, (yield event))
        receiver(request, time)
