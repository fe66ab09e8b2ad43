"""An SM's L1: lookups, misses under way, and write policies.

A miss takes an MSHR (Kroft, ISCA 1981), here the event of its packet, which succeeds when the reply is there. Later
misses to the same sectors share that event instead of sending a packet of their own (hit on miss, or merge).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memsim.gpu.choices import FullSet, L1WritePolicy
from memsim.reference.address_map import l1_sets
from memsim.reference.cache_set import CacheSet, CacheSets, Way
from memsim.reference.packets import Packet, Request, mask_of, sectors
from memsim.reference.warp import OutstandingAccess
from memsim.trace.schema import OpKind

if TYPE_CHECKING:
    from memsim.reference.sm import MultiprocessorUnit


class L1Cache:
    """The L1 of one SM, less the ways that its shared memory takes."""

    def __init__(self, sm: MultiprocessorUnit) -> None:
        self.sm, self.model, self.gpu = sm, sm.model, sm.gpu
        l1 = self.l1 = self.gpu.l1
        n = l1_sets(l1)
        reserved = n * l1.ways - (l1.size_bytes - l1.reserved_bytes) // l1.line_bytes
        self.sets = CacheSets(n, l1.ways, l1.replacement, sm.number * n, self.model.key, reserved)
        self.loads = self.stores = 0  # under way to L2 and back

    def look_up(self, access: OutstandingAccess, number: int) -> bool:
        """Look up a transaction; return False if it lacks an MSHR, a way or a store buffer and must try again."""
        trace = self.model.trace
        line, mask = int(trace.lines[number]), int(trace.masks[number])
        if access.kind is OpKind.load:
            cached = self.l1.enabled and not access.bypasses_l1
            return (self.load if cached else self.bypass)(access, line, mask)
        if access.kind is OpKind.atomic:
            return self.bypass(access, line, mask)
        merged = int(trace.merged[number]) if len(trace.merged) else 0
        words = int(trace.words[number]) if len(trace.words) else 0
        return self.store(access, line, mask, int(trace.partial[number]), words, merged)

    def set_of(self, line: int) -> CacheSet:
        """The set of a line."""
        return self.sets[self.model.addresses.l1_set(line)]

    def load(self, access: OutstandingAccess, line: int, mask: int) -> bool:
        """Load sectors through L1."""
        requested, way = sectors(mask), self.set_of(line).find(line)
        hits = requested & way.valid if way else set()
        merges = requested & (way.pending.keys() - hits) if way else set()
        missing = requested - hits - merges
        if not missing and way:
            self.set_of(line).touch(way)
        if hits == requested:
            self.count(access, "read_hit", requested, hits, merges)
            self.sm.load_store.answer_after(access, self.l1.hit_latency_cycles)
            return True
        event = "read_merge" if not missing else "read_sector_miss" if way else "read_miss"
        if missing:
            if self.loads == self.l1.mshrs:
                return False
            if way:
                self.set_of(line).touch(way)
            else:
                way = self.allocate(line)
                if way is None:
                    return self.l1.full_set is FullSet.bypass and self.bypass(access, line, mask)
            packet = self.send_load(Request.load, line, mask_of(missing), access.op)
            way.pending |= dict.fromkeys(missing, packet.filled)
        assert way is not None
        self.sm.load_store.await_data(access, {way.pending[s] for s in requested - hits})
        self.count(access, event, requested, hits, merges)
        return True

    def bypass(self, access: OutstandingAccess, line: int, mask: int) -> bool:
        """Send a load past L1, or an atomic, which L2 carries out and which invalidates L1's copy."""
        if self.loads == self.l1.mshrs:
            return False
        atomic = access.kind is OpKind.atomic
        if atomic:
            self.invalidate(line, sectors(mask))
        packet = self.send_load(Request.atomic if atomic else Request.bypass, line, mask, access.op)
        assert packet.filled is not None
        self.sm.load_store.await_data(access, {packet.filled})
        self.count(access, "atomic_miss" if atomic else "read_miss", sectors(mask), set(), set())
        return True

    def store(self, access: OutstandingAccess, line: int, mask: int, partial: int, words: int, merged: int) -> bool:
        """Store sectors (or send a reduction): what stays in L1 depends on the write policy.

        Sectors in `merged` are not sent: the warp's next store takes them along.
        """
        requested, policy = sectors(mask), self.l1.write_policy
        reduction = access.kind is OpKind.reduction
        cached = not reduction and self.l1.enabled
        keeps = cached and policy is L1WritePolicy.write_back
        fills = cached and policy in (L1WritePolicy.write_back, L1WritePolicy.write_allocate)
        evicts = reduction or policy is L1WritePolicy.write_evict
        way = self.set_of(line).find(line)
        hits = requested & way.valid if way else set()
        event = "miss" if not way else "hit" if hits == requested else "sector_miss"
        sent = mask & ~merged
        if not keeps and sent and self.stores >= self.gpu.sm.max_stores:
            return False
        if fills and not way:
            way = self.allocate(line)
            if way is None and (keeps or self.l1.full_set is not FullSet.bypass):
                return False
        elif way and not evicts:
            self.set_of(line).touch(way)
        if fills and way:
            way.valid |= requested
        if keeps and way:
            way.dirty |= requested
            way.op = access.op
        else:
            if evicts:
                self.invalidate(line, requested)
            if sent:
                self.stores += 1
                request = Request.reduction if reduction else Request.store
                packet = self.sm.send(request, line, sent, access.op)
                packet.partial, packet.words = partial, words
        self.count(access, f"{'atomic' if reduction else 'write'}_{event}", requested, hits, set())
        return True

    def allocate(self, line: int) -> Way | None:
        """Give a line a way, whose dirty sectors leave for L2; None if there is none, or no room for that write."""
        if self.l1.write_policy is L1WritePolicy.write_back and self.stores >= self.gpu.sm.max_stores:
            return None
        way = self.set_of(line).find_victim()
        if way is None:
            return None
        if way.line is not None:
            self.model.home(way.line, self.sm.number).forget_sharer(way.line, self.sm.number)
        self.write_back(way, way.dirty)
        self.set_of(line).fill(way, line)
        way.allocated = self.sm.clock.now
        return way

    def write_back(self, way: Way, dirty: set[int]) -> None:
        """Send dirty sectors to L2."""
        if dirty and way.line is not None:
            self.stores += 1
            self.sm.send(Request.store, way.line, mask_of(dirty), way.op)

    def invalidate(self, line: int, dropped: set[int]) -> None:
        """Drop sectors, all of a line that has no sectors; dirty ones leave for L2."""
        way = self.set_of(line).find(line)
        if not way:
            return
        if self.l1.sector_bytes == self.l1.line_bytes:
            dropped = set(range(8))
        self.write_back(way, way.dirty & dropped)
        way.valid -= dropped
        way.dirty -= dropped
        way.stale |= way.pending.keys() & dropped
        if not way.valid and not way.pending:
            self.set_of(line).drop(way)

    def receive(self, packet: Packet) -> None:
        """Take in a packet from L2."""
        if packet.request is Request.invalidate:
            way = self.set_of(packet.line).find(packet.line)
            if way and way.allocated <= packet.time:  # else the line was requested after L2 had replaced it
                self.invalidate(packet.line, sectors(packet.mask))
            return
        if packet.filled is None:
            self.stores -= 1
            return
        self.loads -= 1
        if packet.request is Request.load:
            self.fill(packet)
        packet.filled.succeed()

    def fill(self, packet: Packet) -> None:
        """The sectors of a miss arrive; those that were invalidated meanwhile are used once and dropped."""
        way, arrived = self.set_of(packet.line).find(packet.line), sectors(packet.mask)
        assert way is not None
        way.valid |= arrived
        for sector in arrived:
            del way.pending[sector]
        stale = way.stale & arrived
        way.stale -= arrived
        if stale:
            self.invalidate(packet.line, stale)

    def send_load(self, request: Request, line: int, mask: int, op: int) -> Packet:
        """Send a request whose reply carries data."""
        self.loads += 1
        return self.sm.send(request, line, mask, op)

    def count(self, access: OutstandingAccess, event: str, requested: set[int], hits: set[int], merges: Any) -> None:
        """Count a transaction, and its sectors by where they were."""
        kind = event.split("_")[0]
        units = {f"{kind}_hit": len(hits), f"{kind}_merge": len(merges)}
        units[event] = units.get(event, 0) + len(requested) - len(hits) - len(merges)
        self.model.statistics.count(access.op, "l1", event, units)
