"""An SM's L1: lookups, misses under way, and write policies.

A miss takes an MSHR (Kroft, ISCA 1981), here the event of its packet, which succeeds when the reply is there. Later
misses to the same sectors share that event instead of sending a packet of their own (hit on miss, or merge).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from memsim.gpu.choices import FullSet, L1WritePolicy
from memsim.reference.cache import CacheSet, CacheSets, Way
from memsim.reference.packets import WITH_DATA, Packet, Request
from memsim.reference.warp import OutstandingAccess
from memsim.trace.schema import OpKind

if TYPE_CHECKING:
    from memsim.reference.sm import MultiprocessorUnit


class L1Cache:
    """The L1 of one SM, less the ways that its shared memory takes."""

    def __init__(self, sm: MultiprocessorUnit) -> None:
        self.sm, self.model, self.gpu = sm, sm.model, sm.gpu
        l1 = self.l1 = self.gpu.l1
        self.sets = CacheSets(l1.sets, l1.ways, l1.replacement, sm.number * l1.sets, self.model.key, l1.reserved_ways)
        self.loads = self.stores = 0  # under way to L2 and back
        policies = {l1.write_policy, *([l1.policy_of_local] if len(self.model.trace.local) else [])}
        self.writes_back = L1WritePolicy.write_back in policies

    def set_of(self, line: int) -> CacheSet:
        return self.sets[self.model.addresses.l1_set(line)]

    def look_up(self, access: OutstandingAccess, number: int) -> bool:
        """Look up a transaction; return False if it lacks an MSHR, a way or a store buffer and must try again."""
        line, mask = int(self.model.trace.lines[number]), int(self.model.trace.masks[number])
        if access.kind is OpKind.load and self.l1.enabled and not access.bypasses_l1:
            return self.load(access, line, mask)
        if access.kind in (OpKind.load, OpKind.atomic):
            return self.bypass(access, line, mask)
        return self.store(access, line, mask, number)

    def load(self, access: OutstandingAccess, line: int, mask: int) -> bool:
        way = self.set_of(line).find(line)
        hits = mask & way.valid if way else 0
        merges = mask & way.under_way & ~hits if way else 0
        missing = mask & ~hits & ~merges
        event = "hit" if hits == mask else "merge" if not missing else "sector_miss" if way else "miss"
        if missing and self.loads == self.l1.mshrs:
            return False
        if way:
            self.set_of(line).touch(way)
        else:
            way = self.allocate(line)
            if way is None:
                return self.l1.full_set is FullSet.bypass and self.bypass(access, line, mask)
        if missing:
            way.pending[self.send(Request.load, line, missing, access.op).filled] = missing
        self.count(access, "read", event, mask, hits, merges)
        if hits == mask:
            self.sm.load_store.answer_after(access, self.l1.hit_latency_cycles)
        else:
            self.sm.load_store.await_data(access, way.mshrs(mask & ~hits))
        return True

    def bypass(self, access: OutstandingAccess, line: int, mask: int) -> bool:
        """Send a load past L1, or an atomic, which L2 carries out and which invalidates L1's copy."""
        if self.loads == self.l1.mshrs:
            return False
        atomic = access.kind is OpKind.atomic
        if atomic:
            self.invalidate(line, mask)
        packet = self.send(Request.atomic if atomic else Request.bypass, line, mask, access.op)
        assert packet.filled is not None
        self.count(access, packet.access, "miss", mask)
        self.sm.load_store.await_data(access, [packet.filled])
        return True

    def store(self, access: OutstandingAccess, line: int, mask: int, number: int) -> bool:
        """Store sectors (or send a reduction): what stays in L1 depends on the write policy.

        Sectors that the trace has merged are not sent: the warp's next store takes them along.
        """
        trace, reduction = self.model.trace, access.kind is OpKind.reduction
        local = bool(len(trace.local) and trace.local[access.op])
        policy = self.l1.policy_of_local if local else self.l1.write_policy
        cached = not reduction and self.l1.enabled
        keeps = cached and policy is L1WritePolicy.write_back
        fills = cached and policy in (L1WritePolicy.write_back, L1WritePolicy.write_allocate)
        evicts = reduction or policy is L1WritePolicy.write_evict
        way = self.set_of(line).find(line)
        hits = mask & way.valid if way else 0
        event = "miss" if not way else "hit" if hits == mask else "sector_miss"
        sent = 0 if keeps else mask & ~(int(trace.merged[number]) if len(trace.merged) else 0)
        if sent and self.stores >= self.gpu.sm.max_stores:
            return False
        if fills and not way:
            way = self.allocate(line)
            if way is None and (keeps or self.l1.full_set is not FullSet.bypass):
                return False
        elif way and not evicts:
            self.set_of(line).touch(way)
        if fills and way:
            way.valid |= mask
        if keeps and way:
            way.dirty |= mask
            way.op = access.op
            if local:
                way.owner = access.warp.block.slot
        if evicts:
            self.invalidate(line, mask)
        if sent:
            packet = self.send(Request.reduction if reduction else Request.store, line, sent, access.op)
            packet.partial = int(trace.partial[number])
            packet.words = int(trace.words[number]) if len(trace.words) else 0
        self.count(access, "atomic" if reduction else "write", event, mask, hits)
        return True

    def allocate(self, line: int) -> Way | None:
        """Give a line a way, whose dirty sectors leave for L2; None if there is none, or no room for that write."""
        if self.writes_back and self.stores >= self.gpu.sm.max_stores:
            return None
        way = self.set_of(line).find_victim()
        if way is None:
            return None
        if way.line is not None:  # a replacement hint: the directory in L2 need not invalidate the line here
            self.model.home(way.line, self.sm.number).sharers[way.line].discard(self.sm.number)
        self.write_back(way, way.dirty)
        self.set_of(line).fill(way, line)
        way.allocated = self.sm.clock.now
        return way

    def write_back(self, way: Way, dirty: int) -> None:
        if dirty and way.line is not None:
            self.send(Request.store, way.line, dirty, way.op)

    def invalidate(self, line: int, dropped: int) -> None:
        """Drop sectors, all of a line that has no sectors; dirty ones leave for L2."""
        way = self.set_of(line).find(line)
        if not way:
            return
        if self.l1.sector_bytes == self.l1.line_bytes:
            dropped = 0xFF
        self.write_back(way, way.dirty & dropped)
        way.valid &= ~dropped
        way.dirty &= ~dropped
        way.stale |= way.under_way & dropped
        if not way.valid and not way.pending:
            self.set_of(line).drop(way)

    def drop_local(self, block_slot: int) -> None:
        """A block has ended, and its local memory with it: nothing reads what its lines hold."""
        for cache_set in self.sets.values():
            for way in cache_set.ways:
                if way.owner == block_slot:
                    way.valid, way.dirty, way.owner = 0, 0, None
                    if not way.pending:
                        cache_set.drop(way)

    def send(self, request: Request, line: int, mask: int, op: int) -> Packet:
        packet = Packet(request, line, mask, self.sm.number, op, self.sm.clock.now)
        if request in WITH_DATA:
            self.loads += 1
            packet.filled = self.sm.clock.event()
        else:
            self.stores += 1
        self.model.interconnect.send(packet)
        return packet

    def receive(self, packet: Packet) -> None:
        if packet.request is Request.invalidate:
            way = self.set_of(packet.line).find(packet.line)
            if way and way.allocated <= packet.time:  # else the line was requested after L2 had replaced it
                self.invalidate(packet.line, packet.mask)
        elif packet.filled is None:
            self.stores -= 1
        else:
            self.loads -= 1
            if packet.request is Request.load:
                self.fill(packet)
            packet.filled.succeed()

    def fill(self, packet: Packet) -> None:
        """The sectors of a miss arrive; those that were invalidated meanwhile are used once and dropped."""
        way = self.set_of(packet.line).find(packet.line)
        assert way is not None
        way.fill(packet.filled)
        stale = way.stale & packet.mask
        way.stale &= ~packet.mask
        if stale:
            self.invalidate(packet.line, stale)

    def count(
        self, access: OutstandingAccess, kind: str, event: str, mask: int, hits: int = 0, merges: int = 0
    ) -> None:
        """Count a transaction, and its sectors by where they were."""
        sectors = Counter(hit=hits.bit_count(), merge=merges.bit_count())
        sectors[event] += (mask & ~hits & ~merges).bit_count()
        self.model.statistics.count(access.op, "l1", kind, event, sectors)
