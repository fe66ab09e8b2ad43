"""Address translation: a TLB for each SM, one TLB that all share, and page walkers.

L1 is tagged with virtual addresses, so only what leaves an SM is translated. A miss in an SM's TLB goes to the shared
TLB; a miss there starts a walk, which reads one entry of each level's page table through L2 (Pichai et al., ASPLOS
2014; Power et al., HPCA 2014). Requests for a page that is already under way merge with the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import simpy

from memsim.gpu.choices import Replacement
from memsim.reference.cache import CacheSets, Way
from memsim.reference.clock import CycleStage, Process, Signal, after
from memsim.reference.interconnect import Interconnect, Rank
from memsim.reference.packets import Packet, Request

if TYPE_CHECKING:
    from memsim.reference.model import ReferenceModel

ENTRIES = 512  # of a page table
ENTRY_BYTES = 8
TABLE_BYTES = ENTRIES * ENTRY_BYTES


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


class SmTlb:
    """The TLB of one SM, a process that translates its packets in order."""

    def __init__(self, translation: AddressTranslation, key: int) -> None:
        self.translation, own = translation, translation.own
        self.sets = CacheSets(own.sm_entries // own.sm_ways, own.sm_ways, Replacement.lru, 0, key)
        self.waiting: dict[int, list[tuple[Rank, Packet]]] = {}  # page -> who waits for it: its MSHR
        self.queue = simpy.Store(translation.clock)
        self.filled = Signal(translation.clock)
        translation.clock.process(self.run())

    def run(self) -> Process:
        """Process: look up one packet after the other; wait where a miss finds no way or no MSHR."""
        while True:
            rank, packet = yield self.queue.get()
            while not self.look_up(rank, packet):
                yield self.filled.next

    def look_up(self, rank: Rank, packet: Packet) -> bool:
        """Translate a packet's address; False if it has to be tried again."""
        page = self.translation.page_of[packet.line]
        tlb_set = self.sets[page % self.sets.n]
        way = tlb_set.find(page)
        if way:
            tlb_set.touch(way)
            self.translation.count("sm_merge" if page in self.waiting else "sm_hit")
            if page in self.waiting:
                self.waiting[page].append((rank, packet))
            else:
                self.translation.interconnect.enter(rank, packet)
            return True
        way = tlb_set.find_victim()
        if way is None or len(self.waiting) == self.translation.own.sm_misses:
            return False
        tlb_set.fill(way, page)
        way.pending = {page: 1}
        self.waiting[page] = [(rank, packet)]
        self.translation.count("sm_miss")
        self.translation.look_up_shared(self, page, way)
        return True

    def fill(self, page: int, way: Way) -> None:
        """A page arrives: the packets that waited for it go on to L2."""
        way.fill(page)
        for rank, packet in self.waiting.pop(page):
            self.translation.interconnect.enter(rank, packet)
        self.filled.happen()


class AddressTranslation:
    """The TLBs and the page walkers; page tables lie behind the trace's data."""

    def __init__(self, model: ReferenceModel) -> None:
        self.model, self.clock, self.own = model, model.clock, model.gpu.translation
        self.interconnect: Interconnect = model.interconnect
        own = self.own
        self.page_of = [address // own.page_bytes for address in model.virtual_addresses]
        self.reads = self._lay_out_page_tables()
        n = own.shared_entries // own.shared_ways
        self.shared = CacheSets(n, own.shared_ways, Replacement.lru, 0, model.key)
        for entry in sorted({self.entry(page) for page in self.page_of}) if own.starts_warm else ():
            self.insert(entry)
        self.walks: dict[int, simpy.Event] = {}  # shared TLB entry -> ends with its walk
        self.walkers = simpy.Resource(self.clock, own.walkers)
        self.tlbs = [SmTlb(self, model.key) for _ in range(model.gpu.sm.count)]

    def _lay_out_page_tables(self) -> dict[int, list[tuple[int, int]]]:
        """Give the page tables lines behind the data; return (line, sector mask) of each load of a page's walk."""
        addresses, size = self.model.addresses, self.model.gpu.l1.line_bytes
        pages = sorted(set(self.page_of))
        start = -(-(max(addresses.addresses[: len(self.page_of)]) + size) // TABLE_BYTES) * TABLE_BYTES
        entries = {
            page: [start + offset for offset in walk_offsets(page, pages[0], pages[-1], self.own.walk_levels)]
            for page in pages
        }
        for line in sorted({address // size for each in entries.values() for address in each}):
            addresses.number_of(line * size)
        return {
            page: [(addresses.number_of(a // size * size), 1 << a % size // 32) for a in each]
            for page, each in entries.items()
        }

    def entry(self, page: int) -> int:
        """The entry of the shared TLB that covers a page; its pages may be larger."""
        return page * self.own.page_bytes // self.own.shared_page_bytes

    def insert(self, entry: int) -> None:
        tlb_set = self.shared[entry % self.shared.n]
        way = tlb_set.find_victim()
        assert way is not None
        tlb_set.fill(way, entry)

    def count(self, event: str) -> None:
        self.model.statistics.components["translation", event] += 1

    def look_up_shared(self, tlb: SmTlb, page: int, way: Way) -> None:
        """Ask the shared TLB for a page."""
        entry = self.entry(page)
        tlb_set = self.shared[entry % self.shared.n]
        if found := tlb_set.find(entry):
            self.count("shared_hit")
            tlb_set.touch(found)
            self.answer(tlb, page, way)
            return
        self.count("shared_merge" if entry in self.walks else "shared_miss")
        if entry not in self.walks:
            self.walks[entry] = self.clock.event()
            self.clock.process(self.walk(entry, page))
        after(self.walks[entry], self.answer, tlb, page, way)

    def walk(self, entry: int, page: int) -> Process:
        """Process: one page walk, by a walker that is free for it."""
        walker_sm = self.model.gpu.sm.count  # in the place of an SM behind the last
        with self.walkers.request() as walker:
            yield walker
            for line, mask in self.reads[page]:
                packet = Packet(Request.bypass, line, mask, walker_sm, self.model.trace.n_ops, self.clock.now)
                packet.filled = self.clock.event()
                self.interconnect.enter(self.interconnect.rank(walker_sm), packet)
                yield packet.filled
            self.insert(entry)
            self.walks.pop(entry).succeed()

    def answer(self, tlb: SmTlb, page: int, way: Way) -> None:
        """The shared TLB answers an SM's."""
        time = self.clock.now + self.own.shared_latency_cycles
        self.clock.call(time, (CycleStage.translation, 1), tlb.fill, page, way)
