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

from collections.abc import Mapping
from dataclasses import dataclass

from memsim.analysis.launch_time import LaunchPart
from memsim.analysis.needed_work import needed_work
from memsim.analysis.result import RunResult
from memsim.analysis.utilization import states_work


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
    if not states_work(result.trials):
        return None
    part = LaunchPart.of(result.trials)
    found = needed_work(result.trials, part.launched / part.replayed)
    return SpeedOfLight(
        found.cycles, result.launch_cycles, found.dram_bytes, found.cold_dram_cycles, result.ns_per_cycle
    )
