"""The figures of several results side by side: kernels, variants of one, or one kernel on several GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memsim.analysis.choices import Grouping
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Sample
from memsim.analysis.table import shortened
from memsim.analysis.tables import time_unit
from memsim.analysis.utilization import utilization
from memsim.report.figure_options import FigureOptions
from memsim.report.figure_style import GREY, INK, SERIES, panels, place_legend, write_figures
from memsim.report.figures.common import COLORS, TITLES, accessed, draw_empty

Bars = Mapping[str, Mapping[str, float]]  # a bar's name -> a segment's name -> its height

_WIDTH = 9.6  # inches
_NARROWEST_RANGE = 0.5  # percentage points of an axis: equal ratios stand where they are equal
_BEYOND = 0.02  # of an axis, past 0 and 100 %
_NARROW = 0.09  # of a stack's height: a segment below it carries no number


def plot(
    results: Mapping[str, RunResult], folder: str | Path, figure_options: FigureOptions | None = None
) -> list[Path]:
    """Write ``side_by_side``, ``convergence`` and ``loads`` to `folder`, made when missing.

    Args:
        results: by the name that the figures call each.
        folder: for the files.
        figure_options: format, resolution and size; None: PNG for a screen.

    Returns:
        The files' paths.
    """
    figures = {"side_by_side": side_by_side, "convergence": convergence, "loads": loads}
    return write_figures({name: partial(draw, results) for name, draw in figures.items()}, folder, figure_options)


def side_by_side(results: Mapping[str, RunResult]) -> Figure:
    """Kernel time, then the hit ratios, one row per result: means, their intervals, and where one run falls."""
    shown = [name for name in TITLES if any(_hits(name, result) for result in results.values())]
    figure, axes = panels(1, 1 + len(shown), 3.4 + 2.3 * (1 + len(shown)), 1.5 + 0.45 * len(results), sharey=True)
    rows = range(len(results))
    times = [_time_of(result) for result in results.values()]
    scale, _, unit = time_unit(min(of.mean for of in times))
    axes[0].set_title(f"Kernel time, {unit}")
    for row, of in enumerate(times):
        _time(axes[0], of, row, scale)
    for axis, name in zip(axes[1:], shown, strict=True):
        axis.set_title(f"{TITLES[name]} hits, %")
        for row, result in enumerate(results.values()):
            if name in accessed(result):
                _interval_row(axis, result.ratios[name], row, 100, COLORS[name])
    for axis in axes:
        axis.grid(axis="y", visible=False)
        axis.set_yticks(rows, [_named(label, result) for label, result in results.items()])
        axis.set_ylim(len(results) - 0.5, -0.6)
        axis.margins(x=0.15)
    for axis in axes[1:]:
        low, high = axis.get_xlim()
        wider = max(0.0, _NARROWEST_RANGE - (high - low)) / 2
        axis.set_xlim(max(low - wider, -_BEYOND * (high - low)), min(high + wider, 100 + _BEYOND * (high - low)))
    figure.supxlabel("bar: 95 % interval of the mean; line: one run, mean ± 2 sd", fontsize=8, color=GREY)
    return figure


def _hits(name: str, result: RunResult) -> bool:
    """Whether a hit ratio is more than 0: a panel of zeros shows nothing."""
    return name in accessed(result) and bool(result.ratios[name].mean > 0)


def busy(results: Mapping[str, RunResult]) -> Figure:
    """For how long each part of the GPU works in each result, next to the time of what was replayed."""
    figure, (axis,) = panels(1, 1, _WIDTH, 1.2 + 0.3 * len(results) * (2 + len(_busy_components(results))))
    axis.set_title("Busy time of the replayed part")
    times = [result.cycles.mean * result.ns_per_cycle / 1e6 for result in results.values()]
    scale, _, unit = time_unit(max(times))
    names = ["time", *_busy_components(results)]
    height = 0.8 / len(results)
    for number, (label, result) in enumerate(results.items()):
        shares = {part.name: part.busy for part in utilization(result)} | {"time": 1.0}
        values = [scale * times[number] * shares.get(name, float("nan")) for name in names]
        rows = np.arange(len(names)) + (number - (len(results) - 1) / 2) * height
        color = SERIES[number % len(SERIES)]
        axis.barh(rows, values, 0.9 * height, color=color, label=shortened(label, 24))
        for row, value in zip(rows, values, strict=True):
            if value == value:
                axis.annotate(f"{value:.3g}", (value, row), xytext=(3, 0), textcoords="offset points", va="center",
                              fontsize=8)  # fmt: skip
    axis.set_yticks(np.arange(len(names)), names)
    axis.invert_yaxis()
    axis.margins(x=0.1)
    axis.grid(axis="y", visible=False)
    axis.set_xlabel(unit)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _busy_components(results: Mapping[str, RunResult]) -> list[str]:
    """The components of the GPU that any result knows."""
    known = (part.name for result in results.values() for part in utilization(result) if part.busy == part.busy)
    return list(dict.fromkeys(known))


def _named(label: str, result: RunResult) -> str:
    kernel = result.trials.about["trace"]["kernel"]
    return f"{shortened(label, 24)}\n{shortened(kernel, 20)} on {shortened(result.gpu, 20)}"


def _time_of(result: RunResult) -> Sample:
    """Of the kernel, or of what was replayed where the file does not state its waves; ms."""
    if result.waves == result.waves:
        return result.kernel_time
    return Sample(result.cycles.values * result.ns_per_cycle / 1e6)


def _time(axis: Axes, of: Sample, row: int, scale: float) -> None:
    _interval_row(axis, of, row, scale, INK)
    at, above = (scale * of.mean, row), (0, 7)
    axis.annotate(f"{scale * of.mean:.4g}", at, xytext=above, textcoords="offset points", ha="center", fontsize=8)


def _interval_row(axis: Axes, of: Sample, row: int, scale: float, color: str) -> None:
    interval, spread = of.interval(), of.spread()
    if interval is not None and spread is not None:
        axis.plot([scale * end for end in spread], [row, row], color=color, linewidth=1, alpha=0.6)
        axis.plot(
            [scale * end for end in interval], [row, row], color=color, linewidth=5, solid_capstyle="butt", alpha=0.8
        )
    axis.plot(scale * of.mean, row, "o", color="white", markeredgecolor=color, markersize=5)


def convergence(results: Mapping[str, RunResult]) -> Figure:
    """Standard deviation of each ratio against the number of trials, a line a result (the paper's figure 7)."""
    figure, axes = panels(1, 3, _WIDTH, 3.2)
    for axis, (name, title) in zip(axes, TITLES.items(), strict=True):
        axis.set_title(f"{title}: standard deviation by number of trials")
        for number, (label, result) in enumerate(results.items()):
            count, sd = result.ratios[name].convergence()
            if count.size:
                axis.plot(count, 100 * sd, color=SERIES[number % len(SERIES)], linewidth=1.4, label=label)
        if axis.get_lines():
            axis.set(xlabel="trials", ylabel="standard deviation, percentage points")
            axis.set_ylim(bottom=0)
        else:
            draw_empty(axis, "takes two trials")
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure


def loads(results: Mapping[str, RunResult]) -> Figure:
    """Expected latency of the loads of each array, stacked, in units of the first result's slowest (figure 8)."""
    figure, (axis,) = panels(1, 1, 2.2 + 1.3 * len(results), 3.6)
    axis.set_title("Expected latency of the loads, by array")
    seen = {label: array_latencies(result) for label, result in results.items()}
    slowest = max((x for found in seen.values() for x in found.values()), default=0.0)
    first = max(next(iter(seen.values()), {}).values(), default=slowest)
    if not slowest:
        draw_empty(axis, "no loads")
        return figure
    stacks(axis, {label: {name: x / first for name, x in found.items()} for label, found in seen.items()})
    axis.set_ylabel(f"expected latency in units of {first:,.0f} ns")
    place_legend(axis, **dict(zip(("handles", "labels"), _reversed(axis), strict=True)))
    return figure


def array_latencies(result: RunResult) -> dict[str, float]:
    """X of the loads of each array, nanoseconds; arrays without requests are left out."""
    found = {load.array or load.text: load.x.mean * result.ns_per_cycle for load in result.loads_by(Grouping.array)}
    return {name: x for name, x in found.items() if np.isfinite(x)}


def stacks(axis: Axes, bars: Bars) -> None:
    """Stacked bars next to each other; segments of one name have one colour and, where there is room, their height."""
    names = list(dict.fromkeys(name for segments in bars.values() for name in segments))
    bottom = np.zeros(len(bars))
    tallest = max(sum(segments.values()) for segments in bars.values())
    for number, name in enumerate(names):
        height = np.array([segments.get(name, 0.0) for segments in bars.values()])
        color = SERIES[number % len(SERIES)]
        label = shortened(name, 24)
        axis.bar(np.arange(len(bars)), height, 0.62, bottom, color=color, edgecolor="white", linewidth=1, label=label)
        for at, (below, own) in enumerate(zip(bottom, height, strict=True)):
            if own > _NARROW * tallest:
                axis.text(at, below + own / 2, f"{own:.2f}", ha="center", va="center", fontsize=7.5, color="white")
        bottom += height
    axis.set_xticks(np.arange(len(bars)), [shortened(label, 18) for label in bars], color=INK)
    axis.grid(axis="x", visible=False)


def _reversed(axis: Axes) -> tuple[list, list[str]]:
    """A legend in the order in which the segments lie."""
    handles, labels = axis.get_legend_handles_labels()
    return handles[::-1], labels[::-1]
