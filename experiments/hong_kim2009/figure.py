"""Modelled and simulated cycles per instruction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

from experiments.hong_kim2009.measure import Found
from memsim.report.figure_style import GREY, SERIES, panels, styled, write

TICKS = (4, 8, 16, 32, 64)  # cycles per instruction
SHIFTS = {"Linear": (-4, 7), "Mat. (tiled), 8": (-10, 7), "Mat. (tiled), 16": (6, 5)}  # others below


def draw(small: Sequence[Found], large: Sequence[Found], path: Path) -> None:
    """Left the micro-benchmarks, right the applications; a colour a GPU, the line is where both agree."""
    gpus = list(dict.fromkeys(one.gpu for one in small))
    with styled():
        figure, axes = panels(1, 2, 8, 3.8)
        for ax, found, title in zip(axes, (small, large), ("micro-benchmarks", "applications"), strict=True):
            for gpu, colour in zip(gpus, SERIES, strict=False):
                mine = [one for one in found if one.gpu == gpu]
                ax.loglog([one.cpi for one in mine], [one.modelled for one in mine], "o", color=colour, ms=4, label=gpu)
            ends = [min(one.cpi for one in found) / 1.3, max(one.cpi for one in found) * 1.3]
            ax.plot(ends, ends, color=GREY, lw=0.7, zorder=0)
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_major_locator(FixedLocator(TICKS))
                axis.set_major_formatter(ScalarFormatter())
                axis.set_minor_locator(NullLocator())
            ax.set_title(title)
            ax.set_xlabel("simulated cycles per instruction")
            ax.set_ylabel("MWP/CWP")
        axes[0].legend()
        for name in dict.fromkeys(one.case.name for one in large):
            last = max((one for one in large if one.case.name == name), key=lambda one: one.cpi)
            shift, place = SHIFTS.get(name, (6, -9)), (last.cpi, last.modelled)
            axes[1].annotate(name, place, xytext=shift, textcoords="offset points", fontsize=6)
        write(figure, path)
