"""What the closed-form models say of one version."""

from __future__ import annotations

import math
from dataclasses import dataclass

from memsim.gpu.config import GPU
from memsim.models.estimate import estimate
from memsim.models.throughput import BusyPart, busy_cycles, work_of
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace

ALIKE = 1.05  # times within this factor of each other are one to the model, and leave nothing to decide
# What the time of each part is proportional to (those in FEWER: inversely), by the names of Modelled.measures.
MEASURES = {
    BusyPart.issue: ("instructions",),
    BusyPart.load_store: ("transactions", "passes of shared memory"),
    BusyPart.port: ("sectors from L2",),
    BusyPart.slices: ("sectors to L2", "skew among L2 slices"),
    BusyPart.channels: ("sectors of main memory", "skew among memory channels"),
    BusyPart.latency: ("cycles of a block", "blocks", "warps at once"),
}
FEWER = ("warps at once",)  # the measures of which less takes longer


@dataclass(frozen=True)
class Modelled:
    """What the models say of one version, of its whole launch.

    Attributes:
        cycles: SM cycles that each part of the machine needs at least.
        milliseconds: of the part that needs most; versions are ranked by it.
        mwp_cwp_milliseconds: the time that the MWP/CWP model gives.
        mpe: CuMAPz's memory performance estimate; larger is better.
        occupancy: resident warps over the most that an SM can hold.
        measures: what the parts' times are made of, by the names of MEASURES.
    """

    cycles: dict[BusyPart, float]
    milliseconds: float
    mwp_cwp_milliseconds: float
    mpe: float
    occupancy: float
    measures: dict[str, float]

    @property
    def limit(self) -> BusyPart:
        """The part that needs most."""
        return max(self.cycles, key=lambda part: self.cycles[part])

    @property
    def order(self) -> list[int]:
        """What versions are sorted by: the longest time in steps of ALIKE; of equals the next longest, and so on."""
        longest = sorted(self.cycles.values(), reverse=True)
        return [round(math.log(max(cycles, 1)) / math.log(ALIKE)) for cycles in longest]


def modelled(trace: Trace, gpu: GPU) -> Modelled:
    """Apply the models to a trace of one wave of blocks.

    Raises:
        InputError: a block that fits no SM, a trace without instructions or for another warp size.
    """
    done, work = estimate(trace, gpu), work_of(coalesce(trace, gpu), gpu)
    cycles = busy_cycles(work, trace, gpu)
    launches = trace.launch.n_blocks / trace.n_blocks
    totals = {
        "instructions": work.instructions,
        "transactions": work.transactions,
        "wavefronts of L1": work.wavefronts,
        "passes of shared memory": work.passes,
        "sectors from L2": work.replies,
        "sectors to L2": work.l2_sectors,
        "sectors of main memory": work.memory_sectors,
    }
    return Modelled(
        cycles,
        max(cycles.values()) / gpu.sm.clock_mhz / 1000,
        done.milliseconds,
        done.cumapz.factors.mpe,
        done.occupancy.fraction,
        {name: value * launches for name, value in totals.items()}
        | {
            "skew among L2 slices": work.slice_skew,
            "skew among memory channels": work.channel_skew,
            "cycles of a block": work.block_cycles,
            "blocks": float(trace.launch.n_blocks),
            "warps at once": float(done.occupancy.warps),
        },
    )
