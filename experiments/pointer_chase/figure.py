"""Measured and simulated curves, one panel a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.pointer_chase.boards import BOARDS, curve
from memsim.report import figure_style


def draw(simulated: Mapping[str, tuple[np.ndarray, np.ndarray]], path: Path) -> Path:
    """`simulated`: preset -> (working sets in KB, latencies in cycles)."""
    with figure_style.styled():
        figure, axes = figure_style.panels(2, 4, 14, 6.4)
        for panel, board in zip(axes, BOARDS, strict=True):
            kb, latency, _ = curve(board)
            panel.plot(kb / 1024, latency, color=figure_style.GREY, linewidth=1.2, label="measured")
            if board.gpu in simulated:
                lists, cycles = simulated[board.gpu]
                ring: Any = dict(markersize=3, markerfacecolor="none", markeredgewidth=0.8)
                panel.plot(lists / 1024, cycles, "o", color=figure_style.VERMILION, label="memsim", **ring)
            panel.set_xscale("log", base=2)
            panel.set_xlim(1 / 64, 512)
            panel.set_xticks([1 / 16, 1, 16, 256], ["64 KB", "1 MB", "16 MB", "256 MB"])
            panel.set_ylim(0)
            panel.set_title(board.title)
            panel.set_xlabel("working set")
        for panel in axes[::4]:
            panel.set_ylabel("latency, cycles")
        axes[0].legend(loc="lower right")  # below the plateaus
        return figure_style.write(figure, path)
