"""One slice of L2: a list of requests, served one at a time, and of fetches under way."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from oracles.cache import Set, Way, sectors
from oracles.messages import Drop, Fetch, Packet

from memsim.gpu.choices import Inclusion, WriteHit, WriteMiss
from memsim.gpu.config import GPU
from memsim.hierarchy.counters import Event, Level

WORST = ("hit", "merge", "sector_miss", "miss")


@dataclass
class Outcome:
    """What became of one packet so far; it may be served in parts."""

    event: str = "hit"
    units: dict[str, int] = field(default_factory=dict)
    looked_up: set[int] = field(default_factory=set)
    awaits: set[Fetch] = field(default_factory=set)

    def note(self, event: str, hits: int, merges: int, rest: int) -> None:
        self.event = max(self.event, event, key=WORST.index)
        for name, number in (("hit", hits), ("merge", merges), (event, rest)):
            self.units[name] = self.units.get(name, 0) + number


class Slice:
    def __init__(self, world, number: int, gpu: GPU, key: int) -> None:
        self.world, self.number, self.gpu, self.l2 = world, number, gpu, gpu.l2
        l2 = gpu.l2
        self.per_line = l2.line_bytes // 32
        self.per_packet = gpu.l1.line_bytes // l2.line_bytes
        n = l2.size_bytes // l2.slices // l2.line_bytes // l2.ways
        self.sets = [Set(l2.ways, l2.replacement, number * n + s, key) for s in range(n)]
        self.queue: list[Packet] = []
        self.arriving: list[tuple[int, int, int, Packet]] = []  # from the opposite slice, not here yet
        self.answers: list[tuple[int, int, int, Fetch | Packet | Drop]] = []
        self.partition = 2 * number // l2.slices
        self.copied: set[int] = set()  # lines read by SMs of the other partition since they were last written
        self.fetches: list[Fetch] = []
        self.write_backs = 0
        self.free = Fraction(0)  # in SM cycles
        self.clock = Fraction(round(gpu.sm.clock_mhz * 1000), round((l2.clock_mhz or gpu.sm.clock_mhz) * 1000))
        self.blocked = False
        self.outcome = Outcome()
        self.sharers: dict[int, set[int]] = {}  # L1 line -> SMs that asked for it
        self.limit = min(l2.ways, l2.max_dirty_ways or l2.ways)
        self.most_writes = (2 if self.limit == l2.ways else 3) * self.per_packet
        self.mshrs = max(l2.mshrs, self.most_writes)

    def take_over(self, old: Slice) -> None:
        """Hold what the same slice held when the launch before was over. No L1 has any of it."""
        self.copied = set(old.copied)
        for mine, before in zip(self.sets, old.sets, strict=True):
            mine.take_over(before)
            for way in mine.slots:
                way.op = self.world.trace.n_ops  # written by no op of this launch

    def next_time(self) -> int | None:
        times = [self.answers[0][0]] if self.answers else []
        if self.queue and not self.blocked:
            times.append(max(self.queue[0].time, ceil(self.free)))
        times += [self.arriving[0][0]] if self.arriving else []
        return min(times, default=None)

    def opposite(self) -> Slice:
        return self.world.slices[(self.number + self.l2.slices // 2) % self.l2.slices]

    def receive(self, time: int) -> None:
        """Queue what was sent on by the opposite slice and is due."""
        while self.arriving and self.arriving[0][0] == time:
            self.queue.append(self.arriving.pop(0)[-1])

    def step(self, time: int) -> None:
        while self.answers and self.answers[0][0] == time:
            answer = self.answers.pop(0)[-1]
            if isinstance(answer, Fetch):
                self.take_answer(answer, time)
            elif isinstance(answer, Drop):
                if way := self.copy_of(answer):
                    way.valid.clear()
            else:
                self.keep_copy(answer, time)
        while self.queue and not self.blocked and max(self.queue[0].time, ceil(self.free)) <= time:
            if self.is_foreign(self.queue[0]):
                self.send_on(self.queue.pop(0), time)
            elif self.has_room() and self.serve(self.queue[0], time):
                self.complete(self.queue.pop(0), time)
            else:
                self.blocked = True

    def is_foreign(self, packet: Packet) -> bool:
        return self.world.home(packet.line) is not self

    def copy_of(self, packet: Packet | Drop) -> Way | None:
        return self.sets[packet.l2_sets[0]].find(-1 - packet.line)

    def send_on(self, packet: Packet, time: int) -> None:
        """A packet whose home lies opposite: answered from a whole copy, else forwarded."""
        asked = sectors(packet.mask)
        self.occupy(time, self.l2.sector_cycles * len(asked))
        way = self.copy_of(packet) if packet.kind in ("load", "bypass") else None
        if way and asked <= way.valid:
            self.sets[packet.l2_sets[0]].touch(way)
            self.world.count(packet.op, Level.l2, Event.read_hit, {Event.read_hit: len(asked)})
            self.world.to_sm(packet, self.number, time)
            return
        packet.time = time + self.l2.partition_cycles // 2
        insort(self.opposite().arriving, (packet.time, self.number, next(self.world.order), packet))

    def keep_copy(self, packet: Packet, time: int) -> None:
        """An answer on its way from its home, opposite, to an SM of this partition."""
        if packet.kind in ("load", "bypass"):
            group = self.sets[packet.l2_sets[0]]
            way = self.copy_of(packet)
            if way:
                group.touch(way)
            elif way := group.victim():
                self.evict(way, time)
                group.fill(way, -1 - packet.line)
            if way:
                way.valid |= sectors(packet.mask)
        self.world.to_sm(packet, self.number, time)

    def cross_back(self, message: Packet | Drop, time: int) -> None:
        """To the opposite slice; after what DRAM answers in the same cycle."""
        way_back = self.l2.partition_cycles - self.l2.partition_cycles // 2
        rank = self.gpu.dram.channels + self.number
        insort(self.opposite().answers, (time + way_back, rank, next(self.world.order), message))

    def reply(self, packet: Packet, time: int) -> None:
        """To the SM, through the opposite slice if it is connected to that one."""
        if self.l2.partitions == 2 and packet.sm % 2 != self.partition:
            if packet.kind in ("load", "bypass"):
                self.copied.add(packet.line)
            self.cross_back(packet, time)
        else:
            self.world.to_sm(packet, self.number, time)

    def has_room(self) -> bool:
        return len(self.fetches) < self.mshrs and self.write_backs + self.most_writes <= self.mshrs

    def take_answer(self, answer: Fetch, time: int) -> None:
        if self.blocked:
            self.unblock(time)
        if answer.write:
            self.write_backs -= 1
            return
        self.fetches.remove(answer)
        for way, sector in answer.brings:
            way.valid.add(sector)
            way.pending.remove(sector)
        self.outcome.awaits.discard(answer)
        for packet in [p for p in answer.waiting if p.awaits == {answer}]:
            self.reply(packet, time)
        for packet in answer.waiting:
            packet.awaits.discard(answer)

    def serve(self, packet: Packet, time: int) -> bool:
        """Look up what is not looked up yet; False when a line finds all ways of its set pending."""
        if packet.kind == "load":
            self.sharers.setdefault(packet.line, set()).add(packet.sm)
        fetch = Fetch(time, packet.line, 0, packet.op, packet.place)
        self.through: list[Fetch] = []  # what a store's policy does not keep leaves after the lines that had to go
        complete = True
        for position in range(self.per_packet):
            first = position * self.per_line
            asked = {
                s - first for s in sectors(packet.mask) - self.outcome.looked_up if first <= s < first + self.per_line
            }
            if not asked:
                continue
            if not self.look_up(packet, position, asked, fetch, time):
                complete = False
                break
            self.outcome.looked_up |= {s + first for s in asked}
        for write in self.through:
            self.write_memory(write)
        for position in range(self.per_packet):
            if packet.mask >> position * self.per_line & (1 << self.per_line) - 1:
                self.clean(self.sets[packet.l2_sets[position]], time)
        if fetch.brings:
            self.fetches.append(fetch)
            self.world.to_dram(fetch, self.number)
        return complete

    def occupy(self, time: int, clocks: int) -> None:
        """The slice works for some cycles of its clock, from the moment within a cycle in which it got free."""
        begin = self.free if ceil(self.free) == time else Fraction(time)
        self.free = begin + clocks * self.clock

    def unblock(self, time: int) -> None:
        self.blocked = False
        if time > ceil(self.free):
            self.free = Fraction(time)

    def busy(self, packet: Packet) -> int:
        """Cycles of its clock for all sectors of a packet, one after the other."""
        part = max(self.l2.partial_store_cycles or self.l2.sector_cycles, self.l2.sector_cycles)
        return sum(
            part if sector in sectors(packet.partial) else self.l2.sector_cycles for sector in sectors(packet.mask)
        )

    def complete(self, packet: Packet, time: int) -> None:
        self.occupy(time, self.busy(packet))
        outcome, self.outcome = self.outcome, Outcome()
        kind = {"store": "write", "load": "read", "bypass": "read"}.get(packet.kind, "atomic")
        units = {Event[f"{kind}_{name}"]: n for name, n in outcome.units.items()}
        self.world.count(packet.op, Level.l2, Event[f"{kind}_{outcome.event}"], units)
        if packet.kind not in ("load", "bypass") and packet.line in self.copied:
            self.copied.remove(packet.line)
            self.cross_back(Drop(packet.line, packet.l2_sets), time)
        if packet.kind in ("store", "reduction") or not outcome.awaits:
            self.reply(packet, time)
            return
        packet.awaits = outcome.awaits
        for fetch in packet.awaits:
            fetch.waiting.insert(0, packet)  # of the packets that one answer completes, the last served goes first

    def look_up(self, packet: Packet, position: int, asked: set[int], fetch: Fetch, time: int) -> bool:
        store = packet.kind == "store"
        number = packet.line * self.per_packet + position
        group = self.sets[packet.l2_sets[position]]
        way = group.find(number)
        absent = way is None
        if absent:
            if store and self.l2.write_miss == WriteMiss.no_allocate:
                self.through.append(self.write_back(packet.line, position, asked, packet.op, time, packet.place))
                self.outcome.note("miss", 0, 0, len(asked))
                return True
            way = group.victim()
            if way is None:
                return False
            self.evict(way, time)
            group.fill(way, number)
            way.place, way.position = packet.place, position
        else:
            group.touch(way)
        present, pending = asked & way.valid, asked & way.pending - way.valid
        missing = asked - present - pending
        hits = present & way.activated if store and self.l2.write_hit == WriteHit.write_activated else present
        fetched = (
            self.write(packet, way, asked, missing, time)
            if packet.kind != "load" and packet.kind != "bypass"
            else missing
        )
        if hits == asked:
            event = "hit"
        elif hits | pending == asked:
            event = "merge"
        else:
            event = "miss" if absent or self.per_line == 1 else "sector_miss"
        self.outcome.note(event, len(hits), len(pending), len(asked - hits - pending))
        self.request(way, fetched, fetch, position)
        waits_for = [f for f in [*self.fetches, fetch] for w, s in f.brings if w is way and s in asked]
        self.outcome.awaits |= set(waits_for)
        return True

    def write(self, packet: Packet, way: Way, asked: set[int], missing: set[int], time: int) -> set[int]:
        """Mark what is written; returns the sectors to read in."""
        way.op = packet.op
        policy = self.l2.write_miss if packet.kind == "store" else WriteMiss.fetch
        through = missing if policy in (WriteMiss.update_memory, WriteMiss.no_allocate) else set()
        if through:
            self.through.append(self.write_back(packet.line, way.position, through, packet.op, time, way.place))
        way.dirty |= asked - through
        way.activated |= asked if policy != WriteMiss.no_allocate else asked - missing
        if policy == WriteMiss.validate:
            way.valid |= missing
        return missing if policy in (WriteMiss.fetch, WriteMiss.update_memory) else set()

    def request(self, way: Way, missing: set[int], fetch: Fetch, position: int) -> None:
        """Ask for whole sectors of the L2, as far as they are neither here nor under way."""
        group = self.l2.fetch_bytes // 32
        whole = {s // group * group + i for s in missing for i in range(group)} - way.valid - way.pending
        way.pending |= whole
        fetch.brings += [(way, s) for s in sorted(whole)]
        fetch.mask |= sum(1 << s + position * self.per_line for s in whole)

    def write_back(self, line: int, position: int, what: set[int], op: int, time: int, place) -> Fetch:
        mask = sum(1 << s + position * self.per_line for s in what)
        return Fetch(time, line, mask, op, place, write=True)

    def write_memory(self, write: Fetch) -> None:
        self.write_backs += 1
        self.world.to_dram(write, self.number)

    def clean(self, group: Set, time: int) -> None:
        """Too many dirty lines: the first to be replaced is written, and stays; one for each line of a packet."""
        dirty = [way for way in group.order if way.dirty]
        for way in dirty[:1] if len(dirty) > self.limit else []:
            self.write_memory(
                self.write_back(way.line // self.per_packet, way.position, way.dirty, way.op, time, way.place)
            )
            way.dirty.clear()

    def evict(self, way: Way, time: int) -> None:
        if way.line is None:
            return
        line = way.line // self.per_packet
        if way.dirty:
            self.write_memory(self.write_back(line, way.position, way.dirty, way.op, time, way.place))
        if self.l2.inclusion != Inclusion.inclusive or not way.valid:
            return
        whole = self.gpu.l1.sector_bytes == self.gpu.l1.line_bytes
        per_l1_line = self.gpu.l1.line_bytes // 32
        first = way.position * self.per_line
        mask = (1 << per_l1_line) - 1 if whole else sum(1 << s + first for s in way.valid)
        for sm in sorted(self.sharers.get(line, ())):
            self.world.to_sm(Packet("invalidate", line, mask, sm, 0, time), self.number, time)
        if whole or self.per_packet == 1:
            self.sharers.pop(line, None)
