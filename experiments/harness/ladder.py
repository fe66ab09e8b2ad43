"""The figure of a ladder: one kernel after the other, each a step faster, simulated and measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memsim.report.figure_style import BLUE, GREY, panels, styled, write


def draw(names: Sequence[str], measured: Sequence[float], ours: Sequence[float], unit: str, path: Path) -> None:
    """Write the figure to `path`: steps along x, both curves along a logarithmic y."""
    with styled():
        figure, (axis,) = panels(1, 1, 6.0, 3.2)
        axis.plot(names, measured, color=GREY, marker="o", markersize=4, label="measured")
        axis.plot(names, ours, color=BLUE, marker="o", markersize=4, label="memsim")
        axis.set_yscale("log")
        axis.set(xlabel="kernel", ylabel=unit)
        axis.legend()
        write(figure, path)
