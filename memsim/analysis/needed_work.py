"""How long each part of the GPU works at least for a launch: for work that no other layout of its data avoids.

:mod:`memsim.analysis.speed_of_light` describes what counts for each part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsim.analysis.l2_rates import l2_clocks, read_cycles
from memsim.analysis.utilization import (
    DRAM,
    ISSUE,
    L2,
    LOAD_STORE,
    SECTOR_BYTES,
    constant_cycles,
    lane_cycles,
    pipe_name,
    warp_instructions,
)
from memsim.montecarlo.trials import Trials

_BYTES_PER_CYCLE = 128  # of an L1's data stage, where a preset does not say
ON_CHIP = ("shared", "constant")
_READS, _WRITES = ("load",), ("store",)


@dataclass(frozen=True)
class NeededWork:
    """The work of a launch that cannot be avoided.

    Attributes:
        cycles: part of the GPU -> SM cycles that it needs for the whole launch, all its units sharing the work.
        dram_bytes: that must move.
        cold_dram_cycles: that DRAM needs where L2 holds nothing from before the launch.
    """

    cycles: Mapping[str, float]
    dram_bytes: float
    cold_dram_cycles: float


def needed_work(trials: Trials, times: float) -> NeededWork:
    """The needed work of a launch of so many times the replayed blocks; its trials state what the trace executes."""
    about = trials.about
    gpu = about["gpu"]
    read, written = (_needed(trials, kinds, times) for kinds in (_READS, _WRITES))
    cold, moved = _through_dram(trials, read, written)
    cycles = {
        DRAM: moved * dram_sector_cycles(gpu),
        LOAD_STORE: times * sum(least_load_store_cycles(op, gpu) for op in trials.ops) / gpu["sm"]["count"],
        ISSUE: times * _issue(trials),
    }
    if gpu["l2"]["enabled"]:
        cycles[L2] = read * read_cycles(gpu["l2"]) / (gpu["l2"]["slices"] * l2_clocks(gpu))
    cycles |= {name: times * value for name, value in _pipes(about)}
    return NeededWork(cycles, moved * SECTOR_BYTES, cold * dram_sector_cycles(gpu))


def _needed(trials: Trials, kinds: tuple[str, ...], times: float) -> float:
    """Sectors of off-chip memory that the whole launch needs whose first access is of these kinds.

    Of each array the distinct ones, or as many as the bytes of all its accesses would fill, whichever is less.
    """
    arrays: dict[int, list[Mapping[str, int]]] = {}
    for op in trials.ops:
        if op["kind"] in kinds and op["space"] not in ON_CHIP:
            arrays.setdefault(op["array"], []).append(op["profile"])
    return sum(
        min(_distinct(profiles, times), times * sum(one["least_sectors"] for one in profiles))
        for profiles in arrays.values()
    )


def _distinct(profiles: Sequence[Mapping[str, int]], times: float) -> float:
    first = sum(one["first_sectors"] for one in profiles)
    by_block = sum(one["block_sectors"] for one in profiles)
    of_one_block = max(0, 2 * first - by_block)  # at least so many: those of several blocks count twice or more
    return first + (times - 1) * of_one_block


def _through_dram(trials: Trials, read: float, written: float) -> tuple[float, float]:
    """Sectors, where L2 holds nothing from before the launch, and as it is."""
    l2 = trials.about["gpu"]["l2"]
    if not l2["enabled"]:
        return read + written, read + written
    held = l2["size_bytes"] / SECTOR_BYTES
    dirty = held * (l2.get("max_dirty_ways") or l2["ways"]) / l2["ways"]
    warm = trials.about.get("warm") or trials.about.get("launches_before")
    stored = max(0.0, written - dirty)
    return read + stored, (max(0.0, read - held) if warm else read) + stored


def dram_sector_cycles(gpu: Mapping[str, Any]) -> float:
    """SM cycles of a sector on the data buses of all channels together."""
    dram = gpu["dram"]
    return float(dram["timing"]["burst"] / dram["channels"] * gpu["sm"]["clock_mhz"] / dram["clock_mhz"])


def least_load_store_cycles(op: Mapping[str, Any], gpu: Mapping[str, Any]) -> float:
    """SM cycles of load-store units for an op whose lanes are dense and aligned and meet no bank conflict."""
    of, sm = op["profile"], gpu["sm"]
    if constant_cycles(op, sm):
        return 0.0
    if op["space"] in ON_CHIP:
        passes = min(of["least_passes"], of["passes"])  # fewer where lanes share words
        return float(max(passes * sm["pass_cycles"], lane_cycles(op, sm)))
    dense = of["least_sectors"] * SECTOR_BYTES / (gpu["l1"].get("bytes_per_cycle") or _BYTES_PER_CYCLE)
    lookups = max(dense, of["instructions"] if of["transactions"] else 0)
    return float(max(lookups * sm["lookup_cycles"], lane_cycles(op, sm)))


def _issue(trials: Trials) -> float:
    sm = trials.about["gpu"]["sm"]
    return warp_instructions(trials) * sm["issue_cycles"] / (sm["count"] * sm["issue_per_cycle"])


def _pipes(about: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    count = about["gpu"]["sm"]["count"]
    for name, taken in (about["executed"].get("pipe_cycles") or {}).items():
        if taken:
            yield pipe_name(name), taken / count
