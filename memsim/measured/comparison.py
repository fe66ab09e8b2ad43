"""A result compared with a profiled launch: every figure that both have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memsim.analysis.profiler import Metric, metrics
from memsim.analysis.result import RunResult
from memsim.measured.launch import MeasuredLaunch, choose
from memsim.measured.report import read_report
from memsim.support.errors import InputError

# The same counter under the name of another version, GPU or page of the profiler.
_ALSO = {
    "dram__bytes_read.sum": ("dram__bytes_op_read.sum",),
    "dram__bytes_write.sum": ("dram__bytes_op_write.sum",),
    "dram__sectors_read.sum": ("dram__sectors_op_read.sum",),
    "dram__sectors_write.sum": ("dram__sectors_op_write.sum",),
    "gpc__cycles_elapsed.max": ("sm__cycles_elapsed.max",),
    "gpu__time_duration.sum": ("gpu__time_duration.avg", "gpu__time_duration.max"),
    "sm__cycles_active.max": ("sm__cycles_active.avg",),
    "smsp__inst_executed.sum": ("sm__inst_executed.sum",),
}


@dataclass(frozen=True)
class MetricLine:
    """One figure in both.

    Attributes:
        metric: the simulated one.
        measured: the profiler's, in the same unit.
        difference: simulated - measured in points for a rate; else relative to the measured; nan where that is 0.
    """

    metric: Metric
    measured: float
    difference: float


@dataclass(frozen=True)
class ReportComparison:
    """A result compared with a launch.

    Attributes:
        launch: the profiled one.
        lines: the figures that both have, in the order of the levels.
        cautions: what differs between the launches, in words.
    """

    launch: MeasuredLaunch
    lines: tuple[MetricLine, ...]
    cautions: tuple[str, ...]


def compare_with_report(
    result: RunResult, path: str | Path, kernel: str | None = None, launch: int | None = None
) -> ReportComparison:
    """Compare a result with a launch of a profiler's report.

    Args:
        path: of the report, see :func:`memsim.measured.read_report`.
        kernel: a part of the name that the report has; None: the result's kernel.
        launch: which of its launches in the report, from 0; None: the first.

    Raises:
        InputError: a bad report, no such launch, or one that has none of our figures.
    """
    found = choose(path, read_report(path), result.trials.about["trace"]["kernel"], kernel, launch)
    lines = tuple(
        MetricLine(metric, measured, _difference(metric, measured))
        for metric in metrics(result).values()
        if (measured := _measured(found, metric.name)) is not None
    )
    if not lines:
        raise InputError(
            path, "metrics", "include none that memsim predicts; profile with those that memsim show --ncu lists"
        )
    return ReportComparison(found, lines, _cautions(result, found))


def _measured(launch: MeasuredLaunch, name: str) -> float | None:
    return next((launch.metrics[one] for one in (name, *_ALSO.get(name, ())) if one in launch.metrics), None)


def _difference(metric: Metric, measured: float) -> float:
    if metric.unit == "%":
        return metric.values.mean - measured
    return metric.values.mean / measured - 1 if measured else float("nan")


def _cautions(result: RunResult, launch: MeasuredLaunch) -> tuple[str, ...]:
    about = result.trials.about
    found = []
    for name, shape in (("grid", launch.grid), ("block", launch.block)):
        if shape is not None and shape != tuple(about["trace"][name]):
            ours, theirs = ("x".join(map(str, extents)) for extents in (about["trace"][name], shape))
            found.append(f"the profiled launch has a {name} of {theirs}, the simulated one of {ours}")
    if about.get("warm") or about.get("launches_before"):
        found.append("caches are warm in the simulation; ncu empties them, unless --cache-control none is given")
    return tuple(found)
