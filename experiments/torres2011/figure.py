"""Ours against the published cells, a panel a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from experiments.torres2011.cells import TITLES, Score, Shape
from memsim.report.figure_style import BLUE, GREY, INK, ORANGE, panels, styled, write

Tables = Mapping[str, Mapping[Shape, float]]


def draw(ours: Tables, theirs: Tables, scores: Mapping[str, Score], path: Path) -> None:
    """One point a shape; blocks of fewer than 32 columns, whose warps touch several rows, in their own colour."""
    with styled():
        figure, axes = panels(2, 2, 7.2, 6.4)
        for axis, (table, title) in zip(axes, TITLES.items(), strict=True):
            shapes = [shape for shape in theirs[table] if shape in ours[table]]
            for label, colour, wide in (("32 or more", BLUE, True), ("fewer", ORANGE, False)):
                some = [shape for shape in shapes if (shape[1] >= 32) == wide]
                x, y = ([cells[shape] for shape in some] for cells in (theirs[table], ours[table]))
                axis.plot(x, y, "o", color=colour, markersize=4, alpha=0.8, label=label, linestyle="none")
            ends = [pick(theirs[table][shape] for shape in shapes) for pick in (min, max)]
            axis.plot(ends, ends, color=GREY, linewidth=0.8, zorder=0)
            axis.set(xscale="log", yscale="log", title=title, xlabel="published", ylabel="memsim")
            _label(axis, decades=math.log10(ends[1] / ends[0]))
            correlation = f"r = {scores[table].correlation:.3f}"
            axis.text(0.97, 0.05, correlation, transform=axis.transAxes, ha="right", color=INK)
        axes[0].legend(loc="upper left", title="columns of a block")
        write(figure, path)


def _label(axis: Axes, decades: float) -> None:
    """Whole numbers at powers of ten, at 3 and 5 times them too where the axis is short."""
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_locator(LogLocator(subs=(1,) if decades > 1.5 else (1, 3, 5)))
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        side.set_minor_formatter(NullFormatter())
