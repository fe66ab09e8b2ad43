"""Histograms of the hit ratios."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Ratio
from memsim.report.figure_style import GREY, INK, narrow, panels
from memsim.report.figures.common import COLORS, TITLES, accessed, caption, draw_empty, intervals

_THIN = 1e-3  # trials that lie closer together than this make no histogram


def ratios(result: RunResult) -> Figure:
    """A panel a ratio that trials differ in: the trials, and above them the mean's interval and that of one run.

    They are the paper's figures 5 and 6 (Baghsorkhi 2012).
    """
    known = accessed(result)
    shown = {name: ratio for name, ratio in known.items() if np.ptp(ratio.finite) >= _THIN}
    height = 3.0 if shown else 1.0 + 0.2 * len(known)
    figure, axes = panels(1, max(1, len(shown)), 3.2 * max(2, len(shown)), height)
    for axis, (name, ratio) in zip(axes, shown.items(), strict=False):
        axis.set_title(f"{TITLES[name]} hit ratio, n = {ratio.finite.size}")
        histogram(axis, ratio, COLORS[name])
    agreed = "\n".join(_agreement(name, ratio) for name, ratio in known.items() if name not in shown)
    if shown:
        axes[0].set_ylabel("share of trials")
        figure.supxlabel(agreed, x=0.01, ha="left", fontsize="small", color=INK)
    else:
        draw_empty(axes[0], agreed or "no accesses to global memory", INK)
        axes[0].set_axis_off()
    handles = {name: one for axis in axes for one, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=1 if narrow() else 3)
    figure.suptitle(caption(result), x=0.01, ha="left", fontsize="medium", color=GREY)
    return figure


def histogram(axis: Axes, ratio: Ratio, color: str) -> None:
    """One ratio's trials."""
    counts, edges = ratio.histogram()
    share = counts / counts.sum()
    axis.bar(edges[:-1], share, np.diff(edges), align="edge", color=color, alpha=0.8, edgecolor="white")
    top = float(share.max())
    intervals(axis, ratio, 1.12 * top)
    axis.set_ylim(0, 1.25 * top)
    low, high = axis.get_xlim()
    axis.set_xlim(max(low, -0.02 * (high - low)), min(high, 1 + 0.02 * (high - low)))
    sd = f", sd {100 * ratio.sd:.2f} points" if ratio.finite.size > 1 else ""
    axis.set_xlabel(f"mean {ratio.mean:.2%}{sd}")
    axis.xaxis.set_major_formatter(lambda value, _: f"{round(100 * value, 3):g}%")
    axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.locator_params(axis="x", nbins=5)


def _agreement(name: str, ratio: Ratio) -> str:
    """The text about trials that almost agree, instead of a histogram."""
    spread, trials = 100 * np.ptp(ratio.finite), ratio.finite.size
    among = "in one trial" if trials == 1 else f"in all {trials} trials"
    return f"{TITLES[name]} hit ratio {ratio.mean:.2%} {among}" + (f", within {spread:.2g} points" if spread else "")
