"""What a replay of sampled blocks does as they start (:mod:`memsim.hierarchy.block_sample`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memsim.hierarchy.block_sample import BlockSample, GroupMeter, work_of
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.functional_walk import walk

if TYPE_CHECKING:
    from memsim.hierarchy.system import System

_SECTOR_BYTES = 32
_TURNOVERS = 1.25  # of L2, by blocks that are walked before a group: sets do not fill evenly
_LAST = 4  # share of skipped blocks, as a divisor, whose traffic counts apart: those right before a group
_READS = [Event.read_hit, Event.read_miss]
_NEW = [Event.write_miss, Event.write_sector_miss]  # sectors that stores bring into L2


class SampledReplay:
    """Measures groups of blocks as they start, and walks the blocks between them.

    Args:
        system: whose work items become those of the sample.
        sample: the blocks.
    """

    def __init__(self, system: System, sample: BlockSample) -> None:
        tx, n_blocks = system.transactions, len(system.transactions.first_warp) - 1
        self._transactions, self._machine, self._sample = tx, system.machine, sample
        self._first, self._end = system.first[:n_blocks], system.end[:n_blocks]
        chosen = sample.chosen(system.block)
        system.first, system.end, system.block = system.first[chosen], system.end[chosen], system.block[chosen]
        self._wave = system.resident * system.gpu.sm.count
        self._l2_sectors = system.gpu.l2.size_bytes // _SECTOR_BYTES
        self.meter = GroupMeter(sample)

    def begin(self, items: int, now: int) -> None:
        """The first blocks have started."""
        self.meter = GroupMeter(self._sample)
        self.started(items, now)

    def started(self, items: int, now: int) -> None:
        """So many work items have started by now."""
        ended = self.meter.take(items, now, self._machine.counters)
        groups = self._sample.groups
        if ended is not None and ended + 1 < len(groups):
            skipped = slice(groups[ended].end, groups[ended + 1].first)
            first, end = self._first[skipped], self._end[skipped]
            work = self._transactions_of(first, end)
            rest = -max(len(work) // _LAST, 1)
            walked = slice(rest - self._walked(ended, work, rest), rest)
            walks = [walked, slice(rest, None)]
            done = np.array([max(int(work[one].sum()), 1) for one in walks])
            traffic = np.array([walk(self._machine, self._wave, first[one], end[one]) for one in walks])
            self.meter.skip(int(work.sum()), traffic.sum(axis=0) / done.sum(), traffic[-1] / done[-1])

    def _transactions_of(self, first: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Of work items, i8 [items]."""
        tx = self._transactions
        before = np.append(tx.instructions["first"], len(tx.lines))
        return np.asarray((before[end] - before[first]).sum(axis=1))

    def _walked(self, group: int, work: np.ndarray, rest: int) -> int:
        """How many of the blocks after a group to walk before the last ones: as many as turn L2 over, by what the group
        brought in."""
        counters = self.meter.counters[group]
        sectors = counters[..., CountUnit.sectors]
        brought = sectors[Level.dram, _READS].sum() + sectors[Level.l2, _NEW].sum()
        needed = _TURNOVERS * self._l2_sectors * float(work_of(counters)) / max(int(brought), 1)
        from_end = np.cumsum(work[::-1])
        return min(int(np.searchsorted(from_end, needed)), len(work) + rest)
