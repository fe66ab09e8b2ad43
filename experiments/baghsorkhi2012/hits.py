"""Hit ratios of the eight kernels: figures 3, 5, 6 and 7, and sections 5.2 and 5.3."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from experiments.baghsorkhi2012.kernels import KERNELS, LBM, SPMV, VERSIONS, replay
from experiments.harness.readme import markdown
from experiments.harness.study import AtMost, Claim, Points, Setting, WithinFactor
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Interval, Ratio
from memsim.analysis.tables import number
from memsim.report import comparison_figures
from memsim.report.figure_style import GREY, INK, ORANGE, panels, styled, write
from memsim.report.figures import memory_density

Results = Mapping[str, RunResult]

_RATIOS = ("l1_read", "l2_read", "l2_write")
_HEADERS = ("L1 read", "L2 read", "L2 write")
_NEAR = 0.25  # of the final sd: one sd of an sd of 20 trials is 1 / sqrt(2 x 19) = 16 %, so this is 1.5 of them
_SHARES = (0.25, 0.5)  # of the snapshot
_QUICK_SHARE = 1 / 32  # of it, in a quick run
_SWITCHES = ("start_alignment", "warp_weights", "arbitration")


def of_all_kernels(setting: Setting) -> dict[str, RunResult]:
    """The eight kernels: 64 trials each, or 3 of a thirty-second of the snapshot."""
    trials, share = (3, _QUICK_SHARE) if setting.quick else (64, 1)
    return {kernel.title: replay(kernel.part(share), trials, setting.jobs) for kernel in KERNELS}


def claims(results: Results) -> list[Claim]:
    """What sections 5.2 and 5.3 print of the model itself; the hardware's ratios stand in the figures alone."""
    ratios = [ratio for result in results.values() for ratio in result.ratios.values() if ratio.finite.size]
    sds = 100 * np.array([ratio.sd for ratio in ratios])
    inside = 100 * np.concatenate([_inside_spread(ratio) for ratio in ratios]).mean()
    spmv = results[SPMV.title]
    sd, sd_interval = 100 * spmv.l2_read.sd, _sd_interval(spmv.l2_read)
    seconds = float(spmv.trials.wall_seconds.min())
    spread, settles = "trials within mean ± 2 sd, of those that spread", "trials until the sd of SpMV's L2 read settles"
    paper_seconds, when = 3.16 * 60, "section 5.3: Core i7 at 2.8 GHz"
    return [
        Claim("mean sd of the hit ratios", 1.0, float(sds.mean()), None, "%", "section 5.2", aim=AtMost(1.0)),
        Claim("sd of SpMV's L2 read ratio", 2.0, sd, sd_interval, "%", "section 5.3", aim=WithinFactor(2)),
        Claim(spread, 95.0, float(inside), None, "%", "section 5.2", aim=Points(3.0)),
        Claim(settles, 20, settled(spmv.l2_read), None, "trials", "section 5.3, figure 7", aim=AtMost(20)),
        Claim("fastest trial of SpMV, one core", paper_seconds, seconds, None, "s", when, aim=AtMost(paper_seconds)),
    ]


def settled(ratio: Ratio) -> int:
    """The first number of trials from which on the sd stays within a quarter of its final value.

    >>> settled(Ratio(np.array([1.0, 3.0, 2.0, 4.0, 0.0])))
    4
    """
    count, sd = ratio.convergence()
    away = np.flatnonzero(np.abs(sd - sd[-1]) > _NEAR * sd[-1])
    return int(count[away[-1] + 1]) if away.size else int(count[0])


def _inside_spread(ratio: Ratio) -> np.ndarray:
    spread = ratio.spread()
    values = ratio.finite
    if spread is None or np.ptp(values) == 0:
        return np.zeros(0, bool)
    return (spread.low <= values) & (values <= spread.high)


def _sd_interval(ratio: Ratio) -> Interval:
    """The 95 % interval of a normal sample's sd, percentage points."""
    from scipy.stats import chi2

    freedom = ratio.finite.size - 1
    low, high = (100 * ratio.sd * np.sqrt(freedom / chi2.ppf(q, freedom)) for q in (0.975, 0.025))
    return Interval(float(low), float(high))


def ratio_table(results: Results) -> str:
    """Mean and sd of the three ratios, a row per kernel, and what is replayed."""
    rows = []
    for title, result in results.items():
        cells = [_percent(part) for name in _RATIOS for part in (result.ratios[name].mean, result.ratios[name].sd)]
        transactions = number(result.performance["transactions_per_trial"])
        rows.append([title, *cells, transactions, str(len(result.trials.trial))])
    header = ["kernel", *(cell for name in _HEADERS for cell in (f"{name} %", "sd")), "transactions", "trials"]
    return markdown(header, rows)


def _percent(share: float) -> str:
    return number(100 * share, 2)


def versions(setting: Setting) -> str:
    """The ratios of other versions of the kernels."""
    kernels = VERSIONS[1:3] if setting.quick else VERSIONS
    trials, share = (2, _QUICK_SHARE) if setting.quick else (4, 0.25)
    return ratio_table({kernel.title: replay(kernel.part(share), trials, setting.jobs) for kernel in kernels})


def snapshots(setting: Setting, whole: Results) -> str:
    """How the ratios, and their sd, depend on the snapshot's length; `whole` are those of the whole snapshots."""
    kernels = (LBM,) if setting.quick else KERNELS
    shares, trials = ((_QUICK_SHARE / 2,), 2) if setting.quick else (_SHARES, 4)
    rows = []
    for kernel in kernels:
        found = [*(replay(kernel.part(share), trials, setting.jobs) for share in shares), whole[kernel.title]]
        for name, title in zip(_RATIOS, _HEADERS, strict=True):
            cells = [f"{_percent(one.ratios[name].mean)} ± {_percent(one.ratios[name].sd)}" for one in found]
            rows.append([kernel.title, title, *cells])
    return markdown(["kernel", "hit ratio %, sd", *(f"{share:g}" for share in shares), "1"], rows, left=2)


def switches(setting: Setting) -> str:
    """Which source of chance SpMV's spread comes from: each of them off, by itself."""
    kernel, trials, share = (LBM, 2, _QUICK_SHARE) if setting.quick else (SPMV, 8, 0.25)
    cases: dict[str, dict[str, object]] = {"all on": {}}
    cases |= {f"{name} off": {f"stochastic.{name}": False} for name in _SWITCHES}
    rows = []
    for title, settings in cases.items():
        result = replay(kernel.part(share), trials, setting.jobs, settings)
        cells = (f"{_percent(result.ratios[name].mean)} ± {_percent(result.ratios[name].sd)}" for name in _RATIOS[:2])
        rows.append([title, *cells, f"{100 * result.cycles.sd / result.cycles.mean:.2f} %"])
    return markdown(["switch", "L1 read %, sd", "L2 read %, sd", "sd of the time"], rows)


def draw(results: Results, folder: Path) -> None:
    """figure3.png, figure5.png, figure6.png, figure7.png."""
    spmv, pairs = results[SPMV.title], list(results.items())
    with styled():
        figure, (axis,) = panels(1, 1, 5.6, 3.4)
        memory_density(axis, spmv)
        write(figure, folder / "figure3.png")
        write(comparison_figures.side_by_side(dict(pairs[:4])), folder / "figure5.png")
        write(comparison_figures.side_by_side(dict(pairs[4:])), folder / "figure6.png")
        write(_convergence(results), folder / "figure7.png")


def _convergence(results: Results) -> Figure:
    """Running sd of every kernel's L2 read ratio, SpMV's, which is the paper's figure, in front."""
    figure, (axis,) = panels(1, 1, 5.6, 3.4)
    axis.set_title("L2 read: standard deviation against trials")
    for title, result in results.items():
        count, sd = result.l2_read.convergence()
        if title == SPMV.title:
            axis.plot(count, 100 * sd, color=ORANGE, linewidth=2.0, label=title, zorder=3)
        elif sd[-1] > 0:
            axis.plot(count, 100 * sd, color=GREY, linewidth=0.8, label="the others")
    axis.axvline(20, color=INK, linewidth=0.8, linestyle="--")
    handles = {label: handle for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    axis.legend(handles.values(), handles.keys())
    axis.set(xlabel="simulations", ylabel="sd, percentage points")
    axis.set_ylim(bottom=0)
    return figure
