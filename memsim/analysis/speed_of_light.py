"""The best possible time of a kernel on a GPU: what its work takes where nothing is wasted and nothing waits.

The largest of what each part of the GPU needs for the work that no other version of the same instructions and the same
data can avoid (the roofline model of Williams, Waterman and Patterson, CACM 52(4), 2009, with one roof per part):

- DRAM's data bus, at its peak: every distinct sector that is read before it is written, once; every distinct sector
  that is written first, once, but for as much as L2 may keep dirty at the end. After other launches L2 may hold as much
  of the reads. Of sectors that lanes use in part, as few as their bytes would fill in another layout.
- L2: the sectors that are read, once, over the slices' rate.
- L1: every instruction's lanes as dense and aligned as they can be, and shared memory without bank conflicts; no less
  than load-store units need to accept the lanes.
- Issue slots, and the pipes of each class of instructions: as many as the trace executes.

To the largest comes the time of the launch itself. Of a launch of which a part was replayed, the rest is taken to be
like it: sectors that only one block asks for grow with the blocks, shared ones do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsim.analysis.l2_rates import l2_clocks, read_cycles
from memsim.analysis.launch_time import LaunchPart
from memsim.analysis.profiler import SECTOR_BYTES
from memsim.analysis.result import RunResult
from memsim.analysis.utilization import (
    DRAM,
    ISSUE,
    L2,
    LOAD_STORE,
    constant_cycles,
    lane_cycles,
    pipe_name,
    warp_instructions,
)

_BYTES_PER_CYCLE = 128  # of an L1's data stage, where a preset does not say
ON_CHIP = ("shared", "constant")
_READS, _WRITES = ("load",), ("store",)


@dataclass(frozen=True)
class SpeedOfLight:
    """The best possible time.

    Attributes:
        cycles: part of the GPU -> SM cycles that it needs for the whole launch, all its units sharing the work.
        launch_cycles: SM cycles of the launch itself, which come on top.
        dram_bytes: that must move.
        cold_dram_cycles: that DRAM needs where L2 holds nothing from before the launch.
        ns_per_cycle: nanoseconds of an SM cycle.
    """

    cycles: Mapping[str, float]
    launch_cycles: int
    dram_bytes: float
    cold_dram_cycles: float
    ns_per_cycle: float

    @property
    def limit(self) -> str:
        """The part that needs the longest."""
        return max(self.cycles, key=lambda part: self.cycles[part])

    @property
    def milliseconds(self) -> float:
        """The best possible time of the launch."""
        return (self.cycles[self.limit] + self.launch_cycles) * self.ns_per_cycle / 1e6


def speed_of_light(result: RunResult) -> SpeedOfLight | None:
    """The best possible time of a result's launch; None of results that do not state what the trace asks for."""
    about = result.trials.about
    if "executed" not in about or not all("profile" in op for op in result.trials.ops):
        return None
    gpu, part = about["gpu"], LaunchPart.of(result.trials)
    times = part.launched / part.replayed
    read, written = (_needed(result, kinds, times) for kinds in (_READS, _WRITES))
    cold, moved = _through_dram(result, read, written)
    cycles = {
        DRAM: moved * dram_sector_cycles(gpu),
        LOAD_STORE: times * sum(least_load_store_cycles(op, gpu) for op in result.trials.ops) / gpu["sm"]["count"],
        ISSUE: times * _issue(result),
    }
    if gpu["l2"]["enabled"]:
        cycles[L2] = read * read_cycles(gpu["l2"]) / (gpu["l2"]["slices"] * l2_clocks(gpu))
    cycles |= {name: times * value for name, value in _pipes(about)}
    cold_cycles = cold * dram_sector_cycles(gpu)
    return SpeedOfLight(cycles, result.launch_cycles, moved * SECTOR_BYTES, cold_cycles, result.ns_per_cycle)


def _needed(result: RunResult, kinds: tuple[str, ...], times: float) -> float:
    """Sectors of off-chip memory that the whole launch needs whose first access is of these kinds.

    Of each array the distinct ones, or as many as the bytes of all its accesses would fill, whichever is less.
    """
    arrays: dict[int, list[Mapping[str, int]]] = {}
    for op in result.trials.ops:
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


def _through_dram(result: RunResult, read: float, written: float) -> tuple[float, float]:
    """Sectors, where L2 holds nothing from before the launch, and as it is."""
    l2 = result.trials.about["gpu"]["l2"]
    if not l2["enabled"]:
        return read + written, read + written
    held = l2["size_bytes"] / SECTOR_BYTES
    dirty = held * (l2.get("max_dirty_ways") or l2["ways"]) / l2["ways"]
    warm = result.trials.about.get("warm") or result.trials.about.get("launches_before")
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


def _issue(result: RunResult) -> float:
    sm = result.trials.about["gpu"]["sm"]
    return warp_instructions(result) * sm["issue_cycles"] / (sm["count"] * sm["issue_per_cycle"])


def _pipes(about: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    count = about["gpu"]["sm"]["count"]
    for name, taken in (about["executed"].get("pipe_cycles") or {}).items():
        if taken:
            yield pipe_name(name), taken / count
