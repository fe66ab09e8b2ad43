"""How figures look: one palette (Okabe and Ito's, safe for colour-blind readers), thin lines, no clutter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memsim.support.files import replacing, writing

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, GREY, INK = "#CC79A7", "#56B4E9", "#8A8A8A", "#222222"
NEAR, FAR, FARTHEST = "#BCD7E8", "#5E9DC8", "#1D4F7C"  # the levels of the hierarchy, darker as they are slower
SERIES = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, GREY)

_RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": "#5A5A5A",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "xtick.color": "#5A5A5A",
    "ytick.color": "#5A5A5A",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
}


@contextmanager
def styled() -> Iterator[None]:
    """Figures made inside look like memsim's; matplotlib's settings outside stay as they are."""
    with matplotlib.rc_context(_RC):
        yield


def panels(rows: int, columns: int, width: float, height: float, **grid: Any) -> tuple[Figure, list[Axes]]:
    """A figure without a window (so no display is needed), and its axes row by row."""
    figure = Figure(figsize=(width, height))
    axes = figure.subplots(rows, columns, squeeze=False, **grid)
    return figure, list(axes.flat)


def write(figure: Figure, path: Path) -> Path:
    """Save as PNG, whole or not at all, the same bytes for the same figure."""
    with writing(path), replacing(path) as temporary:
        figure.savefig(temporary, format="png", metadata={"Software": None})
    return path
