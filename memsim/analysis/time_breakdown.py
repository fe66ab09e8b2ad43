"""What separates a kernel's predicted time from the best possible one, cause by cause.

Bounds in rising order, each the largest of what any component needs for the whole launch; what a bound adds to the one
before is the time of a cause. The work of a replayed part counts for the blocks that were not replayed, too.

1. launch: fixed time of the launch itself.
2. needed work: :mod:`memsim.analysis.speed_of_light`. With the launch it is the best possible time.
3. cold misses, of launches after others: DRAM moves data once that L2 could have held from before.
4. repeated traffic: L2 and DRAM move all sectors that they moved, each access with as few as its lanes need, dense and
   aligned: evicted data come again, and L1s fetch the same data for several SMs.
5. extra sectors: all sectors and wavefronts that they moved, and partial stores.
6. bank conflicts: all passes of shared memory and constants. This bound is the busiest component's time.
7. uneven slices: the time of the slice of L2 that an instruction crowds.

What remains is waiting:

8. tail: from the moment when a slot for a block stays empty, the time in excess of that which the remaining blocks take
   at the mean rate before (as counted in the replay).

Where no component is busy for long, work spread over more warps would take less time, in proportion, down to the bound:

9. idle SMs: those that get no block.
10. occupancy: the warps that an SM holds, of those that it could hold: as many as the GPU allows or the launch has,
    whichever is less.
11. the rest: queueing at a component that is busy for long, else latency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, prod
from typing import Any

import numpy as np

from memsim.analysis.l2_rates import l2_clocks, partial_store_cycles, sector_cycles
from memsim.analysis.launch_time import LaunchPart, deferred_writes
from memsim.analysis.needed_work import ON_CHIP, dram_sector_cycles, least_load_store_cycles
from memsim.analysis.percent import percent
from memsim.analysis.result import RunResult
from memsim.analysis.speed_of_light import SpeedOfLight, speed_of_light
from memsim.analysis.utilization import (
    CONSTANTS,
    DRAM,
    L2,
    LATENCY,
    LOAD_STORE,
    SLICE,
    bound_by,
    busiest_slice_cycles,
    busy_shares,
    constant_cycles,
    load_store_cycles,
)
from memsim.hierarchy.counters import CountUnit, Level

Bounds = Mapping[str, float]  # component -> SM cycles that it needs for the launch


class TimeCause(StrEnum):
    """Why a part of the time is spent."""

    launch = "launch"
    needed = "needed work"
    cold = "cold misses"
    repeated = "repeated traffic"
    sectors = "extra sectors"
    conflicts = "bank conflicts"
    slices = "uneven slices"
    tail = "tail"
    idle = "idle SMs"
    occupancy = "occupancy"
    queueing = "queueing"
    latency = "latency"


@dataclass(frozen=True)
class TimePart:
    """A part of the predicted time.

    Attributes:
        cause: why it is spent.
        milliseconds: of the launch.
        decided_by: the component or the counts that decide.
    """

    cause: TimeCause
    milliseconds: float
    decided_by: str


@dataclass(frozen=True)
class TimeBreakdown:
    """The best possible time, and what separates the predicted time from it.

    Attributes:
        best_possible: milliseconds.
        limit: the component that needs the longest for the needed work.
        parts: of the predicted time, all causes in the order of :class:`TimeCause`; their sum is the predicted time.
    """

    best_possible: float
    limit: str
    parts: tuple[TimePart, ...]

    @classmethod
    def of_launches(cls, first: TimeBreakdown, later: TimeBreakdown, others: float) -> TimeBreakdown:
        """That of a first launch and of as many others like `later`."""
        most = later if others > 1 else first
        parts = tuple(
            TimePart(one.cause, one.milliseconds + others * each.milliseconds, of.decided_by)
            for one, each, of in zip(first.parts, later.parts, most.parts, strict=True)
        )
        best = first.best_possible + others * later.best_possible
        return cls(best, most.limit, parts)

    @property
    def milliseconds(self) -> float:
        """The predicted time."""
        return sum(part.milliseconds for part in self.parts)

    @property
    def of_best(self) -> float:
        """Best possible over predicted time."""
        return self.best_possible / self.milliseconds


def time_breakdown(result: RunResult) -> TimeBreakdown | None:
    """The parts of a result's time; None of results that do not state what the trace requests."""
    best = speed_of_light(result)
    if best is None:
        return None
    part = LaunchPart.of(result.trials)
    times = part.launched / part.replayed
    total = float(result.launch_time.cycles.mean)
    steps: list[tuple[TimeCause, Bounds]] = [(TimeCause.needed, best.cycles)]
    steps += _traffic_bounds(result, best, times)
    found, below = [(TimeCause.launch, float(best.launch_cycles), "fixed cost of a launch")], 0.0
    for cause, bounds in steps:
        component = max(bounds, key=lambda name: bounds[name])
        bound = min(max(below, bounds[component]), total)
        found.append((cause, bound - below, component))
        below = bound
    found += _waiting(result, part, below, total)
    scale = result.ns_per_cycle / 1e6
    return TimeBreakdown(
        best.milliseconds, best.limit, tuple(TimePart(cause, cycles * scale, why) for cause, cycles, why in found)
    )


def _traffic_bounds(result: RunResult, best: SpeedOfLight, times: float) -> Iterator[tuple[TimeCause, Bounds]]:
    """The bounds of steps 3 to 7."""
    gpu, ops = result.trials.about["gpu"], result.trials.ops
    sm, dense = gpu["sm"], _dense_shares(ops)
    counted = result.trials.counters[..., CountUnit.sectors].mean(axis=0)
    moved = counted[:, Level.dram].sum(axis=1) * times * dram_sector_cycles(gpu)
    later = float(deferred_writes(result.trials).mean()) * dram_sector_cycles(gpu)
    needed, repeated = best.cycles, {DRAM: dense @ moved + later}
    extra = {DRAM: float(moved.sum()) + later}
    if gpu["l2"]["enabled"]:
        clocks = gpu["l2"]["slices"] * l2_clocks(gpu) / times
        served = counted[:, Level.l2] @ sector_cycles(gpu["l2"]) / clocks
        repeated[L2] = dense @ served
        extra[L2] = float(served.sum()) + sum(partial_store_cycles(op, gpu["l2"]) for op in ops) / clocks
    off_chip = sum(load_store_cycles(op, sm) for op in ops if op["space"] not in ON_CHIP)
    on_chip = sum(least_load_store_cycles(op, gpu) for op in ops if op["space"] in ON_CHIP)
    extra[LOAD_STORE] = (off_chip + on_chip) * times / sm["count"]
    everything = {
        LOAD_STORE: sum(load_store_cycles(op, sm) for op in ops) * times / sm["count"],
        CONSTANTS: sum(constant_cycles(op, sm) for op in ops) * times / sm["count"],
    }
    yield TimeCause.cold, {**needed, DRAM: min(repeated[DRAM], best.cold_dram_cycles)}
    yield TimeCause.repeated, {**needed, **repeated}
    yield TimeCause.sectors, {**needed, **extra}
    yield TimeCause.conflicts, {**needed, **extra, **everything}
    crowded = max((busiest_slice_cycles(op, gpu) for op in ops), default=0.0) if SLICE in busy_shares(result) else 0.0
    yield TimeCause.slices, {SLICE: crowded * times}


def _dense_shares(ops: list[dict[str, Any]]) -> np.ndarray:
    """Of each op, the share of its sectors that dense and aligned lanes would need; last, that of all, for write-backs.

    f8 [ops + 1], 0 to 1.
    """
    least = np.array([op["profile"]["least_sectors"] for op in ops] or [0], float)
    sectors = np.array([op["profile"]["sectors"] for op in ops] or [0], float)
    each = np.minimum(1, np.where(sectors > 0, least / np.maximum(sectors, 1), 1))[: len(ops)]
    return np.append(each, min(1.0, least.sum() / max(sectors.sum(), 1)) if sectors.sum() else 1.0)


def _waiting(result: RunResult, part: LaunchPart, bound: float, total: float) -> Iterator[tuple[TimeCause, float, str]]:
    """What no component's work explains: steps 8 to 11."""
    left = total - bound
    tail = min(left, _tail_cycles(result, part))
    yield TimeCause.tail, tail, f"{_blocks(part.launched)}, {part.wave:,} at a time"
    left, spread = left - tail, total - tail
    limit, busy = bound_by(result)
    queued = left if limit != LATENCY else 0.0
    sms, (held, could) = result.trials.about["gpu"]["sm"]["count"], _warps(result, part)
    idle = min(left - queued, spread * max(0.0, 1 - part.launched / sms))
    few = min(left - queued - idle, (spread - idle) * (1 - held / could))
    yield TimeCause.idle, idle, f"{_blocks(part.launched)} for {sms:,} SMs"
    yield TimeCause.occupancy, few, f"an SM holds {held:,} of {could:,} warps"
    yield TimeCause.queueing, queued, f"{limit}, busy for {percent(busy)} of the replay"
    waiting = left - queued - idle - few
    yield TimeCause.latency, waiting, f"no component is busy for more than {percent(busy)} of the replay"


def _blocks(count: int) -> str:
    return f"{count:,} block{'s' * (count != 1)}"


def _tail_cycles(result: RunResult, part: LaunchPart) -> float:
    """Cycles for which the last blocks of a replay take longer than at the rate of all before; 0 if not known."""
    trials = result.trials
    done, full = trials.blocks_done[:, -1], trials.full_until
    known = (full > 0) & (done > 0)
    at_rate = (part.replayed - done) * full / np.maximum(done, 1e-9)
    return float(np.where(known, np.maximum(trials.cycles - full - at_rate, 0), 0).mean())


def _warps(result: RunResult, part: LaunchPart) -> tuple[int, int]:
    """The warps that an SM holds at a time, and those that it could hold."""
    trace, sm = result.trials.about["trace"], result.trials.about["gpu"]["sm"]
    warps = ceil(prod(trace["block"]) / sm["warp_size"])
    blocks = ceil(part.launched / sm["count"])  # of the launch, for an SM
    could = min(blocks * warps, sm["max_warps"])
    held = min(part.wave // sm["count"], blocks) * warps if part.wave else could  # older files do not state it
    return min(held, could), could
