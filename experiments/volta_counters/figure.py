"""The study's figure: ours against the hardware's, a point a kernel."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from memsim.report.figure_style import BLUE, GREY, panels, styled, write

_PANELS = (
    ("L1 read hit ratio", "l1_read", False),
    ("L2 read hit ratio", "l2_read", False),
    ("DRAM sectors read", "dram_reads", True),
    ("DRAM sectors written", "dram_writes", True),
    ("elapsed cycles", "cycles", True),
)


def draw(pairs: list[Any], path: Path) -> None:
    """Write the figure to `path`: hardware's counters along x, ours along y, and the diagonal."""
    with styled():
        figure, axes = panels(1, len(_PANELS), 13.5, 3.0)
        for axis, (title, quantity, logarithmic) in zip(axes, _PANELS, strict=True):
            points = [
                (getattr(hardware, quantity), getattr(ours, quantity).mean)
                for row, hardware, ours in pairs
                if not (row.texture and quantity == "l1_read")
            ]
            _panel(axis, title, [point for point in points if _shown(point, logarithmic)], logarithmic)
        axes[0].set_ylabel("memsim")
        write(figure, path)


def _shown(point: tuple[float, float], logarithmic: bool) -> bool:
    return min(point) >= 1000 if logarithmic else not any(map(math.isnan, point))


def _panel(axis: Axes, title: str, points: list[tuple[float, float]], logarithmic: bool) -> None:
    axis.set_title(title)
    axis.set_xlabel("hardware")
    values = [value for point in points for value in point]
    ends = (min(values) / 1.5, max(values) * 1.5) if logarithmic else (-0.03, 1.03)
    axis.plot(ends, ends, color=GREY, linewidth=0.8)
    axis.scatter(*zip(*points, strict=True), s=22, color=BLUE, alpha=0.8, linewidths=0)
    if logarithmic:
        axis.set_xscale("log")
        axis.set_yscale("log")
    axis.set(xlim=ends, ylim=ends)
