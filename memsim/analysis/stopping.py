"""How sure the hit ratios are while trials come in, and when they are sure enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memsim.analysis.choices import Convention
from memsim.analysis.result import Result
from memsim.analysis.statistics import Interval, Moments, Ratio, within_bounds
from memsim.montecarlo.trials import Trials
from memsim.support.errors import InputError

KNOWN = 0.002  # width of an interval at which a ratio is taken for known: reports print 0.1 points
# Trials, at least and at most: where nobody said how many, and until a width that was asked for.
UNASKED, ASKED = (8, 64), (20, 1000)


@dataclass(frozen=True)
class Plan:
    """How many trials a run makes.

    Attributes:
        least, most: trials.
        width: of the 95 % interval of every ratio at which it stops; None: it makes `most`.
        asked: whether somebody asked for that width, who must be told if it is not reached.
    """

    least: int
    most: int
    width: float | None
    asked: bool

    @classmethod
    def of(
        cls, trials: int | None, until: float | None, min_trials: int | None = None, max_trials: int | None = None
    ) -> Plan:
        """From what was asked for, each None if it was not.

        Args:
            trials: exactly so many.
            until: the width.
            min_trials, max_trials: bounds, where `trials` does not say it.

        Raises:
            InputError: `trials` with any other, a width that is not above 0, or bounds the wrong way round.

        >>> Plan.of(None, None), Plan.of(64, None).least
        (Plan(least=8, most=64, width=0.002, asked=False), 64)
        """
        if trials is not None:
            others = {"until": until, "min_trials": min_trials, "max_trials": max_trials}
            if given := [name for name, value in others.items() if value is not None]:
                raise InputError("simulate", "trials", f"is {trials}, with {', '.join(given)} besides; leave out one")
            return cls(trials, trials, None, False)
        least, most = UNASKED if until is None else ASKED
        least, most = least if min_trials is None else min_trials, most if max_trials is None else max_trials
        if most < least:
            raise InputError("simulate", "max_trials", f"is {most}; give {least} (min_trials) or more")
        if until is not None and not until > 0:
            raise InputError("simulate", "until", f"is {until}; give a width above 0, for example {KNOWN}")
        return cls(least, most, KNOWN if until is None else until, until is not None)


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

    It is told trials as they come, and keeps of them what an interval needs. A ratio of accesses that the kernel does
    not make is left out; where there is none at all, two trials are enough.

    Args:
        width: of an interval, as a ratio.
        convention: of the ratios.
        time: the interval of the time must be narrower than this share of the time, too.
    """
    running, cycles = Running(convention), Moments()

    def enough(trials: Trials) -> bool:
        running.add(trials)
        found = running.widest
        narrow = running.trials > 1 and (found is None or found[1] < width)
        for value in trials.cycles.tolist() if time is not None else ():
            cycles.add(value)
        return narrow and (time is None or _relative(cycles) < time)

    return enough


def _relative(moments: Moments) -> float:
    """Width of the interval of the mean, as a share of the mean."""
    interval = moments.interval()
    return float("inf") if interval is None else interval.width / moments.mean


class Running:
    """The ratios of the trials so far: for the rule above, and in words for a progress bar.

    Args:
        convention: of the ratios.
    """

    def __init__(self, convention: str = Convention.model) -> None:
        self._convention = Convention(convention)
        self._moments: dict[str, Moments] = {}
        self.trials = 0

    def add(self, trials: Trials) -> str:
        """Take in finished trials; returns the widest interval so far in words, or nothing before there is one."""
        self.trials += len(trials.trial)
        for name, ratio in Result(trials, self._convention).ratios.items():
            moments = self._moments.setdefault(name, Moments())
            for value in ratio.values.tolist():
                moments.add(value)
        if (found := self.widest) is None:
            return ""
        name, width = found
        level, access = name.split("_")
        return f"{level.upper()} {access} {self._moments[name].mean:.2%} ± {width / 2:.2%}"

    @property
    def widest(self) -> tuple[str, float] | None:
        """The ratio whose 95 % interval of the mean is the widest so far, and that width."""
        found = {name: interval for name, one in self._moments.items() if (interval := one.interval())}
        return _widest({name: within_bounds(interval) for name, interval in found.items()})
