"""Address translation: a TLB for each SM, one TLB that all share, and page walkers.

L1 is tagged with virtual addresses, so only what leaves an SM is translated. A miss in an SM's TLB asks the shared TLB;
a miss there starts a walk, which reads one entry of each level's page table through L2 (Pichai et al., ASPLOS 2014;
Power et al., HPCA 2014). Requests for a page that is already under way merge with the first.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import simpy

from memsim.gpu.choices import Replacement
from memsim.reference.cache_set import CacheSets, Way
from memsim.reference.clock import CycleStage
from memsim.reference.interconnect import Rank
from memsim.reference.packets import Packet, Request

if TYPE_CHECKING:
    from memsim.reference.model import ReferenceModel

ENTRIES = 512  # of a page table
ENTRY_BYTES = 8
TABLE_BYTES = ENTRIES * ENTRY_BYTES
SECTOR_BYTES = 32


def walk_offsets(page: int, lowest: int, highest: int, levels: int) -> list[int]:
    """Offsets of the page table entries that lead to a page, from the root on.

    The tables of one level lie side by side, those of the next level behind them.

    Args:
        page, lowest, highest: virtual page numbers: this one, and the range that the tables cover.
    """
    offsets, start = [], 0
    for level in range(levels):
        covered = ENTRIES ** (levels - 1 - level)  # pages below one entry
        first, last = lowest // covered, highest // covered
        offsets.append(start + ENTRY_BYTES * (page // covered - first))
        start += -(-ENTRY_BYTES * (last - first + 1) // TABLE_BYTES) * TABLE_BYTES
    return offsets


@dataclass(eq=False)
class TlbMiss:
    """A page that an SM's TLB waits for: its MSHR."""

    page: int
    way: Way
    packets: list[tuple[Rank, Packet]]


class SmTlb:
    """The TLB of one SM, a process that translates its packets in order."""

    def __init__(self, translation: AddressTranslation, key: int) -> None:
        self.translation, own = translation, translation.own
        n = own.sm_entries // own.sm_ways
        self.sets = CacheSets(n, own.sm_ways, Replacement.lru, 0, key)
        self.misses: list[TlbMiss] = []
        self.queue = simpy.Store(translation.clock)
        self.filled = translation.clock.event()  # succeeds at the next fill, and is then replaced
        translation.clock.process(self.run())

    def run(self) -> Generator[simpy.Event, Any, None]:
        """Process: look up one packet after the other; wait where a miss finds no way or no MSHR."""
        while True:
            rank, packet = yield self.queue.get()
            while not self.look_up(rank, packet):
                yield self.filled

    def look_up(self, rank: Rank, packet: Packet) -> bool:
        """Translate a packet's address; False if it has to be tried again."""
        translation = self.translation
        page = translation.page_of[packet.line]
        tlb_set = self.sets[page % len(self.sets)]
        way = tlb_set.find(page)
        if way:
            tlb_set.touch(way)
            miss = next((miss for miss in self.misses if miss.page == page), None)
            translation.count(packet, "sm_merge" if miss else "sm_hit")
            if miss:
                miss.packets.append((rank, packet))
            else:
                translation.interconnect.enter(rank, packet)
            return True
        way = tlb_set.find_victim()
        if way is None or len(self.misses) == translation.own.sm_misses:
            return False
        tlb_set.fill(way, page)
        miss = TlbMiss(page, way, [(rank, packet)])
        way.pending = {0: miss}
        translation.count(packet, "sm_miss")
        self.misses.append(miss)
        translation.look_up_shared(self, miss, packet)
        return True

    def fill(self, miss: TlbMiss) -> None:
        """A page arrives: the packets that waited for it go on to L2."""
        miss.way.pending = {}
        self.misses.remove(miss)
        for rank, packet in miss.packets:
            self.translation.interconnect.enter(rank, packet)
        filled, self.filled = self.filled, self.translation.clock.event()
        filled.succeed()


class AddressTranslation:
    """The TLBs and the page walkers; page tables lie behind the trace's data."""

    def __init__(self, model: ReferenceModel) -> None:
        self.model, self.clock, self.own = model, model.clock, model.gpu.translation
        self.interconnect, own = model.interconnect, self.own
        self.page_of = [address // own.page_bytes for address in model.virtual_addresses]
        self._lay_out_page_tables()
        n = own.shared_entries // own.shared_ways
        self.shared = CacheSets(n, own.shared_ways, Replacement.lru, 0, model.key)
        for entry in sorted({self.entry(page) for page in self.page_of}) if own.starts_warm else ():
            self.insert(entry)
        self.walks: dict[int, simpy.Event] = {}  # shared TLB entry -> ends with its walk
        self.walkers = simpy.Resource(self.clock, own.walkers)
        self.tlbs = [SmTlb(self, model.key) for _ in range(model.gpu.sm.count)]

    def _lay_out_page_tables(self) -> None:
        """Give the page tables lines behind the data, and note what a walk for each page reads."""
        addresses, line_bytes = self.model.addresses.addresses, self.model.gpu.l1.line_bytes
        pages = sorted(set(self.page_of))
        start = -(-(max(addresses) + line_bytes) // TABLE_BYTES) * TABLE_BYTES
        reads = {
            page: [start + offset for offset in walk_offsets(page, pages[0], pages[-1], self.own.walk_levels)]
            for page in pages
        }
        lines = sorted({address // line_bytes for entries in reads.values() for address in entries})
        number = {line: len(addresses) + k for k, line in enumerate(lines)}
        self.reads = {
            page: [(number[a // line_bytes], 1 << a % line_bytes // SECTOR_BYTES) for a in entries]
            for page, entries in reads.items()
        }  # page -> (line, sector mask) of each load of its walk
        addresses += [line * line_bytes for line in lines]

    def entry(self, page: int) -> int:
        """The entry of the shared TLB that covers a page; its pages may be larger."""
        return page * self.own.page_bytes // self.own.shared_page_bytes

    def insert(self, entry: int) -> None:
        """Fill an entry into the shared TLB."""
        tlb_set = self.shared[entry % len(self.shared)]
        way = tlb_set.find_victim()
        assert way is not None
        tlb_set.fill(way, entry)

    def count(self, packet: Packet, event: str) -> None:
        """Count a lookup."""
        self.model.statistics.translations[packet.op, event] += 1

    def receive(self, rank: Rank, packet: Packet) -> None:
        """Queue an SM's packet at its TLB."""
        self.tlbs[packet.sm].queue.put((rank, packet))

    def look_up_shared(self, tlb: SmTlb, miss: TlbMiss, packet: Packet) -> None:
        """Ask the shared TLB for a page."""
        entry = self.entry(miss.page)
        tlb_set = self.shared[entry % len(self.shared)]
        way = tlb_set.find(entry)
        if way:
            self.count(packet, "shared_hit")
            tlb_set.touch(way)
            self.answer(tlb, miss)
            return
        self.count(packet, "shared_merge" if entry in self.walks else "shared_miss")
        if entry not in self.walks:
            self.walks[entry] = self.clock.event()
            self.clock.process(self.walk(entry, miss.page))
        callbacks = self.walks[entry].callbacks
        assert callbacks is not None
        callbacks.append(lambda event: self.answer(tlb, miss))

    def walk(self, entry: int, page: int) -> Generator[simpy.Event, Any, None]:
        """Process: one page walk, by a walker that is free for it."""
        with self.walkers.request() as walker:
            yield walker
            for line, mask in self.reads[page]:
                walker_sm = self.model.gpu.sm.count  # in the place of an SM behind the last
                packet = Packet(Request.bypass, line, mask, walker_sm, self.model.trace.n_ops, self.clock.now)
                packet.filled = self.clock.event()
                self.model.addresses.locate(packet)
                self.interconnect.enter(self.interconnect.rank(walker_sm), packet)
                yield packet.filled
            self.insert(entry)
            self.walks.pop(entry).succeed()

    def answer(self, tlb: SmTlb, miss: TlbMiss) -> None:
        """The shared TLB answers an SM's."""
        self.clock.call(self.clock.now + self.own.shared_latency_cycles, (CycleStage.translation, 1), tlb.fill, miss)
