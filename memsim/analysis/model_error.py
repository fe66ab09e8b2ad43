"""How far predicted times are from measured ones, and the prediction interval that follows from it.

``model_errors.csv`` holds launches whose time was measured on hardware and predicted by memsim (made by
experiments/prediction_interval). The error of a launch is ln(measured / predicted). Launches of a program err alike, so
programs have equal weights, whatever the number of their launches. GPUs of one major compute capability are a family.

The interval assumes no distribution: its bounds are quantiles of the programs' pooled errors, where the program to come
counts as one more, which may err beyond all others on either side (Dunn, Wasserman and Ramdas, Distribution-Free
Prediction Sets for Two-Layer Hierarchical Models, JASA 2023). Errors are skewed: few programs take twice as long as
predicted, none half as long. With fewer programs than both quantiles need, a family takes the errors of all others
for those that it lacks. The errors include those of a preset's numbers and of mechanisms that are not modelled. They do
not include trials and sampling, whose own interval is added in quadrature.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, hypot, log
from pathlib import Path

from memsim.analysis.statistics import Interval

HEADER = ("compute_capability", "program", "launch", "measured", "predicted")
TABLE = Path(__file__).with_name("model_errors.csv")
LEVEL = 0.9  # that the interval is to hold a launch's time with
ROUNDING = 1e-9  # of sums of weights


@dataclass(frozen=True)
class LaunchError:
    """Of one launch.

    Attributes:
        family: major compute capability of the GPU.
        program: whose launch it is.
        error: ln(measured / predicted).
    """

    family: str
    program: str
    error: float


@dataclass(frozen=True)
class FamilyError:
    """How the model errs on GPUs of a family.

    Attributes:
        programs: of that family that were measured.
        low, middle, high: of ln(measured / predicted) of a launch of a new program: bounds of the interval, and median.
    """

    programs: int
    low: float
    middle: float
    high: float

    def interval(self, predicted: float, own: Interval | None = None) -> Interval:
        """The interval that is to hold a measured time.

        Args:
            predicted: time, in any unit.
            own: interval of the prediction from trials and sampling, in the same unit.

        >>> interval = FamilyError(20, -0.3, 0.0, 0.3).interval(100.0, Interval(90.0, 110.0))
        >>> [round(bound, 1) for bound in interval]
        [72.8, 137.0]
        """
        below = log(predicted / own.low) if own and 0 < own.low < predicted else 0.0
        above = log(own.high / predicted) if own and own.high > predicted else 0.0
        low, high = hypot(self.middle - self.low, below), hypot(self.high - self.middle, above)
        return Interval(predicted * exp(self.middle - low), predicted * exp(self.middle + high))


def family_of(compute_capability: str) -> str:
    """The family of a GPU.

    >>> family_of("8.6")
    '8'
    """
    return compute_capability.split(".")[0]


@cache
def measured_errors() -> tuple[LaunchError, ...]:
    """All launches of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(
            LaunchError(
                family_of(row["compute_capability"]),
                row["program"],
                log(float(row["measured"]) / float(row["predicted"])),
            )
            for row in csv.DictReader(file)
        )


def model_error(family: str, errors: Iterable[LaunchError] | None = None, level: float = LEVEL) -> FamilyError:
    """How the model errs on a family's GPUs.

    Args:
        family: major compute capability.
        errors: measured launches, at least one; None: all of the table.
        level: with which the interval is to hold the next launch's error.
    """
    known = list(measured_errors() if errors is None else errors)
    own = _by_program(one for one in known if one.family == family)
    others = _by_program(one for one in known if one.family != family)
    lacking = max(least_programs(level) - len(own), 0)
    borrowed = min(lacking / len(others), 1.0) if others else 0.0
    weighted = [(error, 1 / len(found)) for found in own for error in found]
    weighted += [(error, borrowed / len(found)) for found in others for error in found if borrowed]
    return FamilyError(len(own), *quantiles(weighted, level))


def least_programs(level: float) -> int:
    """Programs from which on an interval of `level` has both bounds.

    >>> least_programs(0.9), least_programs(0.8)
    (19, 9)
    """
    return round(2 / (1 - level)) - 1


def quantiles(weighted: Iterable[tuple[float, float]], level: float) -> tuple[float, float, float]:
    """Lower bound, median and upper bound of the next value; the least or greatest known one where there are too few.

    Args:
        weighted: values and their weights; the next value has the weight 1. At least one.
        level: with which the bounds are to hold it.

    >>> quantiles([(k, 1.0) for k in range(1, 20)], 0.9)
    (1, 10.0, 19)
    """
    upwards = sorted(weighted)
    total = sum(weight for _, weight in upwards) + 1
    low, from_below = (_reached(upwards, total * share) for share in ((1 - level) / 2, 0.5))
    high, from_above = (_reached(upwards[::-1], total * share) for share in ((1 - level) / 2, 0.5))
    return low, (from_below + from_above) / 2, high


def _reached(ordered: Sequence[tuple[float, float]], weight: float) -> float:
    """The first value up to which the weights add up to `weight`, else the last one."""
    for value, each in ordered:
        weight -= each
        if weight <= ROUNDING:
            return value
    return ordered[-1][0]


def _by_program(errors: Iterable[LaunchError]) -> list[list[float]]:
    """The errors of each program of each family."""
    found: dict[tuple[str, str], list[float]] = {}
    for one in errors:
        found.setdefault((one.family, one.program), []).append(one.error)
    return list(found.values())
