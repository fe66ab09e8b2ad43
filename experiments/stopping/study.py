"""Does the rule that ends a run by itself keep its promise? Its intervals against the mean of 200 trials."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import memsim
from experiments.harness.parallel import mapped
from experiments.harness.readme import markdown
from experiments.harness.study import AtLeast, AtMost, Claim, Outcome, Setting
from experiments.which_randomness.study import SMALL
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Sample
from memsim.analysis.stopping import Plan
from memsim.montecarlo.trials import Trials
from memsim.report.figure_style import SERIES, panels, styled, write

TRIALS = 200  # of each case, whose mean is taken for the truth
STEP = 7  # trials between the starts of two runs taken from them
SNAPSHOT, WHOLE = "snapshot", "whole launch"
_GPUS = {SNAPSHOT: "tesla-c2050", WHOLE: "tesla-v100"}
_LEAST_SD = 1e-9  # of the mean: what varies less does not vary
_BOTH = (
    "atax", "bfs", "btree", "conv3d", "dct8x8", "gaussian", "gemv", "lud", "merge_intervals", "pathfinder", "reduction",
    "spmv", "srad", "stencil", "transpose",
)  # fmt: skip
_SNAPSHOT_ONLY = (
    "backprop", "conv2d", "fft", "gather_scatter", "gram_schmidt", "hotspot", "matmul", "scan", "texture_add",
    "warp_sum",
)  # fmt: skip
CASES = tuple((name, part) for name in _BOTH for part in (SNAPSHOT, WHOLE)) + tuple(
    (name, SNAPSHOT) for name in _SNAPSHOT_ONLY
)
_SMALLER: dict[str, dict[str, Any]] = {"spmv": dict(rows=4096, nnz_per_row=16), "stencil": dict(n=64, planes=6)}
_QUICK = (("spmv", SNAPSHOT), ("reduction", WHOLE))


@dataclass(frozen=True)
class Runs:
    """What runs that the rule ended would have reported, of one kernel on one GPU.

    Attributes:
        name, part: the workload, and what was replayed of it.
        trials: of each run.
        held: quantity -> of each run, whether its interval held the mean of all trials.
        sd: quantity -> standard deviation of one trial: of a ratio in points, of the time in percent.
        off: quantity -> the largest distance of a run's mean from that of all trials, in the same unit.
    """

    name: str
    part: str
    trials: Sequence[int]
    held: dict[str, list[bool]]
    sd: dict[str, float]
    off: dict[str, float]


def run(setting: Setting) -> Outcome:
    """All cases; a quick run takes two kernels and fewer trials."""
    cases, trials = (_QUICK, 60) if setting.quick else (CASES, TRIALS)
    asked = [(name, part, trials) for name, part in cases]
    found = mapped(_runs, asked, setting.jobs, "cases")
    _draw(found, setting.figures / "coverage.png")
    return Outcome(list(_claims(found)), {"coverage": _table(found)})


def _runs(asked: tuple[str, str, int]) -> Runs:
    name, part, count = asked
    return runs(name, part, trials_of(name, part, count))


def trials_of(name: str, part: str, count: int) -> Trials:
    """So many trials of a case."""
    gpu, blocks = _GPUS[part], "2x" if part == SNAPSHOT else "all"
    trace = memsim.trace(name, gpu=gpu, blocks=blocks, **SMALL.get(name, {}) | _SMALLER.get(name, {}))
    return memsim.simulate(trace, gpu, trials=count, seed=2, jobs=1, whole=part == WHOLE).trials


def runs(name: str, part: str, trials: Trials) -> Runs:
    """The runs that the rule would have made of these trials, from every few of them on."""
    plan, count = Plan.of(None, None), len(trials.trial)
    truth = _quantities(trials)
    lengths, held = [], {quantity: [] for quantity in truth}
    off = dict.fromkeys(truth, 0.0)
    for start in range(0, count - plan.most + 1, STEP):
        its = _first_enough(plan, trials, start)
        lengths.append(len(its.trial))
        for quantity, sample in _quantities(its).items():
            mean, interval = truth[quantity].mean, sample.interval()
            assert interval is not None
            held[quantity].append(bool(interval.low - 1e-12 <= mean <= interval.high + 1e-12))
            off[quantity] = max(off[quantity], abs(sample.mean - mean))
    scale = {quantity: 100 / (sample.mean if quantity == "time" else 1) for quantity, sample in truth.items()}
    sd = {quantity: sample.sd * scale[quantity] for quantity, sample in truth.items()}
    return Runs(name, part, lengths, held, sd, {quantity: value * scale[quantity] for quantity, value in off.items()})


def _quantities(trials: Trials) -> dict[str, Sample]:
    """What a run reports and varies: the time, and the hit ratios that there are, as shown and with merges."""
    found: dict[str, Sample] = {"time": RunResult(trials).kernel_time}
    for convention in ("traffic", "model"):
        for name, ratio in RunResult(trials, convention).ratios.items():
            if not math.isnan(ratio.mean):
                found[f"{name} {convention}"] = ratio
    return found


def _first_enough(plan: Plan, trials: Trials, start: int) -> Trials:
    """The trials from one on that the rule would have made."""
    enough = plan.enough("model")
    assert enough is not None
    for end in range(start + 1, start + plan.most + 1):
        reached = enough(_rows(trials, slice(end - 1, end)))
        if reached and end - start >= plan.least:
            break
    return _rows(trials, slice(start, end))


def _rows(trials: Trials, chosen: slice) -> Trials:
    arrays = {
        field.name: value[chosen]
        for field in dataclasses.fields(trials)
        if isinstance(value := getattr(trials, field.name), np.ndarray)
    }
    return dataclasses.replace(trials, **arrays)


def share_held(found: Sequence[Runs], quantities: Sequence[str] = (), *, vary: bool = True) -> float:
    """The share of intervals that held the mean, in percent; with `vary`, of quantities that differ between trials."""
    each = [
        held
        for one in found
        for quantity, runs in one.held.items()
        if (not quantities or quantity in quantities) and not (vary and one.sd[quantity] <= _LEAST_SD)
        for held in runs
    ]
    return 100 * float(np.mean(each))


def _claims(found: Sequence[Runs]) -> Iterator[Claim]:
    ratios = [f"{name} traffic" for name in ("l1_read", "l2_read", "l2_write")]
    shown = [f"{name} model" for name in ("l1_read", "l2_read", "l2_write")]
    yield Claim("intervals that hold the mean of 200 trials", 95, share_held(found, ["time", *ratios]), unit="%",
                aim=AtLeast(93))  # fmt: skip
    yield Claim("of the time", 95, share_held(found, ["time"]), unit="%", aim=AtLeast(93))
    yield Claim("of hit ratios with merges", 95, share_held(found, ratios), unit="%", aim=AtLeast(93))
    yield Claim("of hit ratios without merges", 95, share_held(found, shown), unit="%", aim=AtLeast(93))
    near = [max(value for name, value in one.off.items() if name in ratios) for one in found]
    yield Claim("largest error of a hit ratio with merges, median case", math.nan, float(np.median(near)), unit="%",
                aim=AtMost(0.5))  # fmt: skip


def _draw(found: Sequence[Runs], path: Path) -> None:
    """How often the intervals of each case held the mean, against the number of trials that its runs made."""
    with styled():
        figure, axes = panels(1, 1, 5.5, 3.5)
        axis = axes[0]
        for number, part in enumerate((SNAPSHOT, WHOLE)):
            of = [one for one in found if one.part == part]
            held = [share_held([one], vary=False) for one in of]
            axis.plot([np.mean(one.trials) for one in of], held, "o", color=SERIES[number], label=part)
        axis.axhline(95, linewidth=0.8, linestyle="--", color="grey")
        axis.set(xlabel="trials of a run, mean", ylabel="intervals that hold the mean, %", ylim=(0, 103))
        axis.legend(loc="lower right")
        write(figure, path)


def _table(found: Sequence[Runs]) -> str:
    headers = ["workload", "replayed", "trials", "time sd %", "ratios sd", "held %", "time off %", "ratios off"]
    rows = []
    for one in found:
        ratios = [name for name in one.sd if name.endswith("traffic")]
        held = share_held([one], ["time", *ratios], vary=False)
        cells = [f"{np.mean(one.trials):.1f}", f"{one.sd['time']:.2f}", f"{max(one.sd[name] for name in ratios):.2f}"]
        cells += [f"{held:.0f}", f"{one.off['time']:.2f}", f"{max(one.off[name] for name in ratios):.2f}"]
        rows.append([one.name, one.part, *cells])
    return markdown(headers, rows)
