"""The whole machine: warps, SMs, translation, L2 slices and DRAM channels as SimPy processes.

The model has the shape of figure 2 of Baghsorkhi et al. (PPoPP 2012): warp queues and schedulers, an L1 for each SM,
the inter-core scheduler in front of L2, and the queues of main memory. It is written to be read. The compiled engine
replays the same traces much faster, and the tests compare the two bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy as np

from memsim.gpu.choices import Dependence
from memsim.gpu.config import GPU
from memsim.gpu.prefetcher import PrefetcherKind
from memsim.reference.address_map import AddressMap
from memsim.reference.block_scheduler import BlockScheduler
from memsim.reference.clock import Clock, CycleStage
from memsim.reference.dram import Channel
from memsim.reference.interconnect import Interconnect
from memsim.reference.l2 import L2Slice, MemoryPort
from memsim.reference.memory_side import MemorySideCache
from memsim.reference.packets import Fetch, Packet, Receiver, Request, Statistics
from memsim.reference.prefetcher import Observed, PrefetchUnit
from memsim.reference.sm import MultiprocessorUnit
from memsim.reference.translation import AddressTranslation
from memsim.reference.warp import Mbarriers
from memsim.trace.transactions import Transactions


class ReferenceModel:
    """A GPU that replays one trace once.

    Args:
        trace: the coalesced trace.
        gpu: the configuration.
        resident: blocks that an SM holds at once.
        key: of the trial's random draws, below 2**31.
        first, end: i8 [work items, warps of a block], the instructions of each work item's warps.
        physical: byte address of each line in DRAM; None: as in the trace.
        before: a finished replay of an earlier launch, whose L2 contents this one finds.

    Attributes:
        statistics: what was counted.
        cycles: SM cycles from the first block's start to the last warp's end, or to the end of the last store's service
            in L2.
    """

    def __init__(
        self,
        trace: Transactions,
        gpu: GPU,
        resident: int,
        key: int,
        first: np.ndarray,
        end: np.ndarray,
        physical: Sequence[int] | None = None,
        before: ReferenceModel | None = None,
    ) -> None:
        self.trace, self.gpu, self.key, self.cycles = trace, gpu, key, 0
        self.clock, self.statistics = Clock(), Statistics()
        self.virtual_addresses = [int(line) * gpu.l1.line_bytes for line in trace.line_address]
        lines = self.virtual_addresses if physical is None else physical
        self.addresses: AddressMap = AddressMap(gpu, lines, before.addresses if before else None)
        chosen = gpu.prefetcher
        self.prefetcher = None if chosen.kind is PrefetcherKind.none else PrefetchUnit(chosen, gpu.l1.line_bytes)
        self.mbarriers = Mbarriers(self.clock, trace)
        self.interconnect = Interconnect(self)
        self.translation = AddressTranslation(self) if gpu.translation.enabled else None
        self.sms = [MultiprocessorUnit(self, n, resident * trace.warps_per_block) for n in range(gpu.sm.count)]
        partition = L2Slice if gpu.l2.enabled else MemoryPort
        self.slices = [partition(self, n) for n in range(gpu.l2.slices)]
        self.channels = [Channel(self.clock, n, gpu, self.statistics) for n in range(gpu.dram.channels)]
        self.send_to_memory: Callable[[Fetch, Receiver], None] = self.access_dram
        self.memory_side: list[MemorySideCache] = []  # levels from DRAM to L2
        for depth, level in reversed(list(enumerate(gpu.memory_side.each))):
            self.memory_side.append(MemorySideCache(self, level, depth, self.send_to_memory))
            self.send_to_memory = self.memory_side[-1].send
        for mine, old in zip(self.slices, before.slices, strict=True) if before and gpu.l2.enabled else ():
            mine.take_over(old)
        for cache, old_cache in zip(self.memory_side, before.memory_side, strict=True) if before else ():
            cache.take_over(old_cache)
        self.blocks = BlockScheduler(self, list(zip(first.tolist(), end.tolist(), strict=True)), resident)

    def run(self) -> ReferenceModel:
        """Replay the trace until nothing is under way."""
        self.clock.run()
        self.cycles = max(sm.end for sm in self.sms)
        left = (way.prefetched.bit_count() for each in self.slices for way in each.ways)
        self.statistics.components["prefetcher", "left"] = sum(left)
        if self.gpu.launch.waits_for_stores and self.gpu.l2.enabled:
            self.cycles = max(self.cycles, *(ceil(one.free) for one in self.slices))
        return self

    @property
    def unfinished(self) -> int:
        """Work items that have not ended: their warps wait for mbarriers that never complete."""
        return len(self.blocks.items) - len(self.blocks.freed)

    def control(self, instruction: int) -> Any:
        """The control code of an instruction; None of a trace without, or where warps wait at sequences."""
        known = self.gpu.sm.dependence is Dependence.scoreboard and len(self.trace.controls)
        return self.trace.controls[instruction] if known else None

    def home(self, line: int, sm: int) -> L2Slice:
        """The slice of an SM's L2 in which a line lives; several L2s serve the SMs in turn."""
        first = sm % (self.gpu.l2.instances or 1) * self.addresses.l2.slices
        return self.slices[first + self.addresses.home(line)]

    def prefetch_after(self, packet: Packet, missed: bool) -> None:
        """L2 has served a read: request the lines that the prefetcher chooses, from the next cycle on."""
        if self.prefetcher is None or packet.op >= self.trace.n_ops:  # page walks are not watched
            return
        size = self.gpu.l1.line_bytes
        read = Observed(self.addresses.addresses[packet.line] // size, packet.op, packet.sm, missed)
        for line in self.prefetcher.lines_to_fetch(read):
            time, number = self.clock.now + 1, self.addresses.number_of(line * size)
            prefetch = Packet(Request.prefetch, number, (1 << size // 32) - 1, packet.sm, self.trace.n_ops, time)
            home = self.home(number, packet.sm)
            self.statistics.components["prefetcher", "requests"] += 1
            self.clock.call(time, (CycleStage.crossing, home.number), home.queue.put, prefetch)

    def access_dram(self, fetch: Fetch, receiver: Receiver) -> None:
        """Send a request to its DRAM channel."""
        self.statistics.dram_requests.append((fetch.line, fetch.mask))
        self.channels[fetch.location[0]].send(fetch, receiver)
