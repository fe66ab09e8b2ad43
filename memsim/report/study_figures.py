"""A study as figures: response curves with bands, a heat map of two fields, a tornado, what no point beats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memsim.analysis.statistics import Sample
from memsim.report import figure_style
from memsim.report.figure_options import FigureOptions
from memsim.report.study import value
from memsim.studies.effects import surely_less
from memsim.studies.result import OUTPUTS, RATIOS, StudyTrials
from memsim.support.errors import InputError
from memsim.support.files import writing

_CURVES = ("l1_read", "l2_read", "time_ms")
_MOST_CURVES = 6  # in a panel; with more combinations of the other fields, a curve is their mean
_MOST_CELLS = 100  # of a heat map, to be written in numbers
_MOST_ENDS = 4  # levels of a number whose ends are single levels
_LOG_BEYOND = 8  # a numeric axis that spans more than this factor in factors


def plot(study: StudyTrials, folder: Path, figure_options: FigureOptions | None = None) -> list[Path]:
    """Every figure that the study's fields allow.

    Raises:
        InputError: no field varies, or the folder cannot be written.
    """
    if not study.varied or not study.trials:
        raise InputError("plot", "study", "has one point; there is nothing to draw")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with figure_style.styled(figure_options):
        return [figure_style.write(figure, figure_style.figure_path(folder, name)) for name, figure in drawn(study)]


def drawn(study: StudyTrials) -> Iterator[tuple[str, Figure]]:
    """Each figure with its name."""
    for field in study.varied:
        yield f"response-{field}", response(study, field)
    if len(study.varied) > 1:
        yield "heat-map", heat_map(study, study.varied[0], study.varied[1])
        yield "tornado", tornado(study)
    yield "pareto", pareto(study)


def response(study: StudyTrials, field: str) -> Figure:
    """Each output against one field, a line a combination of the others; the band holds the mean with 95 %."""
    outputs = [name for name in _CURVES if any(np.isfinite(study.means(name, c)).any() for c in _cases(study))]
    figure, axes = figure_style.panels(len(study.cases), len(outputs), 3.4 * len(outputs), 2.7 * len(study.cases))
    for case in _cases(study):
        for column, name in enumerate(outputs):
            axis = axes[case * len(outputs) + column]
            _curves(study, field, name, case, axis)
            axis.set_title(str(study.cases[case]) if column == 0 else "")
            axis.set_xlabel(field)
            axis.set_ylabel(_label(name))
            if name in RATIOS:
                _at_least_a_point(axis)
    handles, labels = axes[0].get_legend_handles_labels()
    if len(labels) > 1:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(3, len(labels)))
    return figure


def heat_map(study: StudyTrials, horizontal: str, vertical: str) -> Figure:
    """The time over two fields, mean over the others; a panel a case."""
    figure, axes = figure_style.panels(1, len(study.cases), 4.2 * len(study.cases), 3.4)
    columns, rows = (_levels(study, field) for field in (horizontal, vertical))
    for case, axis in zip(_cases(study), axes, strict=True):
        times = study.means("time_ms", case)
        grid = np.full((len(rows), len(columns)), np.nan)
        for y, of_row in enumerate(rows):
            for x, of_column in enumerate(columns):
                here = [p[horizontal] == of_column and p[vertical] == of_row for p in study.points]
                if np.isfinite(times[here]).any():
                    grid[y, x] = np.nanmean(times[here])
        image = axis.imshow(grid, origin="lower", aspect="auto", cmap="cividis_r")
        if grid.size <= _MOST_CELLS:
            _write_cells(axis, grid)
        axis.grid(False)
        axis.set_xticks(range(len(columns)), [value(one, horizontal) for one in columns], rotation=45, ha="right")
        axis.set_yticks(range(len(rows)), [value(one, vertical) for one in rows])
        axis.set_xlabel(horizontal)
        axis.set_ylabel(vertical)
        axis.set_title(str(study.cases[case]))
        figure.colorbar(image, ax=axis, label=OUTPUTS["time_ms"])
    return figure


def _write_cells(axis: Axes, grid: np.ndarray) -> None:
    middle = (np.nanmin(grid) + np.nanmax(grid)) / 2
    for (row, column), time in np.ndenumerate(grid):
        if np.isfinite(time):
            color = "white" if time > middle else "black"
            axis.text(column, row, f"{time:.3g}", ha="center", va="center", fontsize=7, color=color)


def _at_least_a_point(axis: Axes) -> None:
    """An axis of a ratio shows a point or more, so that what does not move looks as if it does not."""
    low, high = axis.get_ylim()
    if high - low < 1:
        middle = min(max((low + high) / 2, 0.5), 99.5)
        axis.set_ylim(middle - 0.5, middle + 0.5)


def tornado(study: StudyTrials) -> Figure:
    """How far each field alone moves the time, the widest on top: means over the points at both its ends.

    The ends of numbers are the lowest and the highest; of more than four, the lowest and highest quarter of the points.
    Of words they are those with the shortest and the longest mean time.
    """
    figure, axes = figure_style.panels(1, len(study.cases), 4.6 * len(study.cases), 1.2 + 0.35 * len(study.varied))
    for case, axis in zip(_cases(study), axes, strict=True):
        times = study.means("time_ms", case)
        ends = {field: _ends(study, field, times) for field in study.varied}
        fields = sorted(ends, key=lambda field: abs(ends[field][1][1] - ends[field][0][1]))
        middle = float(np.nanmean(times))
        for row, field in enumerate(fields):
            for end, (named, time) in enumerate(ends[field]):
                change = round(100 * (time / middle - 1), 3)
                axis.barh(row, change, 0.6, color=(figure_style.BLUE, figure_style.VERMILION)[end])
                left = change < 0 or (change == 0 and end == 0)
                axis.annotate(named, (change, row), xytext=(-3 if left else 3, 0), textcoords="offset points",
                              va="center", ha="right" if left else "left", fontsize=7)  # fmt: skip
        axis.axvline(0, color=figure_style.INK, lw=0.8)
        axis.set_yticks(range(len(fields)), fields)
        axis.margins(x=0.3)
        axis.grid(axis="y", visible=False)
        axis.set_xlabel("time of the kernel, % from the mean of all points")
        axis.set_title(str(study.cases[case]))
    return figure


def _ends(study: StudyTrials, field: str, times: np.ndarray) -> list[tuple[str, float]]:
    """What a field is at its two ends, and the mean time there."""
    levels = _levels(study, field)
    of = [point[field] for point in study.points]
    if _numeric(levels) and len(levels) > _MOST_ENDS:
        low, high = np.quantile(np.array(of, float), [0.25, 0.75])
        groups = {f"≤ {value(float(low))}": np.array(of) <= low, f"≥ {value(float(high))}": np.array(of) >= high}
    else:
        groups = {value(level): np.array([one == level for one in of]) for level in levels}
    means = [
        (named, float(np.nanmean(times[here]))) for named, here in groups.items() if np.isfinite(times[here]).any()
    ]
    if not _numeric(levels):
        means.sort(key=lambda mean: mean[1])
    return [means[0], means[-1]]


def pareto(study: StudyTrials) -> Figure:
    """Every point's time against what it costs; the points that no other beats in both are joined.

    The cost is the time of the second case where there are two; else the first field of numbers, of which less is
    cheaper; else the number of the point, in the order of the design.
    """
    times = study.means("time_ms", 0)
    cost, named = _hardware_cost(study)
    figure, (axis,) = figure_style.panels(1, 1, 5.0, 3.6)
    axis.scatter(cost, times, s=16, color=figure_style.GREY, label="points")
    front = front_of(cost, times, lambda point, other: surely_less(study, point, other, 0))
    label = "no point is significantly faster"
    axis.plot(cost[front], times[front], "o-", color=figure_style.VERMILION, ms=5, lw=1.2, label=label)
    for point in front[:12]:
        shown = ", ".join(value(study.points[point][name], name) for name in study.varied)
        axis.annotate(shown, (cost[point], times[point]), xytext=(4, 4), textcoords="offset points", fontsize=7)
    axis.set_xlabel(named)
    axis.set_ylabel(f"{OUTPUTS['time_ms']}: {study.cases[0]}")
    axis.legend()
    return figure


def front_of(cost: np.ndarray, time: np.ndarray, less: Callable[[int, int], bool] | None = None) -> list[int]:
    """Numbers of the points that no other beats in cost and time, by rising cost.

    Args:
        less: whether a point's time is less than another's beyond noise; None: as the times say.

    >>> front_of(np.array([3.0, 1.0, 2.0, 2.0]), np.array([1.0, 4.0, 2.0, 3.0]))
    [1, 2, 0]
    """
    order = [k for k in np.lexsort((time, cost)).tolist() if np.isfinite(cost[k]) and np.isfinite(time[k])]
    front: list[int] = []
    for point in order:
        if not front or (less(point, front[-1]) if less else time[point] < time[front[-1]]):
            front.append(point)
    return front


def _hardware_cost(study: StudyTrials) -> tuple[np.ndarray, str]:
    if len(study.cases) > 1:
        return study.means("time_ms", 1), f"{OUTPUTS['time_ms']}: {study.cases[1]}"
    for name in study.varied:
        if _numeric([point[name] for point in study.points]):
            return np.array([float(point[name]) for point in study.points]), name
    return np.arange(len(study.points), dtype=float), "point"


def _curves(study: StudyTrials, field: str, name: str, case: int, axis: Axes) -> None:
    others = [other for other in study.varied if other != field]
    keys = [tuple(point[other] for other in others) for point in study.points]
    distinct = list(dict.fromkeys(keys))
    if len(distinct) > _MOST_CURVES:
        distinct, keys = [()], [()] * len(keys)
    levels = _levels(study, field)
    x = np.array(levels, float) if _numeric(levels) else np.arange(len(levels), dtype=float)
    for color, key in zip(figure_style.SERIES, distinct, strict=False):
        bounds = np.array([_interval(study, field, level, key, keys, name, case) for level in levels])
        scale = 100.0 if name in RATIOS else 1.0
        label = ", ".join(f"{other} {value(one, other)}" for other, one in zip(others, key, strict=False))
        axis.plot(x, scale * bounds[:, 0], "o-", ms=3, lw=1.2, color=color, label=label or "mean over other fields")
        axis.fill_between(x, scale * bounds[:, 1], scale * bounds[:, 2], color=color, alpha=0.2, lw=0)
    if not _numeric(levels):
        axis.set_xticks(x, [value(level, field) for level in levels], rotation=30, ha="right")
    elif x.min() > 0 and x.max() / x.min() > _LOG_BEYOND:
        axis.set_xscale("log", base=2)


def _interval(
    study: StudyTrials, field: str, level: Any, key: tuple[Any, ...], keys: Sequence[Any], name: str, case: int
) -> tuple[float, float, float]:
    """Mean and interval over the trials of all points with this level and this combination of the others."""
    chosen = [k for k, point in enumerate(study.points) if point[field] == level and keys[k] == key]
    rows = study.output(name, case)[chosen]
    finite = np.isfinite(rows)
    if not finite.any():
        return float("nan"), float("nan"), float("nan")
    # The same trial drew the same at every point: the mean over points of a trial is one draw.
    per_trial = rows[:, finite.all(axis=0)].mean(axis=0) if finite.all(axis=0).any() else rows[finite]
    sample = Sample(per_trial)
    low, high = sample.interval() or (sample.mean, sample.mean)
    return sample.mean, low, high


def _cases(study: StudyTrials) -> range:
    return range(len(study.cases))


def _levels(study: StudyTrials, field: str) -> list[Any]:
    values = list(dict.fromkeys(point[field] for point in study.points))
    return sorted(values) if _numeric(values) else values


def _numeric(values: Sequence[Any]) -> bool:
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)


def _label(name: str) -> str:
    return f"{OUTPUTS[name]}, %" if name in RATIOS else OUTPUTS[name]
