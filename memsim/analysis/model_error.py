"""How far predicted times are from measured ones, and the prediction interval that follows from it.

``model_errors.csv`` holds launches whose time was measured on hardware and predicted by memsim (made by
experiments/prediction_interval). The error of a launch is ln(measured / predicted). Launches of a program err alike, so
programs have equal weights, whatever the number of their launches. GPUs of one major compute capability are a family; a
family's mean and variance are pooled with those of all other programs, which count as ``PRIOR_PROGRAMS`` programs. A
new program then errs by Student's t about that mean, as the next value of a normal sample does. What is not known of a
preset's numbers, and of mechanisms that are not modelled, is in these errors. Trials and sampling are not, and their
own interval is added in quadrature.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, hypot, log, sqrt
from pathlib import Path

from memsim.analysis.statistics import Interval
from memsim.analysis.student import t_quantile

HEADER = ("compute_capability", "program", "launch", "measured", "predicted")
TABLE = Path(__file__).with_name("model_errors.csv")
LEVEL = 0.9  # that the interval is to hold a launch's time with
PRIOR_PROGRAMS = (
    1  # of 1, 2, 3 and 4 the one whose coverage is nearest to LEVEL in each family with five programs or more
)


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
class ModelError:
    """How the model errs on GPUs of a family.

    Attributes:
        programs: of that family that were measured.
        shift: expected ln(measured / predicted).
        half: half the width of the interval that holds ln(measured / predicted) of a launch of a new program.
    """

    programs: int
    shift: float
    half: float

    def interval(self, predicted: float, own: Interval | None = None) -> Interval:
        """The interval that is to hold a measured time.

        Args:
            predicted: time, in any unit.
            own: interval of the prediction from trials and sampling, in the same unit.

        >>> interval = ModelError(20, 0.0, 0.3).interval(100.0, Interval(90.0, 110.0))
        >>> [round(bound, 1) for bound in interval]
        [72.8, 137.0]
        """
        below = log(predicted / own.low) if own and 0 < own.low < predicted else 0.0
        above = log(own.high / predicted) if own and own.high > predicted else 0.0
        low, high = hypot(self.half, below), hypot(self.half, above)
        return Interval(predicted * exp(self.shift - low), predicted * exp(self.shift + high))


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


def model_error(family: str, errors: Iterable[LaunchError] | None = None, level: float = LEVEL) -> ModelError:
    """How the model errs on a family's GPUs.

    Args:
        family: major compute capability.
        errors: measured launches; None: all of the table.
        level: with which the interval is to hold the next launch's error.
    """
    known = list(measured_errors() if errors is None else errors)
    own = _moments([one for one in known if one.family == family])
    others = _moments([one for one in known if one.family != family])
    if own and others:
        count = own[0] + PRIOR_PROGRAMS
        shift, variance = ((own[0] * own[k] + PRIOR_PROGRAMS * others[k]) / count for k in (1, 2))
    else:
        count, shift, variance = own or others or (2, 0.0, 1.0)
    count = max(count, 2)
    half = t_quantile(count - 1, level) * sqrt(variance * (1 + 1 / count))
    return ModelError(own[0] if own else 0, shift, half)


def _moments(errors: Sequence[LaunchError]) -> tuple[int, float, float] | None:
    """Programs, mean and variance of errors, each program with the same weight; None of no errors."""
    by_program: dict[tuple[str, str], list[float]] = {}
    for one in errors:
        by_program.setdefault((one.family, one.program), []).append(one.error)
    count = len(by_program)
    if not count:
        return None
    mean = sum(sum(found) / len(found) for found in by_program.values()) / count
    squares = sum(sum((error - mean) ** 2 for error in found) / len(found) for found in by_program.values())
    return count, mean, squares / max(count - 1, 1)
