"""The TLBs of all SMs, the one they share, and the page walks: lists of packets that wait."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field

import numpy as np
from oracles.cache import Set, Way, mix
from oracles.messages import Packet

from memsim.gpu.choices import Replacement
from memsim.gpu.config import GPU
from memsim.hierarchy.counters import TranslationEvent

Sent = tuple[int, int, Packet]  # rank within a cycle, order, packet


@dataclass(eq=False)
class Miss:
    """Of an SM's TLB."""

    sm: int
    page: int
    way: Way
    packets: list[tuple[int, Packet]] = field(default_factory=list)


@dataclass(eq=False)
class Walk:
    page: int
    loads: list[tuple[int, int]]  # to come: line and mask
    misses: list[Miss] = field(default_factory=list)


def walk_addresses(page: int, lowest: int, highest: int, levels: int) -> list[int]:
    """Offsets of what a walk reads: of each level's tables, packed, the entry that leads to the page."""
    offsets, start = [], 0
    for level in range(levels):
        pages_below = 512 ** (levels - 1 - level)
        first, last = lowest // pages_below, highest // pages_below
        offsets.append(start + 8 * (page // pages_below - first))
        start += -(-8 * (last - first + 1) // 4096) * 4096
    return offsets


class Translation:
    """Between SMs and L2; `world.address` grows by the lines of the page tables."""

    def __init__(self, world, gpu: GPU, key: int) -> None:
        self.world, self.gpu, self.own, self.key = world, gpu, gpu.translation, key
        own, line_bytes = self.own, gpu.l1.line_bytes
        self.page_of = [a // own.page_bytes for a in world.address]
        pages = sorted(set(self.page_of))
        start = -(-(max(world.address) + line_bytes) // 4096) * 4096
        reads = {
            page: [start + o for o in walk_addresses(page, pages[0], pages[-1], own.walk_levels)] for page in pages
        }
        lines = sorted({a // line_bytes for addresses in reads.values() for a in addresses})
        number = {line: len(world.address) + k for k, line in enumerate(lines)}
        self.loads = {
            page: [(number[a // line_bytes], 1 << a % line_bytes // 32) for a in addresses]
            for page, addresses in reads.items()
        }
        world.address += [line * line_bytes for line in lines]
        n, n_shared = own.sm_entries // own.sm_ways, own.shared_entries // own.shared_ways
        self.tlbs = [[Set(own.sm_ways, Replacement.lru, s, key) for s in range(n)] for _ in range(gpu.sm.count)]
        self.shared = [Set(own.shared_ways, Replacement.lru, s, key) for s in range(n_shared)]
        for entry in sorted({self.entry(page) for page in pages}) if own.starts_warm else ():
            self.keep(entry)
        self.queues: list[list[tuple[int, Packet]]] = [[] for _ in self.tlbs]
        self.misses: list[list[Miss]] = [[] for _ in self.tlbs]
        self.walks: dict[int, Walk] = {}  # by entry
        self.waiting: list[Walk] = []
        self.walking = 0
        self.fills: list[tuple[int, int, Miss]] = []
        self.replies: list[tuple[int, int, int, Packet]] = []
        self.translated: list[Sent] = []
        self.counters = np.zeros((world.trace.n_ops, len(TranslationEvent)), np.int64)

    def entry(self, page: int) -> int:
        return page * self.own.page_bytes // self.own.shared_page_bytes

    def keep(self, entry: int) -> None:
        group = self.shared[entry % len(self.shared)]
        group.fill(group.victim(), entry)

    def next_time(self) -> int | None:
        return min([first[0] for first in (*self.fills[:1], *self.replies[:1])], default=None)

    def step(self, time: int, sent: list[Sent]) -> list[Sent]:
        """What goes on to L2 in this cycle, given what the SMs sent."""
        while self.replies and self.replies[0][0] == time:
            self.go_on(self.replies.pop(0)[-1].transaction, time)
        while self.fills and self.fills[0][0] == time:
            self.fill(self.fills.pop(0)[-1], time)
        for rank, _, packet in sent:
            self.queues[packet.sm].append((rank, packet))
            if len(self.queues[packet.sm]) == 1:
                self.drain(packet.sm, time)
        out, self.translated = self.translated, []
        return out

    def emit(self, rank: int, packet: Packet) -> None:
        self.translated.append((rank, next(self.world.order), packet))

    def drain(self, sm: int, time: int) -> None:
        while self.queues[sm] and self.look_up(sm, *self.queues[sm][0], time):
            self.queues[sm].pop(0)

    def look_up(self, sm: int, rank: int, packet: Packet, time: int) -> bool:
        page = self.page_of[packet.line]
        group = self.tlbs[sm][page % len(self.tlbs[sm])]
        way = group.find(page)
        if way:
            group.touch(way)
            miss = next((miss for miss in self.misses[sm] if miss.page == page), None)
            self.count(packet, TranslationEvent.sm_merge if miss else TranslationEvent.sm_hit)
            if miss:
                miss.packets.append((rank, packet))
            else:
                self.emit(rank, packet)
            return True
        way = group.victim()
        if way is None or len(self.misses[sm]) == self.own.sm_misses:
            return False
        group.fill(way, page)
        way.pending = {0}
        self.count(packet, TranslationEvent.sm_miss)
        miss = Miss(sm, page, way, [(rank, packet)])
        self.misses[sm].append(miss)
        self.ask(miss, packet, time)
        return True

    def count(self, packet: Packet, event: TranslationEvent) -> None:
        self.counters[packet.op, event] += 1

    def ask(self, miss: Miss, packet: Packet, time: int) -> None:
        entry = self.entry(miss.page)
        group = self.shared[entry % len(self.shared)]
        way = group.find(entry)
        if way:
            self.count(packet, TranslationEvent.shared_hit)
            group.touch(way)
            self.answer(miss, time)
        elif entry in self.walks:
            self.count(packet, TranslationEvent.shared_merge)
            self.walks[entry].misses.append(miss)
        else:
            self.count(packet, TranslationEvent.shared_miss)
            walk = self.walks[entry] = Walk(miss.page, list(self.loads[miss.page]), [miss])
            self.waiting.append(walk)
            self.start_walks(time)

    def start_walks(self, time: int) -> None:
        while self.waiting and self.walking < self.own.walkers:
            self.walking += 1
            self.go_on(self.waiting.pop(0), time)

    def go_on(self, walk: Walk, time: int) -> None:
        """A walk's next load, or its end."""
        if not walk.loads:
            del self.walks[self.entry(walk.page)]
            self.keep(self.entry(walk.page))
            for miss in walk.misses:
                self.answer(miss, time)
            self.walking -= 1
            self.start_walks(time)
            return
        line, mask = walk.loads.pop(0)
        me = self.gpu.sm.count
        packet = Packet("bypass", line, mask, me, self.world.trace.n_ops, time, transaction=walk)
        self.world.locate(packet)
        self.emit(mix(self.key ^ mix(time * 256 + me)) if self.gpu.stochastic.arbitration else me, packet)

    def answer(self, miss: Miss, time: int) -> None:
        insort(self.fills, (time + self.own.shared_latency_cycles, next(self.world.order), miss))

    def fill(self, miss: Miss, time: int) -> None:
        miss.way.pending = set()
        self.misses[miss.sm].remove(miss)
        for rank, packet in miss.packets:
            self.emit(rank, packet)
        self.drain(miss.sm, time)
