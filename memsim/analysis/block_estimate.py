"""A whole launch from a replay of some groups of its blocks (:mod:`memsim.hierarchy.block_sample`).

A launch takes what its replayed blocks took, and for each transaction of the other blocks what a transaction took in
the groups that stand for them:

    T = cycles + sum over groups of (weight x cycles of the group / transactions of the group)

and likewise for counts. Where DRAM is busy for more than half of a group's time, blocks advance as fast as DRAM serves
them. A group may begin with room in the queues before DRAM, and would seem too fast while they fill. So its
transactions are those that DRAM served: the sectors that it moved, over the sectors per transaction that the walk of
the blocks right before the group found (a ratio estimate; Cochran, Sampling Techniques, 3rd edition, chapter 6).

The interval due to sampling covers the differences between groups. Their values follow each other in the order of
blocks, so it rests on the squares of differences between neighbours (Wolter, Introduction to Variance Estimation, 2nd
edition, 8.2). Neighbours whose traffic differs are no draws from one population. The walk shows in which proportion the
blocks between them resemble either one; only the difference that this leaves counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memsim.analysis.statistics import Interval, t_factor
from memsim.hierarchy.block_sample import ALIKE, difference, traffic_of, work_of
from memsim.hierarchy.counters import Level
from memsim.montecarlo.trials import Trials

_BUSY = 0.5  # share of a group's time from which on DRAM decides how fast blocks advance
_MISTAKEN = 0.15  # standard error of the proportion in which blocks between two groups are like either


@dataclass(frozen=True)
class BlockEstimate:
    """What a sample of blocks shows of the launch.

    Attributes:
        cycles: f8 [t], of the whole launch.
        counters: f8 [t, levels, events, units], of the whole launch.
        half_width: half of the 95 % interval of the cycles due to sampling.
    """

    cycles: np.ndarray
    counters: np.ndarray
    half_width: float
    _weight: np.ndarray
    _work: np.ndarray
    _of_groups: np.ndarray

    def ratio_half_width(self, hit: np.ndarray, total: np.ndarray) -> float:
        """Half of the 95 % interval due to sampling of a ratio of counts.

        Args:
            hit, total: f8 [levels, events, units], the counts' coefficients in either.
        """
        means, weight = self.counters.mean(axis=0), self._weight.mean(axis=0)
        total_requests = float((means * total).sum())
        if not total_requests:
            return 0.0
        ratio = float((means * hit).sum()) / total_requests
        left = self._of_groups * (hit - ratio * total)
        residual = (left.sum(axis=(-3, -2, -1)) / self._work).mean(axis=0)
        return _half_width(residual, weight, _alike(self._of_groups)) / total_requests


def is_sampled(trials: Trials) -> bool:
    """Whether trials replayed a sample of a launch's blocks."""
    return trials.about.get("sample") is not None


def block_estimate(trials: Trials) -> BlockEstimate:
    """The launch of which trials replayed a sample of blocks."""
    groups = len(trials.about["sample"]["groups"])
    counters = trials.group_counters[:, :groups].astype(float)
    weight, work = trials.group_weight[:, :groups], np.maximum(work_of(counters), 1)
    served = traffic_of(counters)[..., Level.dram - 1]
    cycles_per_transaction = trials.group_cycles[:, :groups] / _advanced(trials, groups, work, served)
    cycles = trials.cycles + (weight * cycles_per_transaction).sum(axis=1)
    total = trials.counters.sum(axis=1) + np.einsum("tg,tgleu->tleu", weight / work, counters)
    half = _half_width(cycles_per_transaction.mean(axis=0), weight.mean(axis=0), _alike(counters))
    return BlockEstimate(cycles, total, half, weight, work, counters)


def _advanced(trials: Trials, groups: int, work: np.ndarray, served: np.ndarray) -> np.ndarray:
    """Transactions by which blocks advanced in each group, f8 [t, groups]."""
    gpu: dict[str, Any] = trials.about["gpu"]
    dram = gpu["dram"]
    sector = dram["timing"]["burst"] / dram["channels"] * gpu["sm"]["clock_mhz"] / dram["clock_mhz"]
    walked = trials.group_traffic[:, :groups]
    busy = served * work * sector > _BUSY * trials.group_cycles[:, :groups]
    of_dram = served / np.where(walked > 0, walked, 1)
    return np.asarray(np.where(busy & (walked > 0), work * of_dram, work))


def _alike(counters: np.ndarray) -> np.ndarray:
    """How far neighbouring groups are draws from one population, [groups - 1], from 0 to 1."""
    traffic = traffic_of(counters.mean(axis=0))
    steps = difference(traffic[:-1], traffic[1:])
    return np.asarray(ALIKE**2 / (ALIKE**2 + (steps**2).sum(axis=-1)))


def _half_width(values: np.ndarray, weight: np.ndarray, alike: np.ndarray) -> float:
    """Half of the 95 % interval of the sum of `weight` times `values`, each [groups]."""
    squared_steps = np.diff(values) ** 2
    variance = float((alike * squared_steps).sum() / 2 / max(float(alike.sum()), 1e-9))
    between = (weight[:-1] + weight[1:]) / 2
    mistaken = float((between**2 * squared_steps * (1 - alike)).sum()) * _MISTAKEN**2
    return t_factor(len(values)) * float(np.sqrt((weight**2).sum() * variance + mistaken))


def around(interval: Interval, half_width: float) -> Interval:
    """An interval widened by an independent one of this half width about its middle."""
    middle, half = (interval.low + interval.high) / 2, interval.width / 2
    wide = float(np.hypot(half, half_width))
    return Interval(middle - wide, middle + wide)
