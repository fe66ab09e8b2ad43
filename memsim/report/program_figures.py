"""Figures of a program's profile: its kernels by time, cold and warm; and those of several programs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from memsim.analysis.program import LaunchGroup, ProgramResult
from memsim.analysis.table import shortened
from memsim.analysis.tables import time_unit
from memsim.report.figure_options import FigureOptions
from memsim.report.figure_style import BLUE, GREY, INK, ORANGE, SERIES, panels, write_figures

_MOST = 16  # kernels in a figure
_WIDTH = 9.0  # inches


def plot_programs(
    results: Mapping[str, ProgramResult], folder: str | Path, figure_options: FigureOptions | None = None
) -> list[Path]:
    """Write the figures to `folder`, made when missing: ``kernels``, and of one profile also ``cold-and-warm``.

    Args:
        results: by the name that the figures call each.
        folder: for the files.
        figure_options: format, resolution and size; None: PNG for a screen.

    Returns:
        The files' paths.
    """
    drawings = {"kernels": partial(kernels, results)}
    if len(results) == 1:
        drawings["cold-and-warm"] = partial(cold_and_warm, *results.values())
    return write_figures(drawings, folder, figure_options)


def kernels(results: Mapping[str, ProgramResult]) -> Figure:
    """Time of each kernel, all its launches together, with its interval; a line marks the best possible time."""
    labels = list(dict.fromkeys(label for one in results.values() for label in one.labels()))[:_MOST]
    figure, (axis,) = panels(1, 1, _WIDTH, 1.3 + 0.28 * len(labels) * max(1, len(results)))
    scale, _, unit = time_unit(max(one.groups[0].time.mean for one in results.values()))
    height = 0.8 / len(results)
    for number, (name, one) in enumerate(results.items()):
        groups = dict(zip(one.labels(), one.groups, strict=True))
        rows = np.arange(len(labels)) + (number - (len(results) - 1) / 2) * height
        for row, label in zip(rows, labels, strict=True):
            if label in groups:
                _bar(axis, groups[label], row, height, scale, SERIES[number % len(SERIES)])
        axis.barh(0, 0, color=SERIES[number % len(SERIES)], label=shortened(name, 30))
    axis.plot([], [], "|", color=INK, markersize=9, label="best possible time")
    axis.set_yticks(np.arange(len(labels)), [shortened(label, 34) for label in labels])
    axis.invert_yaxis()
    axis.margins(x=0.1)
    axis.grid(axis="y", visible=False)
    axis.set_xlabel(f"time of all launches, {unit}")
    axis.set_title("Kernels by time")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _bar(axis, group: LaunchGroup, row: float, height: float, scale: float, color: str) -> None:  # type: ignore[no-untyped-def]
    time, possible, interval = scale * group.time.mean, scale * group.best_possible, group.time.interval()
    half = 0.0 if interval is None else scale * interval.width / 2
    axis.barh(row, time, 0.86 * height, color=color, xerr=half, ecolor=INK, error_kw={"linewidth": 1, "capsize": 2})
    if possible == possible:
        axis.plot([possible, possible], [row - 0.43 * height, row + 0.43 * height], color=INK, linewidth=1.4)
    axis.annotate(f"{time:.3g}", (time + half, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)


def cold_and_warm(result: ProgramResult) -> Figure:
    """Of kernels with several launches: the first one, and a launch after others, which finds what they left in L2."""
    pairs = [
        (label, group.first, group.others)
        for label, group in zip(result.labels(), result.groups, strict=True)
        if group.others is not None
    ][:_MOST]
    figure, (times, hits) = panels(1, 2, _WIDTH, 1.5 + 0.4 * max(1, len(pairs)), sharey=True)
    if not pairs:
        times.text(0.5, 0.5, "no kernel is launched twice", transform=times.transAxes, ha="center", color=GREY)
        return figure
    scale, _, unit = time_unit(max(one.kernel_time.mean for _, one, _ in pairs))
    rows = np.arange(len(pairs))
    for shift, color, which, name in ((-0.2, BLUE, 1, "first launch"), (0.2, ORANGE, 2, "later launches")):
        of = [pair[which] for pair in pairs]
        times.barh(rows + shift, [scale * one.kernel_time.mean for one in of], 0.36, color=color, label=name)  # type: ignore[union-attr]
        hits.barh(rows + shift, [100 * one.l2_read.mean for one in of], 0.36, color=color)  # type: ignore[union-attr]
    times.set_yticks(rows, [shortened(label, 34) for label, _, _ in pairs])
    times.invert_yaxis()
    times.set_xlabel(f"time per launch, {unit}")
    hits.set(xlabel="L2 read hits, %", xlim=(0, 100))
    times.set_title("First launch and later ones")
    for axis in (times, hits):
        axis.grid(axis="y", visible=False)
    figure.legend(*times.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
