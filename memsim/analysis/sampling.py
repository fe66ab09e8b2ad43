"""Intervals of time and hit ratios that are due to sampling of blocks, apart from those due to the order of warps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.analysis.block_estimate import BlockEstimate, block_estimate
from memsim.analysis.choices import Convention
from memsim.analysis.conventions import AccessKind, hits_of, of_caches_in_use
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.montecarlo.trials import Trials

RATIOS = {
    "l1_read": (Level.l1, AccessKind.read),
    "l2_read": (Level.l2, AccessKind.read),
    "l2_write": (Level.l2, AccessKind.write),
}


@dataclass(frozen=True)
class Sampling:
    """A sample of a launch's blocks, and the half widths of the 95 % intervals that are due to it.

    Attributes:
        blocks: replayed in time.
        launched: all blocks of the launch.
        groups: of consecutive blocks.
        time_ms: of the launch's time, milliseconds.
        ratios: of each hit ratio, by name; nan of a ratio of accesses that the kernel does not make.
    """

    blocks: int
    launched: int
    groups: int
    time_ms: float
    ratios: dict[str, float]


def sampling(trials: Trials, convention: Convention, ns_per_cycle: float) -> Sampling:
    """The intervals due to sampling, of trials that replayed a sample of blocks."""
    about, found = trials.about, block_estimate(trials)
    return Sampling(
        blocks=about["trace"]["blocks"],
        launched=about["sample"]["traced"],
        groups=len(about["sample"]["groups"]),
        time_ms=found.half_width * ns_per_cycle / 1e6,
        ratios={name: _half_width(found, trials, *of, convention) for name, of in RATIOS.items()},
    )


def sampled_ratio(trials: Trials, level: Level, access: AccessKind, convention: Convention) -> np.ndarray:
    """A hit ratio of the whole launch, [t].

    Where some ops bypass L1 or a cache is off, it is that of the replayed blocks: groups do not count by op.
    """
    capability = trials.about["gpu"]["compute_capability"]
    counters = of_caches_in_use(trials).sum(axis=1)
    if np.array_equal(counters, trials.counters.sum(axis=1)):
        counters = block_estimate(trials).counters
    hit, total = hits_of(counters, level, (access,), convention, capability)
    return np.divide(hit, total, out=np.full(np.shape(total), np.nan), where=total > 0)


def _half_width(
    found: BlockEstimate, trials: Trials, level: Level, access: AccessKind, convention: Convention
) -> float:
    """Of one ratio; its counts are linear in the counters, so counts of one each show their coefficients."""
    shape = len(Level), len(Event), len(CountUnit)
    one_each = np.eye(int(np.prod(shape))).reshape(-1, *shape)
    capability = trials.about["gpu"]["compute_capability"]
    hit, total = (one.reshape(shape) for one in hits_of(one_each, level, (access,), convention, capability))
    if not (found.counters * total).any():
        return float("nan")
    return found.ratio_half_width(hit, total)
