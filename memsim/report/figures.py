"""The figures of a result, as PNG files: distributions, convergence, loads, latencies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, PercentFormatter

from memsim.analysis.loads import Load
from memsim.analysis.result import Result
from memsim.analysis.statistics import Ratio
from memsim.analysis.tables import shortened
from memsim.report.style import BLUE, FAR, FARTHEST, GREEN, GREY, INK, NEAR, ORANGE, SERIES, panels, styled, write
from memsim.support.files import check_replaceable

TITLES = {"l1_read": "L1 read", "l2_read": "L2 read", "l2_write": "L2 write"}
COLORS = dict(zip(TITLES, (BLUE, ORANGE, GREEN), strict=True))
_LEVELS = (("L1", NEAR), ("L2", FAR), ("main memory", FARTHEST))  # where a load's expected latency comes from
_MERGED = 4  # latency bins drawn as one where lines of several loads cross
_TAIL = 0.995  # latencies above this quantile are left out of a density's axis
_BARS, _CURVES = 20, len(SERIES)  # loads shown at most, those waited for most
_NARROWEST = 0.004  # a ratio's axis, so that trials that agree look so


def plot(result: Result, folder: str | Path) -> list[Path]:
    """Write ``ratios.png``, ``convergence.png``, ``loads.png`` and ``latency.png`` to `folder`, made when missing.

    Returns:
        The files' paths.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with styled():
        figures = {"ratios": ratios, "convergence": convergence, "loads": loads, "latency": latency}
        paths = {name: target / f"{name}.png" for name in figures}
        for path in paths.values():
            check_replaceable(path)
        return [write(draw(result), paths[name]) for name, draw in figures.items()]


def ratios(result: Result) -> Figure:
    """Histograms of the hit ratios with the interval of the mean and mean -+ 2 sd (the paper's figures 5 and 6)."""
    figure, axes = panels(1, 3, 9.6, 3.0)
    for axis, (name, ratio) in zip(axes, result.ratios.items(), strict=True):
        axis.set_title(f"{TITLES[name]} hit ratio")
        if ratio.finite.size:
            histogram(axis, ratio, COLORS[name])
        else:
            nothing(axis, "no such accesses")
    axes[0].set_ylabel("share of trials")
    handles, labels = next((found for axis in axes if (found := axis.get_legend_handles_labels())[0]), ([], []))
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    figure.suptitle(_caption(result), x=0.01, ha="left", fontsize=9, color=GREY)
    return figure


def convergence(result: Result) -> Figure:
    """Standard deviation of the ratios against the number of trials (the paper's figure 7)."""
    figure, (axis,) = panels(1, 1, 5.6, 3.4)
    axis.set_title("Standard deviation against trials")
    for name, ratio in result.ratios.items():
        count, sd = ratio.convergence()
        if count.size:
            axis.plot(count, sd, color=COLORS[name], linewidth=1.6, label=f"{TITLES[name]}, {sd[-1]:.4f}")
    if axis.get_lines():
        axis.legend(title="hit ratio, final sd", title_fontsize=8)
        axis.set_ylim(bottom=0)
    else:
        nothing(axis, "takes two trials")
    axis.set(xlabel="trials", ylabel="sd of the hit ratio")
    figure.suptitle(_caption(result), x=0.01, ha="left", fontsize=9, color=GREY)
    return figure


def loads(result: Result) -> Figure:
    """Expected latency X of every static load, stacked, in units of the slowest load (after the paper's figure 8).

    Left, the loads upon each other: a taller segment is a slower load. Right, each load's X by the level it comes from,
    with the 95 % interval of the mean, and the latency that the closed loop observed.
    """
    shown = _most_waited(result, _BARS)
    figure, (stack, bars) = panels(1, 2, 9.6, 1.8 + 0.42 * max(len(shown), 3), width_ratios=[1, 3.4])
    stack.set_title("Loads stacked")
    bars.set_title("Expected latency X by level")
    if shown:
        slowest = max(load.x.mean for load in shown)
        _stack_loads(stack, shown, slowest)
        _stack_levels(bars, shown, slowest, result.ns_per_cycle)
        figure.legend(*bars.get_legend_handles_labels(), loc="outside lower right", ncols=4)
    else:
        nothing(stack, "no loads")
        nothing(bars, "no loads")
    figure.suptitle(_caption(result), x=0.01, ha="left", fontsize=9, color=GREY)
    return figure


def latency(result: Result) -> Figure:
    """Probability density of main memory's latency (the paper's figure 3), and the loads' observed latencies.

    The loads' span three decades, so they are drawn over a logarithmic axis: the share of a load's transactions per
    octave of latency, whose area is the share itself.
    """
    figure, (memory, each) = panels(1, 2, 10.4, 3.4, width_ratios=[1, 1.15])
    memory.set_title("Main memory")
    each.set_title("Observed, by load")
    memory_density(memory, result)
    waiting = _most_waited(result, _CURVES)
    if waiting:
        _observed(each, waiting)
    else:
        nothing(each, "no loads")
    each.set_xlabel("latency, cycles")
    figure.suptitle(_caption(result), x=0.01, ha="left", fontsize=9, color=GREY)
    return figure


def memory_density(axis: Axes, result: Result) -> None:
    """Probability density of the main-memory step's latency, cycles."""
    if not result.memory_distribution.counts.any():
        nothing(axis, "nothing reached memory")
        return
    edges, density = result.memory_distribution.density()
    axis.stairs(density, edges, color=FARTHEST, linewidth=1.3)
    axis.stairs(density, edges, color=FARTHEST, alpha=0.25, fill=True)
    low, high = (result.memory_distribution.quantile(q) for q in (1 - _TAIL, _TAIL))
    axis.set(xlim=(max(low - (high - low) / 4, 0), high), ylim=(0, None))
    axis.set(xlabel="latency, cycles", ylabel="probability per cycle")
    mean = result.memory_latency.mean
    axis.axvline(mean, color=INK, linewidth=0.9, linestyle="--")
    axis.set_title(f"Main memory, Tm = {mean:,.0f} cycles, {mean * result.ns_per_cycle:,.0f} ns")


def _most_waited(result: Result, limit: int) -> list[Load]:
    """The `limit` loads with the largest share of all latency, in source order."""
    seen = [load for load in result.loads if load.distribution.counts.any() and np.isfinite(load.x.mean)]
    kept = sorted(seen, key=lambda load: -load.share.mean)[:limit]
    return [load for load in seen if any(load is other for other in kept)]


def histogram(axis: Axes, ratio: Ratio, color: str) -> None:
    """One ratio's trials, with the interval of the mean and mean -+ 2 sd."""
    counts, edges = ratio.histogram()
    if edges[-1] - edges[0] < _NARROWEST / 4:  # bars too thin to see: one for all
        counts, edges = counts.sum(keepdims=True), ratio.mean + _NARROWEST / 8 * np.array([-1, 1])
    share = counts / counts.sum()
    axis.bar(edges[:-1], share, np.diff(edges), align="edge", color=color, alpha=0.75, edgecolor="white")
    spread, interval = ratio.spread(), ratio.interval()
    if spread is not None and interval is not None:
        axis.axvspan(*spread, color="#000000", alpha=0.06, linewidth=0, label="one run: mean ± 2 sd")
        axis.axvspan(*interval, color=INK, alpha=0.35, linewidth=0, label="95 % interval of the mean")
    axis.axvline(ratio.mean, color=INK, linewidth=1.1, label="mean")
    axis.set_xlabel(f"mean {ratio.mean:.2%}, sd {ratio.sd:.2%}" if spread else f"{ratio.mean:.2%}, one trial")
    low, high = axis.get_xlim()
    missing = max(_NARROWEST - (high - low), 0) / 2
    axis.set_xlim(max(low - missing, -_NARROWEST / 2), high + missing)
    axis.xaxis.set_major_formatter(lambda value, _: f"{round(100 * value, 3):g}%")
    axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.locator_params(axis="x", nbins=5)


def _stack_loads(axis: Axes, shown: list[Load], slowest: float) -> None:
    bottom = 0.0
    for number, load in enumerate(shown):
        height = load.x.mean / slowest
        axis.bar(0, height, 0.6, bottom, color=SERIES[number % len(SERIES)], edgecolor="white", linewidth=1)
        if height > 0.12:
            label = shortened(load.text, 16)
            axis.text(0, bottom + height / 2, label, ha="center", va="center", fontsize=7.5, color="white")
        bottom += height
    axis.set_xticks([])
    axis.set_ylabel("X / slowest load's X")
    axis.set_xlim(-0.4, 0.4)


def _stack_levels(axis: Axes, shown: list[Load], slowest: float, ns_per_cycle: float) -> None:
    rows = np.arange(len(shown))
    left = np.zeros(len(shown))
    for (name, color), parts in zip(_LEVELS, zip(*(load.x_parts for load in shown), strict=True), strict=True):
        width = np.array([part.mean for part in parts]) / slowest
        axis.barh(rows, width, 0.58, left, color=color, edgecolor="white", linewidth=0.8, label=name)
        left += width
    half = [interval.width / 2 / slowest if (interval := load.x.interval()) else 0.0 for load in shown]
    axis.errorbar(left, rows, xerr=half, fmt="none", ecolor=INK, elinewidth=1, capsize=2.5)
    observed = np.array([load.latency.mean for load in shown]) / slowest
    axis.plot(observed, rows, "D", markersize=4.5, markerfacecolor="white", markeredgecolor=INK, label="observed mean")
    farthest = np.fmax(left, np.nan_to_num(observed))
    for row, load in enumerate(shown):
        note = f"X = {load.x.mean:,.0f} cycles, {load.x.mean * ns_per_cycle:,.0f} ns"
        axis.text(farthest[row] + 0.025 * farthest.max(), row, note, va="center", fontsize=7.5, color=GREY)
    axis.set_xlim(0, farthest.max() * 1.34)
    axis.set_yticks(rows, [_label(load) for load in shown])
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    axis.set_xlabel(f"in units of the slowest load's X, {slowest:,.0f} cycles = {slowest * ns_per_cycle:,.0f} ns")


def _observed(axis: Axes, waiting: list[Load]) -> None:
    for number, load in enumerate(waiting):
        edges, density = load.distribution.density(_MERGED)
        shown = np.maximum(edges, 1)  # a logarithmic axis has no 0
        axis.stairs(
            density * np.diff(edges) / np.diff(np.log2(shown)),
            shown,
            color=SERIES[number % len(SERIES)],
            linewidth=1.3,
            label=f"{_label(load)}\nmean {load.latency.mean:,.0f}",
        )
    axis.set_xscale("log")
    axis.set_xlim(
        max(1.0, min(load.distribution.quantile(1 - _TAIL) for load in waiting) / 1.2),
        max(load.distribution.quantile(_TAIL) for load in waiting) * 1.2,
    )
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter("{x:,.0f}")
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set(ylim=(0, None), ylabel="probability per octave")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), labelspacing=0.9)


def _label(load: Load) -> str:
    return f"{shortened(load.text, 24)}  :{load.line}"


def nothing(axis: Axes, why: str) -> None:
    """An empty panel that says why it is empty."""
    axis.text(0.5, 0.5, why, transform=axis.transAxes, ha="center", va="center", color=GREY)
    axis.set(xticks=[], yticks=[])


def _caption(result: Result) -> str:
    trials = len(result.trials.trial)
    kernel = result.trials.about["trace"]["kernel"]
    return f"{kernel} on {result.gpu}, {trials} trial{'s' * (trials != 1)}, seed {result.seed}"
