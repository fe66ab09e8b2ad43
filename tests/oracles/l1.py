"""One SM's L1 and its way to L2: lookups, misses that wait, write policies."""

from __future__ import annotations

from oracles.cache import Set, Way, sectors
from oracles.mapping import l1_sets
from oracles.messages import Packet
from oracles.warps import Flight, Transaction

from memsim.gpu.choices import FullSet, L1WritePolicy
from memsim.gpu.config import GPU
from memsim.hierarchy.counters import Event, Level
from memsim.trace.schema import Kind


class FirstLevel:
    def __init__(self, world, number: int, gpu: GPU, key: int) -> None:
        self.world, self.number, self.gpu, self.key = world, number, gpu, key
        l1 = gpu.l1
        n = l1_sets(l1)
        # Lines, all of a way first, from the last set down.
        short = n * l1.ways - (l1.size_bytes - l1.reserved_bytes) // l1.line_bytes
        reserved = [short // n + (s >= n - short % n) for s in range(n)]
        self.sets = [Set(l1.ways, l1.replacement, number * n + s, key, reserved[s]) for s in range(n)]
        self.loads = self.stores = 0  # under way to L2
        self.waiting: list[Transaction] = []

    def complete(self, flight: Flight, latency: int, time: int) -> None:
        flight.done = max(flight.done, time + latency)
        self.world.latencies[flight.op].append(latency)

    def count(self, flight: Flight, kind: str, event: str, asked: set[int], hits: set[int], merges: set[int]) -> None:
        units = {Event[f"{kind}_hit"]: len(hits), Event[f"{kind}_merge"]: len(merges)}
        name = Event[f"{kind}_{event}"]
        units[name] = units.get(name, 0) + len(asked) - len(hits) - len(merges)
        self.world.count(flight.op, Level.l1, name, units)

    def look_up(self, flight: Flight, time: int) -> bool:
        line, mask = int(self.world.trace.lines[flight.next]), int(self.world.trace.masks[flight.next])
        if flight.kind == Kind.load:
            cached = self.gpu.l1.enabled and not flight.bypass
            return (self.load if cached else self.bypass)(flight, line, mask, time)
        if flight.kind == Kind.atomic:
            return self.bypass(flight, line, mask, time)
        return self.store(flight, line, mask, int(self.world.trace.partial[flight.next]), time)

    def group(self, line: int) -> Set:
        return self.sets[self.world.l1_set[line]]

    def load(self, flight: Flight, line: int, mask: int, time: int) -> bool:
        asked = sectors(mask)
        way = self.group(line).find(line)
        hits = asked & way.valid if way else set()
        merges = asked & way.pending - hits if way else set()
        new = asked - hits - merges
        if hits == asked:
            self.group(line).touch(way)
            self.count(flight, "read", "hit", asked, hits, merges)
            self.complete(flight, self.gpu.l1.hit_latency_cycles, time)
            return True
        event = "merge" if not new else "sector_miss" if way else "miss"
        if new:
            if self.loads == self.gpu.l1.mshrs:
                return False
            if way:
                self.group(line).touch(way)
            else:
                way = self.allocate(line, time)
                if way is None:
                    return self.full_set_bypasses and self.bypass(flight, line, mask, time)
            self.loads += 1
            way.pending |= new
            self.send("load", line, sum(1 << s for s in new), flight.op, time)
        else:
            self.group(line).touch(way)
        self.wait(flight, time, asked - hits, way)
        self.count(flight, "read", event, asked, hits, merges)
        return True

    def wait(self, flight: Flight, time: int, need: set[int], way: Way | None) -> Transaction:
        flight.waits += 1
        transaction = Transaction(flight, time, need, way)
        if way:
            self.waiting.append(transaction)
        return transaction

    def bypass(self, flight: Flight, line: int, mask: int, time: int) -> bool:
        if self.loads == self.gpu.l1.mshrs:
            return False
        self.loads += 1
        atomic = flight.kind == Kind.atomic
        if atomic:
            self.invalidate(line, sectors(mask), time)
        packet = self.send("atomic" if atomic else "bypass", line, mask, flight.op, time)
        packet.transaction = self.wait(flight, time, sectors(mask), None)
        self.count(flight, "atomic" if atomic else "read", "miss", sectors(mask), set(), set())
        return True

    def store(self, flight: Flight, line: int, mask: int, partial: int, time: int) -> bool:
        asked = sectors(mask)
        policy = self.gpu.l1.write_policy
        reduction = flight.kind == Kind.reduction
        cached = not reduction and self.gpu.l1.enabled
        keep = cached and policy == L1WritePolicy.write_back
        fills = cached and policy in (L1WritePolicy.write_back, L1WritePolicy.write_allocate)
        way = self.group(line).find(line)
        hits = asked & way.valid if way else set()
        event = "miss" if not way else "hit" if hits == asked else "sector_miss"
        if not keep and self.stores >= self.gpu.sm.max_stores:
            return False
        if fills and not way:
            way = self.allocate(line, time)
            if way is None and (keep or not self.full_set_bypasses):
                return False
        elif way and not reduction and policy != L1WritePolicy.write_evict:
            self.group(line).touch(way)
        if fills and way:
            way.valid |= asked
        if keep:
            way.dirty |= asked
            way.op = flight.op
        else:
            if reduction or policy == L1WritePolicy.write_evict:
                self.invalidate(line, asked, time)
            self.stores += 1
            packet = self.send("reduction" if reduction else "store", line, mask, flight.op, time)
            packet.partial = partial
        self.count(flight, "atomic" if reduction else "write", event, asked, hits, set())
        return True

    @property
    def full_set_bypasses(self) -> bool:
        return self.gpu.l1.full_set == FullSet.bypass

    def allocate(self, line: int, time: int) -> Way | None:
        back = self.gpu.l1.write_policy == L1WritePolicy.write_back
        if back and self.stores >= self.gpu.sm.max_stores:
            return None
        way = self.group(line).victim()
        if way is None:
            return None
        if way.line is not None:
            self.world.forget(self.number, way.line)
        self.write_back(way, way.dirty, time)
        self.group(line).fill(way, line)
        way.born = time
        return way

    def write_back(self, way: Way, dirty: set[int], time: int) -> None:
        if dirty:
            self.stores += 1
            self.send("store", way.line, sum(1 << s for s in dirty), way.op, time)

    def send(self, kind: str, line: int, mask: int, op: int, time: int) -> Packet:
        packet = Packet(kind, line, mask, self.number, op, time)
        self.world.to_l2(packet)
        return packet

    def invalidate(self, line: int, mask: set[int], time: int) -> None:
        """Drop sectors, all of an unsectored line; dirty ones leave for L2."""
        way = self.group(line).find(line)
        if not way:
            return
        if self.gpu.l1.sector_bytes == self.gpu.l1.line_bytes:
            mask = set(range(8))
        self.write_back(way, way.dirty & mask, time)
        way.valid -= mask
        way.dirty -= mask
        way.poisoned |= way.pending & mask
        if not way.valid and not way.pending:
            self.group(line).drop(way)
