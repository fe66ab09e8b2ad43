"""What each field of a study does to the time: the fastest and slowest of its values, and whether that is noise."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from memsim.analysis.statistics import Interval, Sample
from memsim.studies.result import StudyTrials

LEAST = 1e-3  # share of the time: a smaller effect is none, however sure
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class FieldEffect:
    """The effect of one field on the time of a case, the other fields being equal.

    Attributes:
        field: its name.
        fastest: values among which no difference is significant, the one with the shortest mean time first.
        slowest: the value with the longest mean time.
        saved: share of the slowest value's time that the fastest saves, geometric mean.
        interval: of `saved`; None with one trial.
        significant: whether the interval excludes 0, with as many comparisons allowed for as there are pairs of values.
    """

    field: str
    fastest: tuple[Any, ...]
    slowest: Any
    saved: float
    interval: Interval | None
    significant: bool


def effects(study: StudyTrials, case: int) -> list[FieldEffect]:
    """The effects of all fields whose values meet with the same values of the others, the largest first.

    Trials are compared by number, as they drew the same at every point.
    """
    found = [one for field in study.varied if (one := _effect(study, field, case)) is not None]
    return sorted(found, key=lambda one: -one.saved)


def surely_less(study: StudyTrials, first: int, second: int, case: int) -> bool:
    """Whether a point takes less time than another one, beyond noise."""
    times = np.log(study.output("time_ms", case))
    saved, its = _saved(times[second], times[first], _CONFIDENCE)
    return saved >= LEAST and (its is None or its.low > 0)


def _effect(study: StudyTrials, field: str, case: int) -> FieldEffect | None:
    values, times = _by_value(study, field, case)
    if len(values) < 2:
        return None
    means = [float(np.nanmean(row)) for row in times]
    fastest, slowest = int(np.argmin(means)), int(np.argmax(means))
    level = 1 - (1 - _CONFIDENCE) / comb(len(values), 2)
    saved, its = _saved(times[slowest], times[fastest], level)
    tied = [fastest]
    for other in sorted(range(len(values)), key=means.__getitem__):
        lost, within = _saved(times[other], times[fastest], level)
        if other != fastest and (lost < LEAST or (within is not None and within.low <= 0)):
            tied.append(other)
    significant = saved >= LEAST and its is not None and its.low > 0
    return FieldEffect(field, tuple(values[k] for k in tied), values[slowest], saved, its, significant)


def _by_value(study: StudyTrials, field: str, case: int) -> tuple[list[Any], np.ndarray]:
    """The values of a field, and the mean logarithm of the time of each over the combinations of the other fields that
    all values have: f8 [values, trials]."""
    values = list(dict.fromkeys(point[field] for point in study.points))
    combinations: dict[Hashable, dict[Any, int]] = {}
    for number, point in enumerate(study.points):
        if (number, case) in study.trials:
            key = tuple(repr(value) for name, value in point.items() if name != field)
            combinations.setdefault(key, {})[point[field]] = number
    complete = [points for points in combinations.values() if len(points) == len(values)]
    if not complete:
        return [], np.zeros((0, 0))
    times = np.log(study.output("time_ms", case))
    return values, np.array([np.mean([times[points[value]] for points in complete], axis=0) for value in values])


def _saved(slow: np.ndarray, fast: np.ndarray, level: float) -> tuple[float, Interval | None]:
    """The share that `fast` saves of `slow` (logarithms by trial), and its interval."""
    change = Sample(slow - fast)
    if not change.finite.size:
        return 0.0, None
    its = change.interval(level)
    within = None if its is None else Interval(1 - float(np.exp(-its.low)), 1 - float(np.exp(-its.high)))
    return 1 - float(np.exp(-change.mean)), within
