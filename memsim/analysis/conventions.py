"""What "hit ratio" means: counters to ratios under a named convention.

Programs that print a hit ratio disagree on what one is, so every ratio of memsim names its convention. A request finds
its data (hit), finds it on its way (merge, "hit on miss"), finds the line without the sector (sector miss), or finds
nothing (miss):

============  =============================  =====================================================================
convention    counts as a hit                unit
============  =============================  =====================================================================
``model``     hit                            L1 in transactions, L2 in 32-byte sectors
``traffic``   hit, merge                     the same; one minus the share of requests that were sent down a level
``profiler``  hit, merge, and from compute   as the vendor's counters: L1 in transactions before compute capability
              capability 7.0 on all L2       7.0 and in sectors from it on, L2 in sectors
              stores, and L1 stores to
              a line that is present
============  =============================  =====================================================================

A sector missing from a line that is present is a miss to the counters of sectors (``l1tex__t_sectors_*_lookup_hit``,
``_miss``): of Rodinia's backprop on a Quadro GV100 they hold 49,152 hits, which are our hits and merges
(experiments/volta_counters). Rates that count tags instead take it for a hit. Of stores, the counters do count tags:
backprop's eight stores into one line that was not read are one miss (4,232 sectors of 4,096 blocks).
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from memsim.analysis.choices import Convention
from memsim.gpu.architecture import Architecture, architecture
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.montecarlo.trials import Trials


class AccessKind(StrEnum):
    """The kinds of access that are counted."""

    read = "read"
    write = "write"
    atomic = "atomic"


OUTCOMES = ("hit", "miss", "sector_miss", "merge")
FETCHES = (AccessKind.read, AccessKind.atomic)  # what a load or an atomic that returns a value waits for


def outcome_counts(counters: np.ndarray, level: Level, unit: CountUnit, accesses: tuple[AccessKind, ...]) -> np.ndarray:
    """Counts by outcome, [..., 4] in the order of OUTCOMES, of counters [..., levels, events, units]."""
    of_level = counters[..., level, :, unit]
    return sum(
        (of_level[..., [Event[f"{access}_{outcome}"] for outcome in OUTCOMES]] for access in accesses),
        start=np.zeros((*of_level.shape[:-1], len(OUTCOMES)), of_level.dtype),
    )


def of_caches_in_use(trials: Trials) -> np.ndarray:
    """The counters of trials, [t, n_ops + 1, levels, events, units], without misses in caches that nobody asked.

    The machine counts every transaction at L1 and every request at L2; a load that L1 does not serve (all of them, when
    L1 is off), and every request when L2 is off, misses there by design, and a hit ratio of zero would say something
    else.
    """
    counters = trials.counters
    if not trials.about["gpu"]["l2"].get("enabled", True):
        counters = counters.copy()
        counters[:, :, Level.l2] = 0
    off = not trials.about["gpu"]["l1"].get("enabled", True)
    past = [number for number, op in enumerate(trials.ops) if off or op.get("bypass_l1", False)]
    if past and counters is trials.counters:
        counters = counters.copy()
    for outcome in OUTCOMES:
        counters[:, past, Level.l1, Event[f"{AccessKind.read}_{outcome}"]] = 0
    return counters


def _rule(
    level: Level, accesses: tuple[AccessKind, ...], convention: Convention, chip: Architecture
) -> tuple[CountUnit, set[str]]:
    """The unit and the outcomes that count as hits."""
    unit = CountUnit.transactions if level is Level.l1 else CountUnit.sectors
    if convention is Convention.model:
        return unit, {"hit"}
    if convention is Convention.traffic or not chip.sector_counters:
        return unit, {"hit", "merge"}
    if level is Level.l1:
        return CountUnit.sectors, {"hit", "merge", "sector_miss"} if accesses == (AccessKind.write,) else {
            "hit",
            "merge",
        }
    return unit, set(OUTCOMES) if accesses == (AccessKind.write,) else {"hit", "merge"}


def hit_ratio(
    counters: np.ndarray,
    level: Level,
    accesses: tuple[AccessKind, ...] = (AccessKind.read,),
    convention: Convention = Convention.model,
    compute_capability: str = "2.0",
) -> np.ndarray:
    """Hit ratio, [...], of counters [..., levels, events, units]; nan where nothing was accessed.

    Args:
        counters: integer counters, see hierarchy.counters; any leading axes (trials, static instructions).
        level: l1 or l2.
        accesses: kinds of access that the ratio is over.
        convention: what counts as a hit, and in which unit.
        compute_capability: of the GPU; only ``profiler`` depends on it.

    >>> counters = np.zeros((3, 12, 2), int)
    >>> counters[Level.l1, [Event.read_hit, Event.read_miss, Event.read_merge], CountUnit.transactions] = 60, 30, 10
    >>> [float(hit_ratio(counters, Level.l1, convention=name)) for name in (Convention.model, Convention.traffic)]
    [0.6, 0.7]
    """
    hit, total = hits_of(counters, level, accesses, convention, compute_capability)
    return np.divide(hit, total, out=np.full(np.shape(total), np.nan), where=total > 0)


def hits_of(
    counters: np.ndarray,
    level: Level,
    accesses: tuple[AccessKind, ...],
    convention: Convention,
    compute_capability: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Hits and all accesses, each [...], in the convention's unit; arguments as of :func:`hit_ratio`."""
    unit, hits = _rule(level, accesses, convention, architecture(compute_capability))
    counts = outcome_counts(counters, level, unit, accesses)
    return counts[..., [outcome in hits for outcome in OUTCOMES]].sum(axis=-1), counts.sum(axis=-1)
