"""Which loads the kernel waits for, and where their latency comes from."""

from __future__ import annotations

from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from memsim.analysis.loads import Load
from memsim.analysis.result import RunResult
from memsim.analysis.table import shortened
from memsim.report.figure_style import FAR, FARTHEST, GREY, INK, NEAR, SERIES, narrow, panels
from memsim.report.figures.common import caption, draw_empty, labels, source_of

_LEVELS = (("L1", NEAR), ("L2", FAR), ("main memory", FARTHEST))  # where a load's expected latency comes from
_BARS = 20  # loads shown at most, those waited for most
_READABLE = 0.06  # a segment smaller than that carries no text
_REST = "#C4C4C4"


def loads(result: RunResult) -> Figure:
    """Left, each load's share of all latency; right, its expected latency by level, and what was observed.

    The bars follow the paper's figure 8 (Baghsorkhi 2012): expected latency by the level that it comes from, with the
    95 % interval of its mean. A diamond is the observed latency. Shared memory has shares and no expected latency.
    """
    waited = [load for load in result.loads if load.share.mean > 0]
    shown = most_waited(result, _BARS)
    figure, (shares, bars) = panels(1, 2, 9.6, 1.9 + 0.42 * max(len(shown), 3), width_ratios=[1, 3.4])
    shares.set_title("Share of latency")
    bars.set_title("Expected latency by level", pad=21)  # above the axis in ns
    if waited:
        _shares(shares, result, waited, shown)
    else:
        draw_empty(shares, "no loads")
    if shown:
        _levels(bars, shown, labels(result, shown), result.ns_per_cycle)
        figure.legend(*bars.get_legend_handles_labels(), loc="outside lower center", ncols=2 if narrow() else 4)
    else:
        draw_empty(bars, "no loads of global memory")
    figure.suptitle(f"{caption(result)}{_left_out(waited, shown)}", x=0.01, ha="left", fontsize="medium", color=GREY)
    return figure


def most_waited(result: RunResult, limit: int) -> list[Load]:
    """The `limit` loads that have an expected latency, with the largest share of all latency, in source order."""
    seen = [load for load in result.loads if load.distribution.counts.any() and np.isfinite(load.x.mean)]
    longest = sorted(seen, key=lambda load: -load.share.mean)[:limit]
    return [load for load in seen if any(load is other for other in longest)]


def _left_out(waited: list[Load], shown: list[Load]) -> str:
    left = [load for load in waited if not any(load is other for other in shown)]
    if not left:
        return ""
    share = 100 * sum(load.share.mean for load in left)
    shared = sum(not np.isfinite(load.x.mean) for load in left)
    what = f"{shared} of shared memory" if shared == len(left) else f"{len(left)}, {shared} of them of shared memory"
    return f"; without bars: {what}, {share:.1f} % of the latency"


def _shares(axis: Axes, result: RunResult, waited: list[Load], shown: list[Load]) -> None:
    names = [load.text if source_of(result, load) == load.text else load.array or load.text for load in shown]
    shares_shown = [
        (name, load.share.mean, SERIES[n % len(SERIES)])
        for n, (name, load) in enumerate(zip(names, shown, strict=True))
    ]
    rest = sum(load.share.mean for load in waited) - sum(share for _, share, _ in shares_shown)
    if rest > 1e-6:
        shares_shown.append(("others", rest, _REST))
    top = 1.0
    for text, share, color in shares_shown:  # from the top down, in the order of the bars next to them
        axis.bar(0, share, 0.6, top - share, color=color, edgecolor="white", linewidth=0.8)
        if share > _READABLE:
            ink = INK if color == _REST else "white"
            name = f"{shortened(text, 16)}\n" if share > 2 * _READABLE else f"{shortened(text, 13)} "
            axis.text(0, top - share / 2, f"{name}{share:.0%}", ha="center", va="center",
                      fontsize=7.5, color=ink)  # fmt: skip
        top -= share
    axis.set_xticks([])
    axis.set(xlim=(-0.4, 0.4), ylim=(0, 1))
    axis.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")


def _levels(axis: Axes, shown: list[Load], names: list[str], ns_per_cycle: float) -> None:
    rows = np.arange(len(shown))
    left = np.zeros(len(shown))
    for (name, color), shares_shown in zip(_LEVELS, zip(*(load.x_terms for load in shown), strict=True), strict=True):
        width = np.array([part.mean for part in shares_shown])
        axis.barh(rows, width, 0.58, left, color=color, edgecolor="white", linewidth=0.8, label=name)
        left += width
    half = [interval.width / 2 if (interval := load.x.interval()) else 0.0 for load in shown]
    axis.errorbar(left, rows, xerr=half, fmt="none", ecolor=INK, elinewidth=1, capsize=2.5)
    observed = np.array([load.latency.mean for load in shown])
    axis.plot(observed, rows, "D", markersize=4.5, markerfacecolor="white", markeredgecolor=INK, label="observed mean")
    farthest = np.fmax(left, np.nan_to_num(observed))
    for row, load in enumerate(() if narrow() else shown):
        note = f"expected {load.x.mean:,.0f}, observed {load.latency.mean:,.0f} cycles"
        axis.text(farthest[row] + 0.025 * farthest.max(), row, note, va="center", fontsize=7.5, color=GREY)
    axis.set_xlim(0, farthest.max() * (1.08 if narrow() else 1.45))
    axis.set_yticks(rows, names)
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    axis.set_xlabel("SM cycles")
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.xaxis.set_major_formatter("{x:,.0f}")
    to_ns, to_cycles = partial(np.multiply, ns_per_cycle), partial(np.multiply, 1 / ns_per_cycle)
    above = axis.secondary_xaxis("top", functions=(to_ns, to_cycles))
    above.tick_params(colors=GREY)
    above.xaxis.set_major_locator(MaxNLocator(4))
    above.xaxis.set_major_formatter("{x:,.0f} ns")
