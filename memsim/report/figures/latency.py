"""Distributions of latency: main memory's, and each load's."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, PercentFormatter

from memsim.analysis.loads import Load
from memsim.analysis.result import RunResult
from memsim.report.figure_style import FARTHEST, GREY, INK, SERIES, narrow, panels, place_legend
from memsim.report.figures.common import caption, draw_empty, labels
from memsim.report.figures.loads import most_waited

_TAIL = 0.995  # a density's axis ends at this quantile; what lies beyond is said
_START = 0.002  # a logarithmic axis begins where so many of a load's transactions are answered
_CURVES = len(SERIES)
_CLOSE = 50  # a logarithmic axis that spans less has ticks at 2 and 5 too


def latency(result: RunResult) -> Figure:
    """Probability density of main memory's latency (the paper's figure 3), and the loads' latencies, cumulated.

    The curves hold the whole tail: each ends at its load's slowest transaction.
    """
    figure, (memory, each) = panels(1, 2, 10.4, 3.4, width_ratios=[1, 1.15])
    memory.set_title("Loaded DRAM latency")
    each.set_title("Observed latency by load")
    memory_density(memory, result)
    waiting = most_waited(result, _CURVES)
    if waiting:
        _cumulated(each, waiting, labels(result, waiting))
    else:
        draw_empty(each, "no loads")
    figure.suptitle(caption(result), x=0.01, ha="left", fontsize="medium", color=GREY)
    return figure


def memory_density(axis: Axes, result: RunResult) -> None:
    """Probability density of the main-memory step's latency, cycles."""
    found = result.memory_distribution
    if not found.counts.any():
        draw_empty(axis, "nothing reached memory")
        return
    edges, density = found.density()
    axis.stairs(density, edges, color=FARTHEST, linewidth=1.3)
    axis.stairs(density, edges, color=FARTHEST, alpha=0.25, fill=True)
    low, high, most = (found.quantile(q) for q in (1 - _TAIL, _TAIL, 1.0))
    axis.set(xlim=(max(low - (high - low) / 4, 0), high), ylim=(0, None))
    axis.set(xlabel="latency, cycles", ylabel="probability per cycle")
    mean = result.memory_latency.mean
    axis.axvline(mean, color=INK, linewidth=0.9, linestyle="--")
    axis.set_title(f"Loaded DRAM latency, mean {mean:,.0f} cycles, {mean * result.ns_per_cycle:,.0f} ns")
    axis.annotate(
        f"{1 - _TAIL:.1%} beyond,\nup to {most:,.0f}", (0.98, 0.95), xycoords="axes fraction", ha="right", va="top",
        fontsize=7.5, color=GREY,
    )  # fmt: skip


def _cumulated(axis: Axes, waiting: list[Load], names: list[str]) -> None:
    for number, load in enumerate(waiting):
        edges, density = load.distribution.density()
        below = np.cumsum(density * np.diff(edges))
        color, text = SERIES[number % len(SERIES)], f"{names[number]}\nmean {load.latency.mean:,.0f}"
        seen = np.flatnonzero(np.diff(below, prepend=0.0))
        start, stop = seen[0], seen[-1] + 1
        shown = np.maximum(edges[start : stop + 1], 1)  # a logarithmic axis has no 0
        axis.plot(shown, np.concatenate([[0.0], below[start:stop]]), color=color, linewidth=1.4, label=text)
    axis.set_xscale("log")
    axis.set_xlim(left=max(1.0, min(load.distribution.quantile(_START) for load in waiting) / 1.3))
    low, high = axis.get_xlim()
    steps = (1, 2, 5) if high / low < _CLOSE and not narrow() else (1,)  # more ticks than fit run into each other
    axis.xaxis.set_major_locator(LogLocator(subs=steps, numticks=8))
    axis.xaxis.set_major_formatter("{x:,.0f}")
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.set(ylim=(0, 1.02), xlabel="latency, cycles", ylabel="cumulative share of transactions")
    place_legend(axis, labelspacing=0.9)
