"""A slice of L2: a queue of packets, served in order, and fetches from memory under way.

A packet covers one L1 line, hence one or several L2 lines ("four consecutive L2 cache blocks" on the Tesla C2050:
Baghsorkhi et al., PPoPP 2012, section 2.1). The slice looks all of them up, and sends one fetch for all sectors that
are neither present nor under way. A packet that finds no way or no MSHR is tried again at the next answer of memory.

Write policies follow Jouppi (ISCA 1993) for misses. With two partitions (from NVIDIA's A100 on: A100 whitepaper), an SM
reaches the slice of its own partition, which keeps copies of lines whose home is the slice opposite.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from memsim.gpu.choices import Inclusion, WriteHit, WriteMiss
from memsim.reference.cache import CacheSlice, Way
from memsim.reference.clock import CycleStage
from memsim.reference.packets import READS, Fetch, Packet, Request

if TYPE_CHECKING:
    from memsim.reference.model import ReferenceModel

BY_SEVERITY = ("hit", "merge", "sector_miss", "miss")


@dataclass
class Outcome:
    """What has become of a packet so far, which may be looked up in several steps."""

    event: str = "hit"  # of its worst sector
    sectors: Counter[str] = field(default_factory=Counter)  # by event
    looked_up: int = 0
    prefetched: bool = False  # a sector was there, or under way, because of a prefetch
    awaits: set[Fetch] = field(default_factory=set)

    def add(self, event: str, hits: int, merges: int, others: int) -> None:
        """Add the sectors of one L2 line, as masks."""
        self.event = max(self.event, event, key=BY_SEVERITY.index)
        for name, mask in (("hit", hits), ("merge", merges), (event, others)):
            self.sectors[name] += mask.bit_count()


class L2Slice(CacheSlice):
    """One slice."""

    def __init__(self, model: ReferenceModel, number: int) -> None:
        l2 = model.gpu.l2
        super().__init__(model, l2.one_instance, CycleStage.slices, number)
        self.gpu, self.l2 = model.gpu, l2
        self.outcome = Outcome()  # of the packet in service
        self.write_through: list[Fetch] = []  # what it writes past L2
        sm_mhz = self.gpu.sm.clock_mhz
        self.cycle = Fraction(round(sm_mhz * 1000), round((l2.clock_mhz or sm_mhz) * 1000))  # one of L2, in SM cycles
        self.reads = self.writes = 0  # under way to memory
        self.dirty_limit = min(l2.ways, l2.max_dirty_ways or l2.ways)
        self.most_writes = (2 if self.dirty_limit == l2.ways else 3) * self.lines_per_packet  # of one packet
        if l2.max_partial_ways:  # one more per line, and a read for each
            self.most_writes = 2 * (self.most_writes + self.lines_per_packet)
        self.mshrs = max(l2.mshrs, self.most_writes)
        self.sharers: dict[int, set[int]] = defaultdict(set)  # L1 line -> SMs that requested it since invalidated
        self.partition = 2 * number // l2.slices
        self.copied: set[int] = set()  # lines of which the slice opposite may hold a copy
        self.crossing: dict[tuple[int, int], Packet] = {}  # (line, sector) of a copy: last load sent to bring it
        self.last_store: Packet | None = None

    def take_over(self, old: L2Slice) -> None:
        """Hold what the slice held at the end of an earlier launch. L1s start empty."""
        self.copied = set(old.copied)
        self.sets.take_over(old.sets)
        for way in self.ways:
            way.op, way.prefetched = self.model.trace.n_ops, 0  # no op of this launch wrote it

    @property
    def ways(self) -> Iterator[Way]:
        return (way for cache_set in self.sets.values() for way in cache_set.ways)

    @property
    def dirty_sectors(self) -> int:
        return sum(way.dirty.bit_count() for way in self.ways)

    # The queue

    def serve(self, packet: Packet) -> bool:
        """Serve a packet; False if it has to be tried again."""
        if self.model.home(packet.line, packet.sm) is not self:
            self.forward(packet)
        elif packet.request is Request.prefetch:
            self.prefetch(packet)
        elif self.has_room() and self.look_up_all(packet):
            self.complete(packet)
        else:
            return False
        return True

    def has_room(self) -> bool:
        """Whether there are MSHRs for a fetch and for all writes that a packet can cause."""
        return self.reads < self.mshrs and self.writes + self.most_writes <= self.mshrs

    def look_up_all(self, packet: Packet) -> bool:
        """Look up the sectors that have not been; False if a line finds all ways of its set waiting for data."""
        if packet.request is Request.load:
            self.sharers[packet.line].add(packet.sm)
        fetch, complete = self.memory_request(packet.line, 0, packet.op), True
        for line, requested in self.lines(packet.line, packet.mask & ~self.outcome.looked_up):
            if not self.look_up(packet, line, requested, fetch):
                complete = False
                break
            self.outcome.looked_up |= self.in_packet(line, requested)
        writes, self.write_through = self.write_through, []
        for write in writes:  # behind the lines that had to go
            self.send(write)
        for line, _ in self.lines(packet.line, packet.partial) if packet.request is Request.store else ():
            self.limit(line, self.l2.max_partial_ways or self.l2.ways, lambda way: way.partial)
        for line, _ in self.lines(packet.line, packet.mask):
            self.limit(line, self.dirty_limit, lambda way: way.dirty)
        if fetch.mask:
            self.send(fetch)
        return complete

    def complete(self, packet: Packet) -> None:
        """A packet has been looked up: it is counted, and answered now or when its data have come."""
        self.occupy_for(packet)
        outcome, self.outcome = self.outcome, Outcome()
        self.model.statistics.count(packet.op, "l2", packet.access, outcome.event, outcome.sectors)
        if packet.request in READS:
            self.model.prefetch_after(packet, outcome.event in ("miss", "sector_miss") or outcome.prefetched)
        elif packet.line in self.copied:
            self.copied.remove(packet.line)
            self.cross_back(self.opposite().drop_copy, packet.line)
        if packet.request in (Request.store, Request.reduction) or not outcome.awaits:
            self.reply(packet)
            return
        packet.awaits = outcome.awaits
        for fetch in packet.awaits:
            fetch.targets.insert(0, packet)

    def occupy_for(self, packet: Packet) -> None:
        """Be busy with a packet."""
        self.occupy(self.service_cycles(packet))
        if packet.request is Request.store:
            self.last_store = packet

    def service_cycles(self, packet: Packet) -> Fraction:
        """SM cycles for the sectors of a packet.

        Sectors that a store writes in part may take longer, and those of them to which the store before it wrote as
        well another time.
        """
        number = packet.mask.bit_count()
        if packet.request in READS:
            return self.cycle * self.l2.sector_cycles * ceil(Fraction(number, self.l2.read_sectors or 1))
        if packet.request is not Request.store:
            return self.cycle * self.l2.sector_cycles * number
        partial, before = packet.mask & packet.partial, self.last_store
        repeated = partial & before.mask if before and before.line == packet.line else 0
        cycles = (number - partial.bit_count()) * self.l2.sector_cycles
        cycles += (partial & ~repeated).bit_count() * self.l2.of_partial_store
        return self.cycle * (cycles + repeated.bit_count() * self.l2.of_repeated_store)

    # Lookups

    def look_up(self, packet: Packet, line: int, requested: int, fetch: Fetch) -> bool:
        """Look up sectors of one L2 line; False if there is no way for it.

        Args:
            requested: sectors of the L2 line.
            fetch: takes the sectors to read.
        """
        store, way = packet.request is Request.store, self.set_of(line).find(line)
        absent = way is None
        if way:
            self.set_of(line).touch(way)
        elif store and self.l2.write_miss is WriteMiss.no_allocate:
            self.write_through.append(self.write_request(line, requested, packet.op))
            self.outcome.add("miss", 0, 0, requested)
            return True
        else:
            way = self.allocate(line)
            if way is None:
                return False
        present = requested & (way.valid | way.partial if store else way.valid)
        pending = requested & way.under_way & ~way.valid
        self.use_prefetched(way, present, pending)
        missing = requested & ~present & ~pending
        hits = present & way.activated if store and self.l2.write_hit is WriteHit.write_activated else present
        fetched = missing if packet.request in READS else self.write(packet, way, line, requested, missing)
        event = "hit" if hits == requested else "merge" if hits | pending == requested else "sector_miss"
        if event == "sector_miss" and (absent or self.sectors_per_line == 1):
            event = "miss"
        self.outcome.add(event, hits, pending, requested & ~hits & ~pending)
        self.fetch_sectors(way, line, fetched, fetch)
        self.outcome.awaits.update(way.mshrs(requested))
        return True

    def allocate(self, line: int) -> Way | None:
        """A way for a line, whose old line goes; None if all wait for data."""
        way = self.set_of(line).find_victim()
        if way:
            self.evict(way)
            self.set_of(line).fill(way, line)
        return way

    def write(self, packet: Packet, way: Way, line: int, requested: int, missing: int) -> int:
        """Write sectors of a line that has a way; return those that the policy reads from memory first."""
        way.op = packet.op
        policy = self.l2.write_miss if packet.request is Request.store else WriteMiss.fetch
        through = missing if policy in (WriteMiss.update_memory, WriteMiss.no_allocate) else 0
        if through:
            self.write_through.append(self.write_request(line, through, packet.op))
        way.dirty |= requested & ~through
        way.activated |= requested & ~missing if policy is WriteMiss.no_allocate else requested
        if policy is WriteMiss.validate:
            way.valid |= self.complete_sectors(packet, way, line, requested & ~way.valid & ~way.under_way)
        return missing if policy in (WriteMiss.fetch, WriteMiss.update_memory) else 0

    def complete_sectors(self, packet: Packet, way: Way, line: int, stored: int) -> int:
        """Of sectors that a store writes, those that are complete in L2 now: all, unless L2 reads the rest of parts."""
        first = line % self.lines_per_packet * self.sectors_per_line
        partial = packet.partial >> first & stored
        if not self.l2.max_partial_ways or not partial:
            return stored
        way.words |= packet.words >> 8 * first & (1 << 8 * self.sectors_per_line) - 1
        written = sum(1 << s for s in range(self.sectors_per_line) if way.words >> 8 * s & 0xFF == 0xFF)
        return stored & ~(partial & ~written)

    def fetch_sectors(self, way: Way, line: int, missing: int, fetch: Fetch) -> None:
        """Add sectors to a fetch: all of their fetch granules that are neither present nor under way."""
        size = self.l2.fetch_bytes // 32
        granules = sum(
            (1 << size) - 1 << s for s in range(0, self.sectors_per_line, size) if missing >> s & (1 << size) - 1
        )
        if granules := granules & ~way.valid & ~way.under_way:
            way.pending[fetch] = granules
            fetch.ways.append(way)
            fetch.mask |= self.in_packet(line, granules)

    def limit(self, line: int, most: int, is_limited: Callable[[Way], int]) -> None:
        """If too many lines of a set are dirty, or covered in part, clean the first of them to be replaced."""
        found = [way for way in self.set_of(line).order if is_limited(way)]
        if len(found) > most:
            self.write_back(found[0])
            if self.l2.max_partial_ways:
                found[0].valid |= found[0].partial
            found[0].dirty = 0

    def evict(self, way: Way) -> None:
        """Let a line go: write it back, and with inclusion invalidate it in the L1s that may hold it."""
        if way.line is None:
            return
        self.model.statistics.components["prefetcher", "unused"] += way.prefetched.bit_count()
        if way.dirty:
            self.write_back(way)
        if self.l2.inclusion is not Inclusion.inclusive or not way.valid:
            return
        line, l1 = way.line // self.lines_per_packet, self.gpu.l1
        unsectored = l1.sector_bytes == l1.line_bytes
        mask = (1 << l1.line_bytes // 32) - 1 if unsectored else self.in_packet(way.line, way.valid)
        for sm in sorted(self.sharers[line]):
            packet = Packet(Request.invalidate, line, mask, sm, 0, self.clock.now)
            self.model.interconnect.reply(packet, self.number)
        if unsectored or self.lines_per_packet == 1:
            del self.sharers[line]

    # Prefetches

    def prefetch(self, packet: Packet) -> None:
        """Fetch the sectors of a line that are neither present nor under way; what finds no room is dropped."""
        self.occupy(self.cycle * self.l2.sector_cycles)
        counts, absent = self.model.statistics.components, 0
        fetch = self.memory_request(packet.line, 0, packet.op)
        for line, every in self.lines(packet.line, packet.mask):
            way = self.set_of(line).find(line)
            missing = every & ~way.valid & ~way.under_way if way else every
            absent |= missing
            if missing and self.has_room() and (way := way or self.allocate(line)):
                way.prefetched |= missing
                self.fetch_sectors(way, line, missing, fetch)
        counts["prefetcher", "sent" if fetch.mask else "dropped" if absent else "redundant"] += 1
        counts["prefetcher", "sectors"] += fetch.mask.bit_count()
        if fetch.mask:
            self.send(fetch)

    def use_prefetched(self, way: Way, present: int, pending: int) -> None:
        """A request needs sectors of a line: those that a prefetch fetched, or is fetching, are useful."""
        counts = self.model.statistics.components
        counts["prefetcher", "useful"] += (way.prefetched & present).bit_count()
        counts["prefetcher", "late"] += (way.prefetched & pending).bit_count()
        self.outcome.prefetched |= bool(way.prefetched & (present | pending))
        way.prefetched &= ~(present | pending)

    # Memory

    def memory_request(self, line: int, mask: int, op: int, **kind: Any) -> Fetch:
        """A request for sectors of an L1 line to memory."""
        return Fetch(self.clock.now, line, mask, op, self.model.addresses.location(line), self.number, **kind)

    def write_request(self, line: int, mask: int, op: int) -> Fetch:
        return self.memory_request(line // self.lines_per_packet, self.in_packet(line, mask), op, write=True)

    def send(self, request: Fetch) -> None:
        """Send a request to memory; it holds an MSHR until its answer."""
        if request.write or request.completes:
            self.writes += 1
        else:
            self.reads += 1
        self.model.send_to_memory(request, self.receive)

    def write_back(self, way: Way) -> None:
        assert way.line is not None
        if self.l2.max_partial_ways and way.partial:
            self.send(replace(self.write_request(way.line, way.partial, way.op), write=False, completes=True))
        self.send(self.write_request(way.line, way.dirty, way.op))

    def receive(self, answer: Fetch, time: int) -> None:
        """Memory will have answered at `time`."""
        self.clock.call(time, (*self.stage, self.ANSWERS, answer.location[0]), self.take_answer, answer)

    def take_answer(self, answer: Fetch) -> None:
        """Take in sectors from memory, and answer the packets that have all their data now."""
        self.unblock()
        if answer.write or answer.completes:
            self.writes -= 1
            return
        self.reads -= 1
        for way in answer.ways:
            way.fill(answer)
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
            self.cross_back(self.opposite().store_copy, packet)
        else:
            self.model.interconnect.reply(packet, self.number)

    def opposite(self) -> L2Slice:
        """The counterpart of this slice in the other partition."""
        return self.model.slices[(self.number + self.l2.slices // 2) % self.l2.slices]

    def copy_of(self, line: int) -> Way | None:
        """The copy of a line whose home is opposite; copies have negative line numbers."""
        return self.set_of(line).find(-1 - line)

    def forward(self, packet: Packet) -> None:
        """Serve a packet whose home is opposite from a complete copy, let it wait for one, or forward it."""
        if packet.request in READS and self.look_up_copy(packet):
            self.occupy(self.service_cycles(packet))
            return
        self.occupy(self.cycle * self.l2.sector_cycles)  # one lookup
        packet.time = self.clock.now + self.l2.partition_cycles // 2
        opposite = self.opposite()
        self.clock.call(packet.time, (CycleStage.crossing, opposite.number), opposite.queue.put, packet)

    def look_up_copy(self, packet: Packet) -> bool:
        """Whether a copy has all sectors of a load, or one load under way brings all that are missing."""
        way = self.copy_of(packet.line)
        missing = packet.mask & ~(way.valid if way else 0)
        sectors = {"hit": packet.mask.bit_count() - missing.bit_count(), "merge": missing.bit_count()}
        places = [(packet.line, sector) for sector in range(self.sectors_per_line)]
        bringing = {self.crossing.get(place) for place in places if missing >> place[1] & 1}
        bringer = bringing.pop() if len(bringing) == 1 else None
        if missing and not bringer:
            if self.l2.merges_copies:
                self.crossing.update({place: packet for place in places if packet.mask >> place[1] & 1})
            return False
        if way:
            self.set_of(packet.line).touch(way)
        self.model.statistics.count(packet.op, "l2", "read", "merge" if bringer else "hit", sectors)
        if bringer:
            bringer.followers.insert(0, packet)
        else:
            self.model.interconnect.reply(packet, self.number)
        return True

    def cross_back(self, take: Callable[[Any], None], message: Packet | int) -> None:
        """Send an answer, or the number of a line whose copy is out of date, to the slice opposite."""
        time = self.clock.now + self.l2.partition_cycles - self.l2.partition_cycles // 2
        source = self.gpu.dram.channels + self.number
        self.clock.call(time, (*self.opposite().stage, self.ANSWERS, source), take, message)

    def drop_copy(self, line: int) -> None:
        if way := self.copy_of(line):
            way.valid = 0

    def store_copy(self, packet: Packet) -> None:
        """An answer passes from its home to an SM of this partition: keep a copy of what it read; answer who waits."""
        if packet.request in READS:
            way = self.copy_of(packet.line)
            if way:
                self.set_of(packet.line).touch(way)
            else:
                way = self.allocate(-1 - packet.line)
            if way:
                way.valid |= packet.mask
            for place in [(packet.line, sector) for sector in range(self.sectors_per_line)]:
                if self.crossing.get(place) is packet:
                    del self.crossing[place]
        for each in (packet, *packet.followers):
            self.model.interconnect.reply(each, self.number)


class MemoryPort(L2Slice):
    """The memory partition of a GPU without an L2 (NVIDIA's compute capability 1.x): each request reads or writes DRAM.

    It has the queue of a slice and its limits, without its lines. Hong and Kim (ISCA 2009) model these GPUs; CUDA C
    Programming Guide, compute capability 1.x, says what is not cached.
    """

    def look_up_all(self, packet: Packet) -> bool:
        """Send a packet on to memory; an atomic reads first."""
        self.model.statistics.count(packet.op, "l2", packet.access, "miss", {"miss": packet.mask.bit_count()})
        kind = {"write": True} if packet.request is Request.store else {"targets": [packet]}
        self.send(self.memory_request(packet.line, packet.mask, packet.op, **kind))
        return True

    def complete(self, packet: Packet) -> None:
        """A store is answered at once."""
        self.occupy_for(packet)
        if packet.request is Request.store:
            self.model.interconnect.reply(packet, self.number)

    def take_answer(self, answer: Fetch) -> None:
        """Answer the request that a read belongs to; an atomic writes its result."""
        super().take_answer(answer)
        for packet in answer.targets:
            if packet.request in (Request.atomic, Request.reduction):
                self.send(self.memory_request(packet.line, packet.mask, packet.op, write=True))
