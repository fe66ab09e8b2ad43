"""MPE and simulated time against measured time, a colour for each thing that the versions do differently."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from memsim.report.figure_style import GREY, SERIES, panels, styled, write

Point = tuple[str, float, float, float]  # kind of version, measured ms, MPE, simulated ms


def draw(points: Iterable[Point], path: Path) -> None:
    """Left MPE, right the simulation, where the line is equal times."""
    points = list(points)
    kinds = list(dict.fromkeys(kind for kind, *_ in points))
    with styled():
        figure, (left, right) = panels(1, 2, 8, 3.4)
        for kind, colour in zip(kinds, SERIES, strict=False):
            _, measured, mpe, simulated = zip(*(point for point in points if point[0] == kind), strict=True)
            left.loglog(measured, mpe, "o", color=colour, ms=4, label=kind)
            right.loglog(measured, simulated, "o", color=colour, ms=4, label=kind)
        ends = [min(point[1] for point in points) / 1.3, max(point[1] for point in points) * 1.3]
        right.plot(ends, ends, color=GREY, lw=0.7, zorder=0)
        for axes, title, label in ((left, "CuMAPz's estimate", "MPE"), (right, "simulation", "simulated ms")):
            axes.set_title(title)
            axes.set_xlabel("measured ms, Tesla C1060")
            axes.set_ylabel(label)
        right.legend()
        write(figure, path)
