"""How the answer settles as trials are added."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from memsim.analysis.result import RunResult
from memsim.analysis.statistics import t_factor
from memsim.report.figure_style import GREY, INK, panels
from memsim.report.figures.common import COLORS, TITLES, accessed, caption, draw_empty


def convergence(result: RunResult) -> Figure:
    """Against the number of trials: the ratios' standard deviation (the paper's figure 7), and half the 95 % interval.

    Both in percentage points. A dashed line is where the run was to stop.
    """
    figure, (spread, interval) = panels(1, 2, 9.0, 3.2)
    _lines(spread, result, "Standard deviation of one trial", lambda count, sd: sd)
    _lines(
        interval, result, "Half the 95 % interval of the mean",
        lambda count, sd: np.array([t_factor(n) for n in count.tolist()]) * sd / np.sqrt(count),
    )  # fmt: skip
    if result.until is not None and interval.get_lines():
        requested = 100 * result.until["width"] / 2
        interval.set_ylim(top=max(interval.get_ylim()[1], 1.15 * requested))  # the line is in sight
        interval.axhline(requested, color=INK, linewidth=0.9, linestyle="--")
        interval.annotate(
            "enough", (1, requested), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8
        )
    figure.suptitle(caption(result), x=0.01, ha="left", fontsize="medium", color=GREY)
    return figure


def _lines(axis: Axes, result: RunResult, title: str, of: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    axis.set_title(title)
    for name, ratio in accessed(result).items():
        count, sd = ratio.convergence()
        if count.size:
            values = 100 * of(count, sd)
            axis.plot(count, values, color=COLORS[name], linewidth=1.6, label=f"{TITLES[name]}, {values[-1]:.2g}")
    if not axis.get_lines():
        draw_empty(axis, "takes two trials")
        return
    axis.legend(title="hit ratio, with all trials", title_fontsize=8)
    axis.set_ylim(bottom=0)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set(xlabel="trials", ylabel="percentage points")
