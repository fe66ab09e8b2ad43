"""The instruction roofline of a result (Ding and Williams, PMBS 2019): instructions against memory transactions."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from memsim.analysis.l2_rates import l2_clocks, read_cycles
from memsim.analysis.launch_time import LaunchPart
from memsim.analysis.percent import percent
from memsim.analysis.result import RunResult
from memsim.analysis.speed_of_light import speed_of_light
from memsim.analysis.utilization import DRAM, L2, LOAD_STORE, SECTOR_BYTES, utilization, warp_instructions
from memsim.report.figure_style import BLUE, GREEN, INK, ORANGE, panels
from memsim.report.figures.common import draw_empty

_COLORS = {"L1": BLUE, "L2": ORANGE, "DRAM": GREEN}


def roofline(result: RunResult) -> Figure:
    """Warp instructions per second against warp instructions per 32-byte sector, a point per level below its roof.

    A level's sectors are those that it could have served while it was busy: one that is stored in part, or whose lanes
    need several wavefronts, counts for as many as take that long. So the height of a point over its roof is the busy
    share of the level; a point on the flat roof is bound by issue, and one far below both waits. A dashed line is the
    rate at which the kernel would take the best possible time, its launch included.
    """
    figure, (axis,) = panels(1, 1, 5.6, 3.6)
    instructions = warp_instructions(result.trials)
    roofs = _bandwidths(result)
    if not instructions > 0:
        draw_empty(axis, "the trace does not state its instructions")
        return figure
    seconds = result.cycles.mean * result.ns_per_cycle / 1e9
    rate, peak = instructions / seconds / 1e9, _peak(result)
    busy = _busy(result)
    at = {level: rate / (share * roofs[level]) for level, share in busy.items() if share > 0}
    if not at:
        draw_empty(axis, "nothing went to memory")
        return figure
    axis.set_xscale("log")
    axis.set_yscale("log")
    # Powers of ten are formulas to matplotlib; they and ticks between them took longer than all else here.
    axis.minorticks_off()
    axis.xaxis.set_major_formatter("{x:,g}")
    axis.yaxis.set_major_formatter("{x:,g}")
    low = min([*at.values(), *(peak / roofs[level] for level in at)]) / 4
    high = max([*at.values(), *(peak / roofs[level] for level in at)]) * 4
    intensity = np.geomspace(low, high, 64)
    for level, x in at.items():
        axis.plot(intensity, np.minimum(peak, intensity * roofs[level]), color=_COLORS[level], linewidth=1.4)
        axis.plot(
            x,
            rate,
            "o",
            color=_COLORS[level],
            markeredgecolor=INK,
            label=f"{level}, {roofs[level]:,.0f} Gsector/s, {percent(busy[level])} busy",
        )
    if (best := speed_of_light(result)) is not None:
        part = LaunchPart.of(result.trials)
        possible = instructions * part.launched / part.replayed / (best.milliseconds * 1e6)
        axis.axhline(possible, color=INK, linestyle="--", linewidth=1, label="best possible time")
    axis.set(xlabel="warp instructions per sector", ylabel="10⁹ warp instructions per second", xlim=(low, high))
    axis.set_title(f"Instruction roofline, peak {peak:,.0f}")
    axis.legend(loc="lower right")
    return figure


def _peak(result: RunResult) -> float:
    """10⁹ warp instructions per second that all SMs can issue."""
    sm = result.trials.about["gpu"]["sm"]
    return sm["count"] * sm["issue_per_cycle"] / sm["issue_cycles"] * sm["clock_mhz"] / 1e3


def _bandwidths(result: RunResult) -> dict[str, float]:
    """10⁹ sectors per second of each level, all its units together."""
    gpu = result.trials.about["gpu"]
    sm, l2, dram = gpu["sm"], gpu["l2"], gpu["dram"]
    ghz = sm["clock_mhz"] / 1e3
    l1_bytes = gpu["l1"].get("bytes_per_cycle") or gpu["l1"]["line_bytes"] / sm["lookup_cycles"]
    return {
        "L1": sm["count"] * l1_bytes / SECTOR_BYTES * ghz,
        "L2": l2["slices"] / read_cycles(l2) * l2_clocks(gpu) * ghz,
        "DRAM": dram["channels"] * dram["clock_mhz"] / dram["timing"]["burst"] / 1e3,
    }


def _busy(result: RunResult) -> dict[str, float]:
    """The busy share of each level's bandwidth, as the page's table has it."""
    names = {LOAD_STORE: "L1", L2: "L2", DRAM: "DRAM"}
    return {names[part.name]: part.busy for part in utilization(result) if part.name in names}
