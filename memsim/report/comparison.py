"""The figures of several results side by side: kernels, variants of one, or one kernel on several GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memsim.analysis.choices import Grouping
from memsim.analysis.result import Result
from memsim.analysis.tables import shortened
from memsim.report.figures import COLORS, TITLES, histogram, nothing
from memsim.report.style import INK, SERIES, panels, styled, write
from memsim.support.files import check_replaceable

Bars = Mapping[str, Mapping[str, float]]  # a bar's name -> a segment's name -> its height

_ROW_HEIGHT, _WIDTH = 2.1, 9.6  # inches
_NARROW = 0.09  # of a stack's height: a segment below it carries no number


def plot(results: Mapping[str, Result], folder: str | Path) -> list[Path]:
    """Write ``ratios.png``, ``convergence.png`` and ``loads.png`` to `folder`, made when missing.

    Args:
        results: by the name that the figures call each.

    Returns:
        The files' paths.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with styled():
        figures = {"ratios": ratios, "convergence": convergence, "loads": loads}
        paths = {name: target / f"{name}.png" for name in figures}
        for path in paths.values():
            check_replaceable(path)
        return [write(draw(results), paths[name]) for name, draw in figures.items()]


def ratios(results: Mapping[str, Result]) -> Figure:
    """Histograms of the hit ratios, a row a result (the paper's figures 5 and 6)."""
    figure, axes = panels(len(results), 3, _WIDTH, _ROW_HEIGHT * len(results) + 0.4)
    for row, (label, result) in enumerate(results.items()):
        for axis, (name, ratio) in zip(axes[3 * row :], result.ratios.items(), strict=False):
            axis.set_title(f"{label}: {TITLES[name]}")
            if ratio.finite.size:
                histogram(axis, ratio, COLORS[name])
            else:
                nothing(axis, "no such accesses")
        axes[3 * row].set_ylabel("share of trials")
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3)
    return figure


def convergence(results: Mapping[str, Result]) -> Figure:
    """Standard deviation of each ratio against the number of trials, a line a result (the paper's figure 7)."""
    figure, axes = panels(1, 3, _WIDTH, 3.2)
    for axis, (name, title) in zip(axes, TITLES.items(), strict=True):
        axis.set_title(f"{title}: sd against trials")
        for number, (label, result) in enumerate(results.items()):
            count, sd = result.ratios[name].convergence()
            if count.size:
                axis.plot(count, sd, color=SERIES[number % len(SERIES)], linewidth=1.4, label=label)
        if axis.get_lines():
            axis.set(xlabel="trials", ylabel="sd of the hit ratio")
            axis.set_ylim(bottom=0)
        else:
            nothing(axis, "takes two trials")
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure


def loads(results: Mapping[str, Result]) -> Figure:
    """Expected latency X of the loads of each array, stacked, in units of the first result's slowest (figure 8)."""
    figure, (axis,) = panels(1, 1, 2.2 + 1.3 * len(results), 3.6)
    axis.set_title("Expected latency X of the loads, by array")
    seen = {label: array_latencies(result) for label, result in results.items()}
    slowest = max((x for found in seen.values() for x in found.values()), default=0.0)
    first = max(next(iter(seen.values()), {}).values(), default=slowest)
    if not slowest:
        nothing(axis, "no loads")
        return figure
    stacks(axis, {label: {name: x / first for name, x in found.items()} for label, found in seen.items()})
    axis.set_ylabel(f"X in units of {first:,.0f} ns")
    axis.legend(*_reversed(axis), loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def array_latencies(result: Result) -> dict[str, float]:
    """X of the loads of each array, nanoseconds; arrays that nothing was asked of are left out."""
    found = {load.array or load.text: load.x.mean * result.ns_per_cycle for load in result.loads_by(Grouping.array)}
    return {name: x for name, x in found.items() if np.isfinite(x)}


def stacks(axis: Axes, bars: Bars) -> None:
    """Stacked bars beside each other; segments of one name have one colour and, where there is room, their height."""
    names = list(dict.fromkeys(name for segments in bars.values() for name in segments))
    bottom = np.zeros(len(bars))
    tallest = max(sum(segments.values()) for segments in bars.values())
    for number, name in enumerate(names):
        height = np.array([segments.get(name, 0.0) for segments in bars.values()])
        color = SERIES[number % len(SERIES)]
        axis.bar(np.arange(len(bars)), height, 0.62, bottom, color=color, edgecolor="white", linewidth=1, label=name)
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
