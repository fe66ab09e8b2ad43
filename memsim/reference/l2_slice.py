"""A slice of L2: a queue of packets, served in order, and fetches from DRAM under way.

A packet covers one L1 line, hence one or several L2 lines ("four consecutive L2 cache blocks" on the Tesla C2050:
Baghsorkhi et al., PPoPP 2012, section 2.1). The slice looks all of them up, and sends one fetch for all sectors that
are neither present nor under way. A packet that finds no way or no MSHR is tried again at the next answer of DRAM.

Write policies follow Jouppi (ISCA 1993) for misses. With two partitions (from NVIDIA's A100 on: A100 whitepaper), an SM
reaches the slice of its own partition, which keeps copies of lines whose home is the slice opposite.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import simpy

from memsim.gpu.choices import Inclusion, WriteHit, WriteMiss
from memsim.reference.cache_set import CacheSet, CacheSets, Way
from memsim.reference.clock import CycleStage
from memsim.reference.packets import READS, DramLocation, DropCopy, Fetch, Packet, Request, mask_of, sectors

if TYPE_CHECKING:
    from memsim.reference.model import ReferenceModel

ANSWERS, SERVE = 0, 1  # a slice takes what arrives before it serves its queue
BY_SEVERITY = ("hit", "merge", "sector_miss", "miss")


@dataclass
class Outcome:
    """What has become of a packet so far, which may be looked up in several steps."""

    event: str = "hit"
    sectors: dict[str, int] = field(default_factory=dict)  # by event
    looked_up: set[int] = field(default_factory=set)
    prefetched: bool = False  # a sector was there, or under way, because of a prefetch
    awaits: set[Fetch] = field(default_factory=set)

    def add(self, event: str, hits: int, merges: int, others: int) -> None:
        """Add one L2 line; the packet's event is that of its worst sector."""
        self.event = max(self.event, event, key=BY_SEVERITY.index)
        for name, number in (("hit", hits), ("merge", merges), (event, others)):
            self.sectors[name] = self.sectors.get(name, 0) + number


class L2Slice:
    """One slice, with its share of L2's sets."""

    def __init__(self, model: ReferenceModel, number: int) -> None:
        self.model, self.number, self.clock, self.gpu = model, number, model.clock, model.gpu
        l2 = self.l2 = model.gpu.l2
        self.sectors_per_line = l2.line_bytes // 32
        self.lines_per_packet = model.gpu.l1.line_bytes // l2.line_bytes
        n = l2.size_bytes // l2.slices // l2.line_bytes // l2.ways
        self.sets = CacheSets(n, l2.ways, l2.replacement, number * n, model.key)
        self.queue = simpy.Store(self.clock)
        self.answered = self.clock.event()  # succeeds at the next answer of DRAM, and is then replaced
        self.blocked = False  # the packet in service waits for an answer
        self.outcome = Outcome()  # of the packet in service
        self.free = Fraction(0)  # SM cycle, with fractions, in which the slice can serve the next packet
        sm_mhz = self.gpu.sm.clock_mhz
        self.cycle = Fraction(round(sm_mhz * 1000), round((l2.clock_mhz or sm_mhz) * 1000))  # one of L2, in SM cycles
        self.reads = self.writes = 0  # under way to DRAM
        self.dirty_limit = min(l2.ways, l2.max_dirty_ways or l2.ways)
        self.most_writes = (2 if self.dirty_limit == l2.ways else 3) * self.lines_per_packet  # of one packet
        if l2.max_partial_ways:  # one more per line, and a read for each
            self.most_writes = 2 * (self.most_writes + self.lines_per_packet)
        self.mshrs = max(l2.mshrs, self.most_writes)
        self.sharers: dict[int, set[int]] = {}  # L1 line -> SMs that requested it since it was last invalidated
        self.partition = 2 * number // l2.slices
        self.copied: set[int] = set()  # lines of which the slice opposite may hold a copy
        self.clock.process(self.run())

    def take_over(self, old: L2Slice) -> None:
        """Hold what the slice held at the end of an earlier launch. L1s start empty."""
        self.copied = set(old.copied)
        for number, before in old.sets.used.items():
            self.sets[number].take_over(before)
            for way in self.sets[number].ways:
                way.op = self.model.trace.n_ops  # no op of this launch wrote it
                way.prefetched.clear()

    @property
    def dirty_sectors(self) -> int:
        """Sectors that the slice holds dirty."""
        return sum(len(way.dirty) for cache_set in self.sets.used.values() for way in cache_set.ways)

    @property
    def unused_sectors(self) -> int:
        """Sectors that the slice holds because of a prefetch, and that nobody asked for."""
        return sum(len(way.prefetched) for cache_set in self.sets.used.values() for way in cache_set.ways)

    # The queue

    def run(self) -> Generator[simpy.Event, Any, None]:
        """Process: serve one packet after the other."""
        while True:
            packet = yield self.queue.get()
            yield self.wait_for_stage(max(self.clock.now, ceil(self.free)))
            if self.model.home(packet.line, packet.sm) is not self:
                self.forward(packet)
                continue
            if packet.request is Request.prefetch:
                self.prefetch(packet)
                continue
            while not (self.has_room() and self.serve(packet)):
                self.blocked = True
                yield self.answered
                yield self.wait_for_stage(self.clock.now)
            self.complete(packet)

    def wait_for_stage(self, time: int) -> simpy.Event:
        """The slice's stage of a cycle, to serve its queue."""
        return self.clock.at(time, CycleStage.slices, self.number, SERVE)

    def occupy(self, cycles: int) -> None:
        """Be busy for some cycles of L2's clock, from the moment within this SM cycle in which the slice got free."""
        begin = self.free if ceil(self.free) == self.clock.now else Fraction(self.clock.now)
        self.free = begin + cycles * self.cycle

    def has_room(self) -> bool:
        """Whether there are MSHRs for a fetch and for all writes that a packet can cause."""
        return self.reads < self.mshrs and self.writes + self.most_writes <= self.mshrs

    def serve(self, packet: Packet) -> bool:
        """Look up the sectors that have not been; False if a line finds all ways of its set waiting for data."""
        if packet.request is Request.load:
            self.sharers.setdefault(packet.line, set()).add(packet.sm)
        fetch = Fetch(self.clock.now, packet.line, 0, packet.op, packet.location, self.number)
        self.write_through: list[Fetch] = []  # leave behind the lines that have to go
        complete = True
        for position in range(self.lines_per_packet):
            first = position * self.sectors_per_line
            requested = {s - first for s in sectors(packet.mask) - self.outcome.looked_up}
            requested = {s for s in requested if 0 <= s < self.sectors_per_line}
            if requested and not self.look_up(packet, position, requested, fetch):
                complete = False
                break
            self.outcome.looked_up |= {s + first for s in requested}
        for write in self.write_through:
            self.send_write(write)
        for position in range(self.lines_per_packet):
            if packet.request is Request.store and self.line_sectors(packet.partial, position):
                self.limit_partial(self.sets[packet.l2_sets[position]])
        for position in range(self.lines_per_packet):
            if self.line_sectors(packet.mask, position):
                self.limit_dirty(self.sets[packet.l2_sets[position]])
        if fetch.fills:
            self.reads += 1
            self.model.send_to_memory(fetch)
        return complete

    def complete(self, packet: Packet) -> None:
        """A packet has been looked up: it is counted, and answered now or when its data have come."""
        self.occupy(self.service_cycles(packet))
        outcome, self.outcome = self.outcome, Outcome()
        kind = packet.access
        counted = {f"{kind}_{name}": number for name, number in outcome.sectors.items()}
        self.model.statistics.count(packet.op, "l2", f"{kind}_{outcome.event}", counted)
        if packet.request not in READS and packet.line in self.copied:
            self.copied.remove(packet.line)
            self.cross_back(DropCopy(packet.line, packet.l2_sets))
        if packet.request in READS:
            missed = outcome.event in ("miss", "sector_miss") or outcome.prefetched
            self.model.prefetch_after(packet, missed)
        if packet.request in (Request.store, Request.reduction) or not outcome.awaits:
            self.reply(packet)
            return
        packet.awaits = outcome.awaits
        for fetch in packet.awaits:
            fetch.targets.insert(0, packet)

    def service_cycles(self, packet: Packet) -> int:
        """Cycles of L2's clock for the sectors of a packet; sectors that a store writes in part may take longer."""
        if packet.request in READS:
            return self.read_cycles(packet)
        full_cycles = self.l2.sector_cycles
        partial_cycles = max(self.l2.partial_store_cycles or full_cycles, full_cycles)
        return sum(
            partial_cycles if sector in sectors(packet.partial) else full_cycles for sector in sectors(packet.mask)
        )

    def read_cycles(self, packet: Packet) -> int:
        """Cycles of L2's clock to read the sectors of a packet."""
        return self.l2.sector_cycles * ceil(len(sectors(packet.mask)) / (self.l2.read_sectors or 1))

    # Lookups

    def look_up(self, packet: Packet, position: int, requested: set[int], fetch: Fetch) -> bool:
        """Look up sectors of one L2 line; False if there is no way for it.

        Args:
            position: of the L2 line in the packet's L1 line.
            requested: sectors of the L2 line.
            fetch: takes the sectors to read.
        """
        store = packet.request is Request.store
        line, cache_set = packet.line * self.lines_per_packet + position, self.sets[packet.l2_sets[position]]
        way = cache_set.find(line)
        absent = way is None
        if way is None:
            if store and self.l2.write_miss is WriteMiss.no_allocate:
                self.write_through.append(self.new_write(packet.line, position, requested, packet.op, packet.location))
                self.outcome.add("miss", 0, 0, len(requested))
                return True
            way = cache_set.find_victim()
            if way is None:
                return False
            self.evict(way)
            cache_set.fill(way, line)
            way.location, way.position = packet.location, position
        else:
            cache_set.touch(way)
        held = way.valid | way.partial if store else way.valid
        present, pending = requested & held, requested & (way.pending.keys() - way.valid)
        self.use_prefetched(way, present, pending)
        missing = requested - present - pending
        hits = present & way.activated if store and self.l2.write_hit is WriteHit.write_activated else present
        fetched = missing if packet.request in READS else self.write(packet, way, requested, missing)
        if hits == requested:
            event = "hit"
        elif hits | pending == requested:
            event = "merge"
        else:
            event = "miss" if absent or self.sectors_per_line == 1 else "sector_miss"
        self.outcome.add(event, len(hits), len(pending), len(requested - hits - pending))
        self.fetch_sectors(way, fetched, fetch, position)
        self.outcome.awaits |= {way.pending[s] for s in requested & way.pending.keys()}
        return True

    def use_prefetched(self, way: Way, present: set[int], pending: set[int]) -> None:
        """Sectors of a line are asked for: those that a prefetch brought, or is bringing, have been of use."""
        counts = self.model.statistics.components
        counts["prefetcher", "useful"] += len(way.prefetched & present)
        counts["prefetcher", "late"] += len(way.prefetched & pending)
        self.outcome.prefetched |= bool(way.prefetched & (present | pending))
        way.prefetched -= present | pending

    def prefetch(self, packet: Packet) -> None:
        """Fetch the sectors of a line that are neither present nor under way; what finds no room is dropped."""
        self.occupy(self.l2.sector_cycles)
        counts = self.model.statistics.components
        fetch = Fetch(self.clock.now, packet.line, 0, packet.op, packet.location, self.number)
        every, absent = set(range(self.sectors_per_line)), 0
        for position in range(self.lines_per_packet):
            line, cache_set = packet.line * self.lines_per_packet + position, self.sets[packet.l2_sets[position]]
            way = cache_set.find(line)
            missing = every if way is None else every - way.valid - way.pending.keys()
            absent += len(missing)
            if not missing or not self.has_room():
                continue
            if way is None:
                way = cache_set.find_victim()
                if way is None:
                    continue
                self.evict(way)
                cache_set.fill(way, line)
                way.location, way.position = packet.location, position
            way.prefetched |= missing
            self.fetch_sectors(way, missing, fetch, position)
        if fetch.fills:
            self.reads += 1
            counts["prefetcher", "sectors"] += len(fetch.fills)
            self.model.send_to_memory(fetch)
        counts["prefetcher", "sent" if fetch.fills else "dropped" if absent else "redundant"] += 1

    def write(self, packet: Packet, way: Way, requested: set[int], missing: set[int]) -> set[int]:
        """Write sectors of a line that has a way; return those that the policy reads from DRAM first."""
        way.op = packet.op
        policy = self.l2.write_miss if packet.request is Request.store else WriteMiss.fetch
        through = missing if policy in (WriteMiss.update_memory, WriteMiss.no_allocate) else set()
        if through:
            self.write_through.append(self.new_write(packet.line, way.position, through, packet.op, way.location))
        way.dirty |= requested - through
        way.activated |= requested if policy is not WriteMiss.no_allocate else requested - missing
        if policy is WriteMiss.validate:
            way.valid |= self.complete_sectors(packet, way, requested - way.valid - way.pending.keys())
        return missing if policy in (WriteMiss.fetch, WriteMiss.update_memory) else set()

    def line_sectors(self, mask: int, position: int) -> set[int]:
        """The sectors of one L2 line that a mask of the packet names."""
        first = position * self.sectors_per_line
        return {s - first for s in sectors(mask) if 0 <= s - first < self.sectors_per_line}

    def complete_sectors(self, packet: Packet, way: Way, stored: set[int]) -> set[int]:
        """Of sectors that a store writes, those that are complete in L2 now: all, unless L2 reads the rest of parts."""
        partial = self.line_sectors(packet.partial, way.position) & stored
        if not self.l2.max_partial_ways or not partial:
            return stored
        first = way.position * self.sectors_per_line
        for sector in range(self.sectors_per_line):
            way.words |= {(sector, word) for word in range(8) if packet.words >> 8 * (first + sector) + word & 1}
        return stored - {s for s in partial if not {(s, word) for word in range(8)} <= way.words}

    def fetch_sectors(self, way: Way, missing: set[int], fetch: Fetch, position: int) -> None:
        """Add sectors to a fetch: all of their fetch granules that are neither present nor under way."""
        group = self.l2.fetch_bytes // 32
        granules = {s // group * group + i for s in missing for i in range(group)} - way.valid - way.pending.keys()
        way.pending |= dict.fromkeys(granules, fetch)
        fetch.fills += [(way, s) for s in sorted(granules)]
        fetch.mask |= mask_of(granules) << position * self.sectors_per_line

    def new_write(self, line: int, position: int, written: set[int], op: int, location: DramLocation) -> Fetch:
        """A write of sectors of an L2 line to DRAM."""
        mask = mask_of(written) << position * self.sectors_per_line
        return Fetch(self.clock.now, line, mask, op, location, self.number, write=True)

    def send_write(self, write: Fetch) -> None:
        """Send a write to DRAM."""
        self.writes += 1
        self.model.send_to_memory(write)

    def write_back(self, way: Way) -> None:
        """Write the dirty sectors of a line to DRAM."""
        assert way.line is not None
        line = way.line // self.lines_per_packet
        if self.l2.max_partial_ways and way.partial:
            read = self.new_write(line, way.position, way.partial, way.op, way.location)
            self.send_write(replace(read, write=False, completes=True))
        self.send_write(self.new_write(line, way.position, way.dirty, way.op, way.location))

    def clean(self, way: Way) -> None:
        """Write the dirty sectors of a line to DRAM; the line stays, and is complete now."""
        self.write_back(way)
        if self.l2.max_partial_ways:
            way.valid |= way.partial
        way.dirty.clear()

    def limit_dirty(self, cache_set: CacheSet) -> None:
        """Too many dirty lines in a set: the first to be replaced is written to DRAM, and stays."""
        dirty = [way for way in cache_set.order if way.dirty]
        if len(dirty) > self.dirty_limit:
            self.clean(dirty[0])

    def limit_partial(self, cache_set: CacheSet) -> None:
        """Too many lines of a set have sectors that stores covered in part: the first to be replaced is completed."""
        limit, partial = self.l2.max_partial_ways, [way for way in cache_set.order if way.partial]
        if limit and len(partial) > limit:
            self.clean(partial[0])

    def evict(self, way: Way) -> None:
        """Let a line go: write it back, and with inclusion invalidate it in the L1s that may hold it."""
        if way.line is None:
            return
        self.model.statistics.components["prefetcher", "unused"] += len(way.prefetched)
        if way.dirty:
            self.write_back(way)
        if self.l2.inclusion is not Inclusion.inclusive or not way.valid:
            return
        line, l1 = way.line // self.lines_per_packet, self.gpu.l1
        unsectored = l1.sector_bytes == l1.line_bytes
        all_sectors = (1 << l1.line_bytes // 32) - 1
        mask = all_sectors if unsectored else mask_of(way.valid) << way.position * self.sectors_per_line
        for sm in sorted(self.sharers.get(line, ())):
            packet = Packet(Request.invalidate, line, mask, sm, 0, self.clock.now)
            self.model.interconnect.reply(packet, self.number)
        if unsectored or self.lines_per_packet == 1:
            self.sharers.pop(line, None)

    def forget_sharer(self, line: int, sm: int) -> None:
        """An L1 has replaced a line, so it needs no invalidation (a directory with replacement hints)."""
        self.sharers.get(line, set()).discard(sm)

    # Answers

    def receive_answer(self, answer: Fetch, time: int) -> None:
        """DRAM will have answered at `time`."""
        self.clock.call(time, (CycleStage.slices, self.number, ANSWERS, answer.location[0]), self.take_answer, answer)

    def unblock(self) -> None:
        """DRAM has answered: try the packet in service again."""
        if self.blocked:
            self.blocked = False
            if self.clock.now > ceil(self.free):
                self.free = Fraction(self.clock.now)
        answered, self.answered = self.answered, self.clock.event()
        answered.succeed()

    def take_answer(self, answer: Fetch) -> None:
        """Take in sectors from DRAM, and answer the packets that have all their data now."""
        self.unblock()
        if answer.write or answer.completes:
            self.writes -= 1
            return
        self.reads -= 1
        for way, sector in answer.fills:
            way.valid.add(sector)
            del way.pending[sector]
        self.outcome.awaits.discard(answer)
        for packet in answer.targets:
            packet.awaits.discard(answer)
            if not packet.awaits:
                self.reply(packet)

    # Two partitions

    def reply(self, packet: Packet) -> None:
        """Answer an SM, through the slice opposite if the SM is connected to that one."""
        if self.l2.partitions == 2 and packet.sm % 2 != self.partition:
            if packet.request in READS:
                self.copied.add(packet.line)
            self.cross_back(packet)
        else:
            self.model.interconnect.reply(packet, self.number)

    def opposite(self) -> L2Slice:
        """The counterpart of this slice in the other partition."""
        return self.model.slices[(self.number + self.l2.slices // 2) % self.l2.slices]

    def copy_of(self, line: int, l2_sets: list[int]) -> Way | None:
        """The copy of a line whose home is opposite; copies have negative line numbers."""
        return self.sets[l2_sets[0]].find(-1 - line)

    def forward(self, packet: Packet) -> None:
        """Serve a packet whose home is opposite from a complete copy, or forward it."""
        requested = sectors(packet.mask)
        way = self.copy_of(packet.line, packet.l2_sets) if packet.request in READS else None
        if way and requested <= way.valid:
            self.occupy(self.read_cycles(packet))
            self.sets[packet.l2_sets[0]].touch(way)
            self.model.statistics.count(packet.op, "l2", "read_hit", {"read_hit": len(requested)})
            self.model.interconnect.reply(packet, self.number)
            return
        self.occupy(self.l2.sector_cycles)  # one lookup
        packet.time = self.clock.now + self.l2.partition_cycles // 2
        opposite = self.opposite()
        self.clock.call(packet.time, (CycleStage.crossing, opposite.number), opposite.queue.put, packet)

    def cross_back(self, message: Packet | DropCopy) -> None:
        """Send an answer, or the order to drop a copy, to the slice opposite."""
        time = self.clock.now + self.l2.partition_cycles - self.l2.partition_cycles // 2
        opposite, source = self.opposite(), self.gpu.dram.channels + self.number
        take = opposite.drop_copy if isinstance(message, DropCopy) else opposite.store_copy
        self.clock.call(time, (CycleStage.slices, opposite.number, ANSWERS, source), take, message)

    def drop_copy(self, message: DropCopy) -> None:
        """The home of a line was written: its copy here is out of date."""
        if way := self.copy_of(message.line, message.l2_sets):
            way.valid.clear()

    def store_copy(self, packet: Packet) -> None:
        """An answer passes from its home to an SM of this partition: keep a copy of what it read."""
        if packet.request in READS:
            cache_set = self.sets[packet.l2_sets[0]]
            way = self.copy_of(packet.line, packet.l2_sets)
            if way:
                cache_set.touch(way)
            elif way := cache_set.find_victim():
                self.evict(way)
                cache_set.fill(way, -1 - packet.line)
            if way:
                way.valid |= sectors(packet.mask)
        self.model.interconnect.reply(packet, self.number)
