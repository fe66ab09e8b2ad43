"""The rule that ends a run: how narrow the intervals of the time and the hit ratios must be.

A run ends by itself when the two things that people read are known: the predicted time within 1 %, and each hit ratio
within 0.5 points. The 95 % intervals of their means are compared with these bounds after every trial, from the third
on. Looking at an interval repeatedly and stopping when it is narrow makes it hold the mean less often than it says
(Glynn and Whitt, Annals of Applied Probability 2(1), 1992, show that it is right only as the bounds go to zero);
experiments/stopping measures by how much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memsim.analysis.choices import Convention
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Interval, Moments, Ratio, Sample, within_bounds
from memsim.montecarlo.trials import Trials
from memsim.support.errors import InputError

# Widths of 95 % intervals of the mean: of a hit ratio, and of the time as a share of it. Half of each is "within".
RATIO_WIDTH, TIME_WIDTH = 0.01, 0.02
PRECISE_WIDTH = 0.002  # of a hit ratio, with --precise: reports print 0.1 points
# Trials, at least and at most: where nobody said how many, with --precise, and until a width that was asked for.
DEFAULT_TRIALS, PRECISE_TRIALS, REQUESTED_TRIALS = (3, 8), (8, 64), (20, 1000)


@dataclass(frozen=True)
class Plan:
    """How many trials a run makes.

    Attributes:
        least, most: trials.
        width: of the 95 % interval of every hit ratio at which it stops; None: it makes `most`.
        requested: whether somebody asked for that width; then it is reported if it is not reached.
        time: width of the interval of the predicted time, as a share of it, that it waits for too; None: it does not.
    """

    least: int
    most: int
    width: float | None
    requested: bool
    time: float | None = None

    @classmethod
    def of(
        cls,
        trials: int | None,
        until: float | None,
        min_trials: int | None = None,
        max_trials: int | None = None,
        precise: bool = False,
    ) -> Plan:
        """From what was asked for, each None if it was not.

        Args:
            trials: exactly so many.
            until: the width.
            min_trials, max_trials: bounds, where `trials` does not say it.
            precise: every ratio to 0.1 points, 8 to 64 trials.

        Raises:
            InputError: `trials` or `until` with what they exclude, a width that is not above 0, or bounds the wrong way
                round.

        >>> Plan.of(None, None), Plan.of(64, None).least
        (Plan(least=3, most=8, width=0.01, requested=False, time=0.02), 64)
        """
        if trials is not None:
            others = {"until": until, "min_trials": min_trials, "max_trials": max_trials, "precise": precise or None}
            if given := [name for name, value in others.items() if value is not None]:
                raise InputError(
                    "simulate", "trials", f"is {trials}, but {', '.join(given)} is given too; leave one out"
                )
            return cls(trials, trials, None, False)
        if until is not None and precise:
            raise InputError("simulate", "until", f"is {until}, but precise is given too; leave one out")
        least, most = REQUESTED_TRIALS if until is not None else PRECISE_TRIALS if precise else DEFAULT_TRIALS
        least, most = least if min_trials is None else min_trials, most if max_trials is None else max_trials
        if most < least:
            raise InputError("simulate", "max_trials", f"is {most}; give {least} (min_trials) or more")
        if until is not None and not until > 0:
            raise InputError("simulate", "until", f"is {until}; give a width above 0, for example {PRECISE_WIDTH}")
        if until is not None or precise:
            return cls(least, most, PRECISE_WIDTH if until is None else until, until is not None)
        return cls(least, most, RATIO_WIDTH, False, TIME_WIDTH)

    def watched(self, convention: str) -> Convention:
        """The convention of the ratios that the rule watches.

        Whether a request finds its data or finds it on its way is a matter of a few cycles: the split between hits and
        merges varies where neither their sum nor the time does. So by default their sum is watched.
        """
        if self.time is not None and convention == Convention.model:
            return Convention.traffic
        return Convention(convention)

    def enough(self, convention: str) -> Callable[[Trials], bool] | None:
        """The rule for :func:`memsim.montecarlo.run.run`; None where the number of trials is fixed."""
        return None if self.width is None else narrower_than(self.width, self.watched(convention), self.time)

    def rule(self, convention: str) -> dict[str, Any] | None:
        """What the result keeps of it."""
        if self.width is None:
            return None
        found = {"width": self.width, "convention": str(self.watched(convention)), "requested": self.requested}
        return found if self.time is None else found | {"time": self.time}


def bounds_text(rule: Mapping[str, Any]) -> str:
    """What was known when a rule ended a run, in words.

    >>> bounds_text({"width": 0.01, "time": 0.02, "convention": "traffic"})
    'time within 1 %, hit ratios with merges within 0.5 points'
    >>> bounds_text({"width": 0.002, "convention": "model"})
    'every hit ratio within 0.1 points'
    """
    points = f"within {50 * rule['width']:g} points"
    if rule.get("time") is None:
        return f"every hit ratio {points}"
    counted = " with merges" if rule["convention"] == Convention.traffic else ""
    return f"time within {50 * rule['time']:g} %, hit ratios{counted} {points}"


def widest(ratios: dict[str, Ratio]) -> tuple[str, float] | None:
    """The ratio whose 95 % interval of the mean is the widest, and that width; None while no ratio has an interval."""
    return _widest({name: interval for name, ratio in ratios.items() if (interval := ratio.interval())})


def _widest(intervals: dict[str, Interval]) -> tuple[str, float] | None:
    widths = {name: interval.width for name, interval in intervals.items()}
    return max(widths.items(), key=lambda item: item[1]) if widths else None


def narrower_than(
    width: float, convention: str = Convention.model, time: float | None = None
) -> Callable[[Trials], bool]:
    """A rule for :func:`memsim.montecarlo.run`: enough when the 95 % interval of every ratio is narrower than `width`.

    It is called with trials as they come, and keeps of them what an interval needs. A ratio of accesses that the kernel
    does not make is left out; where there is none at all, two trials are enough.

    Args:
        width: of an interval, as a ratio.
        convention: of the ratios.
        time: the interval of the predicted time must be narrower than this share of it, too.
    """
    running = Running(convention)

    def enough(trials: Trials) -> bool:
        running.add(trials)
        found = running.widest
        narrow = running.trials > 1 and (found is None or found[1] < width)
        return narrow and (time is None or running.time_width < time)

    return enough


def total_time_known(launches: Sequence[Trials]) -> bool:
    """Whether the time of a program's launches together is known within 1 %, from the same trials of each of them."""
    total = Sample(np.sum([RunResult(one).kernel_time.values for one in launches], axis=0))
    interval = total.interval()
    return interval is not None and interval.width < TIME_WIDTH * total.mean


class Running:
    """The time and the ratios of the trials so far: for the rule above, and in words for a progress bar.

    Args:
        convention: of the ratios.
    """

    def __init__(self, convention: str = Convention.model) -> None:
        self._convention = Convention(convention)
        self._moments: dict[str, Moments] = {}
        self._time = Moments()
        self.trials = 0

    def add(self, trials: Trials) -> str:
        """Take in finished trials; returns the intervals so far in words, or nothing before there are any."""
        self.trials += len(trials.trial)
        result = RunResult(trials, self._convention)
        for name, ratio in result.ratios.items():
            moments = self._moments.setdefault(name, Moments())
            for value in ratio.values.tolist():
                moments.add(value)
        for value in result.kernel_time.values.tolist():
            self._time.add(value)
        return self._text() if self.trials > 1 else ""

    def _text(self) -> str:
        time = f"time ± {self.time_width / 2:.1%}"
        if (found := self.widest) is None:
            return time
        name, width = found
        level, access = name.split("_")
        return f"{time}, {level.upper()} {access} {self._moments[name].mean:.2%} ± {width / 2:.2%}"

    @property
    def widest(self) -> tuple[str, float] | None:
        """The ratio whose 95 % interval of the mean is the widest so far, and that width."""
        found = {name: interval for name, one in self._moments.items() if (interval := one.interval())}
        return _widest({name: within_bounds(interval) for name, interval in found.items()})

    @property
    def time_width(self) -> float:
        """Width of the interval of the predicted time so far, as a share of it; infinite before there is one."""
        interval = self._time.interval()
        return float("inf") if interval is None else interval.width / self._time.mean
