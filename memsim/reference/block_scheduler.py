"""The thread block scheduler: breadth-first over the SMs at the start, then a block for each slot that becomes free.

This is the global scheduler of Baghsorkhi et al. (PPoPP 2012, section 2). What it hands out are work items: blocks, or
the parts into which a random start alignment has cut one (section 3.2.1).
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import simpy

from memsim.reference.clock import CycleStage, Process

if TYPE_CHECKING:
    from memsim.reference.model import ReferenceModel


class BlockScheduler:
    """Launches work items in block slots of SMs.

    Args:
        items: of each work item, the first instruction and the end of each of its warps.
        resident: block slots of an SM.

    Attributes:
        spans: [start, end] of each work item, in cycles.
        freed: (cycle, SM, block slot) of each block slot that became free, in order.
    """

    def __init__(self, model: ReferenceModel, items: list[tuple[list[int], list[int]]], resident: int) -> None:
        self.model, self.clock, self.items = model, model.clock, items
        self.slots = [(sm, slot) for slot in range(resident) for sm in range(model.gpu.sm.count)]
        self.free = simpy.Store(self.clock)
        self.spans = [[0, 0] for _ in items]
        self.running: dict[tuple[int, int], int] = {}  # (SM, block slot) -> item
        self.freed: list[tuple[int, int, int]] = []
        self.interval = Fraction(round((model.gpu.launch.block_cycles or 0) * 256), 256)  # between two blocks
        self.next_block = Fraction(0)
        self.clock.process(self.run())

    def run(self) -> Process:
        for item in range(len(self.items)):
            if item < len(self.slots):
                self.launch(item, *self.slots[item], self.clock.now)
            else:
                sm, slot = yield self.free.get()
                self.launch(item, sm, slot, self.clock.now + self.model.gpu.sm.launch_cycles)

    def launch(self, item: int, sm: int, slot: int, earliest: int) -> None:
        """Launch an item in a block slot of an SM when the GPU can: it starts one block after the other."""
        begin = max(self.next_block, Fraction(earliest))
        self.next_block = begin + self.interval
        self.spans[item][0], self.running[sm, slot] = ceil(begin), item
        self.model.sms[sm].launch(item, slot, *self.items[item], ceil(begin))

    def free_slot(self, sm: int, slot: int) -> None:
        """A block has ended; its slot is free from its SM's turn on."""
        self.clock.call(self.clock.now, (CycleStage.blocks, sm), self._take, sm, slot)

    def _take(self, sm: int, slot: int) -> None:
        self.spans[self.running[sm, slot]][1] = self.clock.now
        self.freed.append((self.clock.now, sm, slot))
        self.free.put((sm, slot))
