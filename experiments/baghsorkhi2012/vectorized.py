"""Section 6.2: SpMV scalar and vectorised on four matrices, figure 8 and the measured speedups."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.baghsorkhi2012.kernels import CONVENTION, MATRICES, Kernel, replay
from experiments.harness.readme import markdown
from experiments.harness.study import AtMost, Claim, Setting, Within
from memsim.analysis.choices import Convention
from memsim.analysis.latency import expected_latency_terms
from memsim.analysis.loads import grouped
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Interval, Sample
from memsim.analysis.tables import number
from memsim.report.comparison_figures import stacks
from memsim.report.figure_style import panels, styled, write

Pair = tuple[RunResult, RunResult]  # scalar and vectorised

MEASURED = {"u": 2.4, "b": 3.63, "U": 2.5, "B": 14.8}
_QUICK_ROWS = 2688  # of a matrix in a quick run
_READINGS: dict[str, dict[str, str]] = {  # what listing 3 and the text leave open -> parameters that differ
    "outer fours one by one": dict(variant="vectorized"),
    "all rows of one length": dict(distribution="fixed"),
    "full blocks on the diagonal": dict(structure="dense_blocks"),
}


def pairs(setting: Setting) -> dict[str, Pair]:
    """The four matrices, each by both kernels, once the resident threads."""
    trials, rows = (2, _QUICK_ROWS) if setting.quick else (4, 86016)
    matrices = {name: kernel.but(name, rows=rows).part(0.25) for name, kernel in MATRICES.items()}
    return {name: pair(matrix, {}, trials, setting.jobs) for name, matrix in matrices.items()}


def pair(matrix: Kernel, reading: Mapping[str, Any], trials: int, jobs: int) -> Pair:
    """Both kernels on one matrix."""
    after = {"variant": "masked", **reading}
    before = {**after, "variant": "scalar"}
    one, other = (replay(matrix.but(matrix.title, **changed), trials, jobs) for changed in (before, after))
    return one, other


def claims(found: Mapping[str, Pair]) -> list[Claim]:
    """Speedups, and what the text says of figure 8."""
    rows = []
    for name, (scalar, vectorized) in found.items():
        ours, interval = speedup(scalar, vectorized)
        rows.append(
            Claim(
                f"vectorised SpMV's speedup, {name}",
                MEASURED[name],
                ours,
                interval,
                "x",
                "section 6.2",
                aim=Within(0.1),
            )
        )
    for name, (scalar, _) in found.items():
        x = latencies(scalar)
        claim = f"latency of y / of the slower of indices and val, {name}"
        rows.append(_below_one(claim, x["y"] / max(x["indices"], x["val"])))
    left = {name: latencies(after)["y"] / latencies(before)["y"] for name, (before, after) in found.items()}
    rows += [_below_one(f"latency of y, vectorised / scalar, {name}", share) for name, share in left.items()]
    rows += [_below_one(f"the same, {block} / {even}", left[block] / left[even]) for block, even in ("bu", "BU")]
    return rows


def _below_one(claim: str, ours: float) -> Claim:
    return Claim(claim, float("nan"), ours, unit="x", source="section 6.2: the text on figure 8", aim=AtMost(1.0))


def speedup(before: RunResult, after: RunResult) -> tuple[float, Interval]:
    """Ratio of the mean kernel times and its 95 % interval, the trials of one independent of the other's.

    By the delta method on the logarithm, whose variance is the sum of both means' relative variances; Student's t with
    the smaller sample's degrees of freedom, which errs to the wide side.
    """
    from scipy.special import stdtrit

    times: list[Sample] = [before.kernel_time, after.kernel_time]
    ratio = times[0].mean / times[1].mean
    relative = [time.sd / time.mean / np.sqrt(time.finite.size) for time in times]
    freedom = min(time.finite.size for time in times) - 1
    spread = float(np.exp(stdtrit(freedom, 0.975) * np.hypot(*relative)))
    return ratio, Interval(ratio / spread, ratio * spread)


def latencies(result: RunResult) -> dict[str, float]:
    """X of the paper's five static loads, nanoseconds: those of one array taken together, but for row_ptr's two.

    X = H1 t1 + (1 - H1) [H2 t2 + (1 - H2) Tm] of section 6.1, with hit ratios as the paper's caches count them: what is
    under way is there (the table of ``memsim show`` counts it as missing).
    """
    arrays, ops, gpu = result.trials.arrays, result.trials.ops, result.trials.about["gpu"]
    t1, t2 = gpu["l1"]["hit_latency_cycles"], gpu["l2"]["hit_latency_cycles"]
    x = {}
    for load in grouped(result.trials, lambda _, op: _static_load(op, arrays), Convention(CONVENTION)):
        ratios = load.l1_hit.values, load.l2_hit.values
        cycles = sum(expected_latency_terms(*ratios, t1, t2, result.memory_latency.values))
        x[_static_load(ops[load.ops[0]], arrays)] = float(np.mean(cycles)) * result.ns_per_cycle
    return x


def _static_load(op: Mapping, arrays: list) -> str:
    name = arrays[op["array"]]["name"]
    return op["text"] if name == "row_ptr" else name


def table(found: Mapping[str, Pair]) -> str:
    """Times, traffic and the latency of each load."""
    rows = []
    for name, both in found.items():
        ours, (low, high) = speedup(*both)
        for title, result in zip(("scalar", "vectorised"), both, strict=True):
            x = latencies(result)
            first = title == "scalar"
            rows.append(
                [
                    name,
                    title,
                    number(result.kernel_time.mean, 2),
                    "" if first else number(MEASURED[name], 2),
                    "" if first else f"{ours:.2f} ({low:.2f} … {high:.2f})",
                    number(100 * result.l1_read.mean, 1),
                    number(100 * result.l2_read.mean, 1),
                    number(result.counters["dram"]["sectors"]["reads"] * 32e-6, 0),
                    *(number(x[array]) for array in ("indices", "val", "y")),
                ]
            )
    header = ["matrix", "kernel", "ms", "measured speedup", "memsim", "L1 %", "L2 %", "MB from DRAM"]
    return markdown([*header, "X indices, ns", "X val", "X y"], rows, left=2)


def readings(setting: Setting, found: Mapping[str, Pair]) -> str:
    """Speedups under other readings of the listing and the matrices, with those `found` and those measured."""
    trials, share, names = (2, 0.02, "b") if setting.quick else (2, 0.25, "ubUB")
    rows_of = {"rows": _QUICK_ROWS} if setting.quick else {}
    rows = [
        ["measured", *(number(MEASURED[name], 2) for name in names)],
        ["outer fours masked (as above)", *(f"{speedup(*found[name])[0]:.2f}" for name in names)],
    ]
    for title, reading in _READINGS.items():
        matrices = {name: MATRICES[name].but(f"{name}, {title}", **rows_of).part(share) for name in names}
        asked = [name for name in names if "structure" not in reading or name in "bB"]
        found_here = {name: speedup(*pair(matrices[name], reading, trials, setting.jobs))[0] for name in asked}
        rows.append([title, *(f"{found_here[name]:.2f}" if name in asked else "" for name in names)])
    return markdown(["reading", *names], rows)


def draw(found: Mapping[str, Pair], folder: Path) -> None:
    """figure8.png: X of the five loads stacked, in units of the scalar kernel's slowest load."""
    bars = {}
    for name, both in found.items():
        slowest = max(latencies(both[0]).values())
        for kind, result in zip(("scalar", "vect."), both, strict=True):
            bars[f"{name}\n{kind}"] = {load: x / slowest for load, x in latencies(result).items()}
    with styled():
        figure, (axis,) = panels(1, 1, 8.6, 4.0)
        stacks(axis, bars)
        axis.set_title("Expected latency of the five static loads")
        axis.set_ylabel("X / X of the scalar kernel's slowest load")
        handles, labels = axis.get_legend_handles_labels()
        axis.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
        write(figure, folder / "figure8.png")
