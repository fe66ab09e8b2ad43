"""The figures of a result as files: distributions, convergence, loads, latencies."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from memsim.analysis.result import RunResult
from memsim.report.figure_options import FigureOptions
from memsim.report.figure_style import write_figures
from memsim.report.figures.convergence import convergence
from memsim.report.figures.latency import latency, memory_density
from memsim.report.figures.loads import loads
from memsim.report.figures.ratios import ratios

__all__ = ["FIGURES", "convergence", "latency", "loads", "memory_density", "plot", "ratios"]

FIGURES = {"ratios": ratios, "convergence": convergence, "loads": loads, "latency": latency}


def plot(result: RunResult, folder: str | Path, figure_options: FigureOptions | None = None) -> list[Path]:
    """Write ``ratios``, ``convergence``, ``loads`` and ``latency`` to `folder`, made when missing.

    Args:
        result: what to draw.
        folder: for the files.
        figure_options: format, resolution and size; None: PNG for a screen.

    Returns:
        The files' paths.
    """
    return write_figures({name: partial(draw, result) for name, draw in FIGURES.items()}, folder, figure_options)
