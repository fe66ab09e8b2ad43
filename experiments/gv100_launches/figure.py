"""The study's figure: ours against the hardware's, a point a launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memsim.report.figure_style import BLUE, GREY, panels, styled, write

PANELS = (
    ("L1 hit ratio", "l1"),
    ("L2 hit ratio", "l2"),
    ("DRAM sectors", "dram_sectors"),
    ("elapsed cycles", "cycles"),
)


def draw(pairs: Mapping[str, tuple[Any, Any]], path: Path, quantities: Sequence[tuple[str, str]]) -> None:
    """Write the figure to `path`: hardware's counters along x, ours along y, and the diagonal.

    Args:
        pairs: by launch: hardware's counters, ours.
        quantities: a panel each: its title, and the name of an attribute of the counters; those of hits are ratios.
    """
    with styled():
        figure, axes = panels(1, len(quantities), 11.0, 3.0)
        for axis, (title, quantity) in zip(axes, quantities, strict=True):
            x, y = zip(*([getattr(both, quantity) for both in pair] for pair in pairs.values()), strict=True)
            ratio = quantity in ("l1", "l2")
            ends = (-0.03, 1.03) if ratio else (min(x + y) / 1.5, max(x + y) * 1.5)
            axis.plot(ends, ends, color=GREY, linewidth=0.8)
            axis.scatter(x, y, s=22, color=BLUE, alpha=0.8, linewidths=0)
            if not ratio:
                axis.set_xscale("log")
                axis.set_yscale("log")
            axis.set(title=title, xlabel="hardware", xlim=ends, ylim=ends)
        axes[0].set_ylabel("memsim")
        write(figure, path)
