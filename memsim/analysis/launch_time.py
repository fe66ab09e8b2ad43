"""The time of a whole launch from the replay of a part of its blocks.

T(N) = T(B) + (N - B) c: the replay of B blocks as it was, with its start and its end once, and c cycles for each block
more. c is taken while every slot for a block is taken (:mod:`memsim.hierarchy.block_times`), from the later half of
that time, when caches are no longer cold. A replay that stores less than L2 holds defers its write-backs for ever, a
whole launch does not; so c is at least what DRAM takes, at its peak, for a block's sectors with those that it left
dirty, and for turning its bus from reads to each drain of these writes and back. Blocks end before L2 has taken their
stores, which may still be queued when a short replay ends; so c is also at least what L2's slices take, at their peak,
for a block's sectors.

The interval is to hold the whole launch's time. It is widened by how c varies between eighths of the replay (those of
the blocks to come may differ as these do, so their mean differs less), by the share of one generation of blocks among
those replayed, by the deferred write-backs, which may take twice as long as at DRAM's peak and delay blocks by all of
that, and by a last wave that is not full.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import Any

import numpy as np

from memsim.analysis.block_estimate import around, block_estimate, is_sampled
from memsim.analysis.l2_rates import slice_cycles
from memsim.analysis.needed_work import dram_sector_cycles, needed_work
from memsim.analysis.statistics import Interval, Sample, t_factor
from memsim.analysis.utilization import constant_cycles, load_store_cycles, states_work
from memsim.hierarchy.block_times import EIGHTHS
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.montecarlo.trials import Trials

_LATER = EIGHTHS // 2  # eighths that are taken for steady
_TURNOVERS = 2  # of L2, after which its dirty lines are those that the kernel keeps: one in either half
_DEFERRED = 2  # times what deferred write-backs take at DRAM's peak, at most: rows of loads and stores conflict
_SECTOR_BYTES = 32
_READS = [Event.read_hit, Event.read_miss]
_NEW = [Event.write_miss, Event.write_sector_miss]  # sectors that stores bring into L2
_WRITES = [event for event in Event if event.name.startswith("write")]
_STORED = [*_WRITES, *(event for event in Event if event.name.startswith("atomic"))]


@dataclass(frozen=True)
class LaunchTime:
    """Cycles from the first block's start to the last one's end, of the whole launch.

    Attributes:
        cycles: one per trial.
        interval: that is to hold the launch's time; None from one trial of all blocks.
    """

    cycles: Sample
    interval: Interval | None


@dataclass(frozen=True)
class LaunchPart:
    """What was replayed of a launch.

    Attributes:
        launched, replayed: blocks.
        wave: blocks that the GPU holds at once; 0 where a file (of version 1.0) does not state it.
    """

    launched: int
    replayed: int
    wave: int

    @classmethod
    def of(cls, trials: Trials) -> LaunchPart:
        """That of a result."""
        trace = trials.about["trace"]
        return cls(prod(trace["grid"]), trace["blocks"], trace["wave_blocks"])

    @property
    def waves(self) -> float:
        """The whole grid over the replayed part, in waves, of which there is at least one."""
        return max(self.launched, self.wave) / max(self.replayed, self.wave) if self.wave else float("nan")


def launch_time(trials: Trials) -> LaunchTime:
    """The time of the launch that a replay is all or a part of."""
    part = LaunchPart.of(trials)
    if is_sampled(trials):
        return _by_groups(trials)
    cycles = trials.cycles.astype(float)
    if part.launched == part.replayed:
        sample = Sample(cycles)
        return LaunchTime(sample, sample.spread())
    if not trials.full_until.all():
        return _by_waves(trials, cycles, part)
    return _by_rate(trials, cycles, part)


def _by_groups(trials: Trials) -> LaunchTime:
    """Of a sample of all blocks; the interval holds what sampling and the order of warps change."""
    found = block_estimate(trials)
    sample = Sample(found.cycles)
    spread = sample.spread() or Interval(sample.mean, sample.mean)
    return LaunchTime(sample, around(spread, found.half_width))


def _by_waves(trials: Trials, cycles: np.ndarray, part: LaunchPart) -> LaunchTime:
    """Of a part that never fills the GPU: at least as long as its blocks alone, as if SMs held more at no cost.

    No component works faster than its peak, so the launch takes at least as long as the busiest one. Blocks of the part
    find caches empty, which later ones may not, so nothing else bounds the time from below. The launch takes at most as
    long as one such part after another, and at most as long as one block after another on each SM with the busiest
    component's work after these. Writes that the part deferred may come on top of either.
    """
    if np.isnan(part.waves):
        return LaunchTime(Sample(cycles * part.waves), None)
    least = np.maximum(_least_cycles(trials, part), part.launched * _l2_cycles(trials, part))
    sample = Sample(np.maximum(cycles * part.waves, least))
    low, high = sample.values, np.maximum(cycles * part.launched / part.replayed, least + cycles)
    if states_work(trials):
        sms = trials.about["gpu"]["sm"]["count"]
        more, (_, deferred) = part.launched - part.replayed, _dram_cycles(trials, part)
        by_one_block = cycles * part.launched / min(part.launched, sms)
        low, high = least, np.minimum(high, by_one_block + least) + more * _DEFERRED * deferred
    return LaunchTime(sample, Interval(float(low.min()), float(high.max())))


def _least_cycles(trials: Trials, part: LaunchPart) -> float:
    """Cycles that the launch's busiest component works for it, L2's stores aside; 0 where a result does not state it.

    Of DRAM and L2 what the launch cannot avoid: others of their sectors may come for the part's first blocks only.
    """
    if not states_work(trials):
        return 0.0
    sm, times = trials.about["gpu"]["sm"], part.launched / part.replayed
    by_sms = (sum(of(op, sm) for op in trials.ops) for of in (load_store_cycles, constant_cycles))
    needed = needed_work(trials, times).cycles.values()
    return max(*needed, *(times * taken / sm["count"] for taken in by_sms))


def _by_rate(trials: Trials, cycles: np.ndarray, part: LaunchPart) -> LaunchTime:
    eighth = trials.full_until / EIGHTHS
    later = np.diff(trials.blocks_done, axis=1)[:, -_LATER:]
    an_eighth = np.maximum(later.mean(axis=1), 1e-9)  # blocks done in each
    steady = eighth / an_eighth
    moved, deferred = _dram_cycles(trials, part)
    block_cycles = np.maximum.reduce([steady, moved + deferred, _l2_cycles(trials, part)])
    more = part.launched - part.replayed
    generations = trials.blocks_done[:, -1] / part.wave
    eighths_more = more / an_eighth
    of_rates = later.std(axis=1, ddof=1) / an_eighth
    varies = t_factor(_LATER) * of_rates * steady * np.sqrt(1 / eighths_more + 1 / _LATER)
    unsure = np.hypot(varies, block_cycles / (2 * generations))
    # Each of these costs may be that of every block to come.
    low = cycles + more * np.maximum(np.minimum(steady, block_cycles) - unsure, 0)
    high = (
        cycles
        + more * (np.maximum(steady + _DEFERRED * deferred, block_cycles) + unsure)
        + _last_wave(part) * part.wave * block_cycles
    )
    return LaunchTime(Sample(cycles + more * block_cycles), Interval(float(low.min()), float(high.max())))


def _last_wave(part: LaunchPart) -> float:
    """The share of a wave by which the last one falls short, beyond that of the part."""
    short = [ceil(blocks / part.wave) - blocks / part.wave for blocks in (part.launched, part.replayed)]
    return max(short[0] - short[1], 0)


def deferred_writes(trials: Trials) -> np.ndarray:
    """Sectors that the whole launch writes to DRAM beyond the traced part's, times launched over traced blocks: f8 [t].

    What L2 holds dirty at the end of the part will be written, but for as much as L2 can keep at the launch's end. Of a
    whole launch nothing is deferred.
    """
    part = LaunchPart.of(trials)
    if part.launched == part.replayed:
        return np.zeros(len(trials.trial))
    times = part.launched / part.replayed
    return np.where(_turned_over(trials), (times - 1) * _passing(trials), _beyond_capacity(trials, times))


def _beyond_capacity(trials: Trials, times: float) -> np.ndarray:
    """Sectors that L2 cannot hold when a part that leaves it half empty comes so many times: f8 [t].

    L2 can keep the same share of it dirty as of what came in, within the limit on dirty ways.
    """
    l2 = trials.about["gpu"]["l2"]
    limit = (l2["max_dirty_ways"] or l2["ways"]) / l2["ways"]
    share = np.minimum(trials.dirty_sectors / np.maximum(_filled(trials), 1), limit)
    return np.maximum(trials.dirty_sectors * times - share * _l2_sectors(trials), 0)


def _passing(trials: Trials) -> np.ndarray:
    """Dirty sectors of an L2 that was turned over which are not there to stay, so that others follow: f8 [t].

    What became dirty is now in DRAM or dirty in L2. What goes beyond the sectors stored was dirty before the launch. A
    sector that the kernel keeps in L2 is stored to again, at least once in the time in which L2 is filled anew.
    """
    sectors = trials.counters.sum(axis=1)[..., CountUnit.sectors]
    stored = sectors[:, Level.l2, _STORED].sum(axis=1)
    dirty = sectors[:, Level.dram, _WRITES].sum(axis=1) + trials.dirty_sectors
    before = np.maximum(dirty - stored, 0)
    again = np.maximum(stored - dirty, 0)
    kept = again * _l2_sectors(trials) / np.maximum(_filled(trials), 1)
    return np.maximum(trials.dirty_sectors - before - kept, 0.0)


def _turned_over(trials: Trials) -> np.ndarray:
    """Whether a part fills L2 more than once, so that its later half runs in an L2 that is full: bool [t]."""
    return np.asarray(_filled(trials) >= _TURNOVERS * _l2_sectors(trials))


def _filled(trials: Trials) -> np.ndarray:
    """Sectors that came into L2: [t].

    Of the sectors that memory reads, the partition that is not their home keeps copies of those that its SMs load: of
    one in two partitions, half (:mod:`memsim.hierarchy.l2.partitions`).
    """
    sectors = trials.counters.sum(axis=1)[..., CountUnit.sectors]
    copied = 1 - 1 / trials.about["gpu"]["l2"].get("partitions", 1)
    return np.asarray(
        (1 + copied) * sectors[:, Level.dram, _READS].sum(axis=1) + sectors[:, Level.l2, _NEW].sum(axis=1)
    )


def _l2_sectors(trials: Trials) -> int:
    return int(trials.about["gpu"]["l2"]["size_bytes"] // _SECTOR_BYTES)


def _dram_cycles(trials: Trials, part: LaunchPart) -> tuple[np.ndarray, np.ndarray]:
    """SM cycles per block, each [t], that DRAM takes at its peak: for what it moved, for what it has to write yet.

    The latter with the bus idle from the reads to a drain of writes and from there to the next reads, if there are any
    between two drains. Once L2 is turned over, the rate at which blocks end includes their writes.
    """
    gpu: dict[str, Any] = trials.about["gpu"]
    dram, moved = gpu["dram"], _moved_sectors(trials) / part.replayed
    deferred = np.where(_turned_over(trials), 0, deferred_writes(trials)) / (part.launched - part.replayed)
    drains = np.minimum(deferred / _drained_sectors(gpu), moved)
    a_sector = dram_sector_cycles(gpu)
    return moved * a_sector, deferred * a_sector + drains * _idle_cycles(dram, gpu["sm"]["clock_mhz"])


def _drained_sectors(gpu: dict[str, Any]) -> int:
    """Sectors of a drain of writes, each of whose entries has as many of a line's as an entry holds."""
    dram = gpu["dram"]
    an_entry = min(dram.get("entry_sectors", 1), gpu["l2"]["line_bytes"] // _SECTOR_BYTES)
    return int(max(dram["write_high"] - dram["write_low"], 1) * an_entry)


def _moved_sectors(trials: Trials) -> np.ndarray:
    """Sectors that DRAM moved in a trial: [t]."""
    return np.asarray(trials.counters[:, :, Level.dram, :, CountUnit.sectors].sum(axis=(1, 2)))


def _idle_cycles(dram: dict[str, Any], clock_mhz: float) -> float:
    """SM cycles by which a drain of writes between reads delays DRAM, of whose channels one is idle meanwhile."""
    timing = dram["timing"]
    to_writes = timing["rtw"] + timing["cwl"] - timing["cl"] - timing["burst"]
    to_reads = timing["wtr"] + timing["cl"]
    return float(max(to_writes + to_reads, 0) / dram["channels"] * clock_mhz / dram["clock_mhz"])


def _l2_cycles(trials: Trials, part: LaunchPart) -> np.ndarray:
    """SM cycles per block, [t], that L2 takes at its peak; 0 without an L2."""
    l2_enabled = trials.about["gpu"]["l2"]["enabled"]
    return slice_cycles(trials) / part.replayed if l2_enabled else np.zeros(len(trials.trial))
