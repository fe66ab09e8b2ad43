"""Statistics of a quantity that every trial draws once: mean, spread, interval of the mean, convergence.

Two intervals are easily taken for one another, so each has its name. ``interval`` holds the *mean* with the given
confidence and shrinks as trials are added. ``spread`` (mean -+ 2 sd; Baghsorkhi 2012, 5.2) holds *one run* of the
kernel, about 95 % of them, and does not shrink.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memsim.analysis.choices import Convention, Method
from memsim.analysis.student import t_quantile

_RESAMPLES = 9999  # scipy's default; the interval's own error is then far below its width
_NARROWEST_BIN = 1e-3  # of a histogram whose trials all agree


class Interval(NamedTuple):
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


@dataclass(frozen=True)
class Sample:
    """One value a trial. A trial in which the quantity does not exist (a ratio of nothing) holds nan and is left out.

    >>> sample = Sample(np.array([0.50, 0.52, 0.54]))
    >>> round(sample.mean, 3), round(sample.sd, 3)
    (0.52, 0.02)
    >>> [round(bound, 3) for bound in sample.interval()]
    [0.47, 0.57]
    >>> [round(bound, 3) for bound in sample.spread()]
    [0.48, 0.56]
    """

    values: np.ndarray

    @property
    def finite(self) -> np.ndarray:
        """The values of the trials in which the quantity exists."""
        return self.values[np.isfinite(self.values)]

    @property
    def mean(self) -> float:
        """Mean over trials; nan when no trial has a value."""
        finite = self.finite
        return float(finite.mean()) if finite.size else float("nan")

    @property
    def sd(self) -> float:
        """Standard deviation of one trial (n - 1 in the denominator); nan with fewer than two trials."""
        finite = self.finite
        return float(finite.std(ddof=1)) if finite.size > 1 else float("nan")

    def interval(self, level: float = 0.95, method: str = Method.t) -> Interval | None:
        """The interval that holds the mean with confidence `level`; None with fewer than two trials.

        Args:
            level: confidence, between 0 and 1.
            method: ``t``, or ``bootstrap`` (bias-corrected and accelerated, always with the same resampling seed, so
                the same trials give the same interval).
        """
        if not 0 < level < 1:
            raise ValueError(f"level is {level}; give a confidence between 0 and 1")
        method, finite = Method(method), self.finite
        if finite.size < 2:
            return None
        if np.ptp(finite) == 0:
            return Interval(self.mean, self.mean)
        if method is Method.t:
            return t_interval(finite.size, self.mean, self.sd, level)
        return _bootstrap_interval(finite, level)

    def spread(self, k: float = 2.0) -> Interval | None:
        """mean -+ `k` sd: where one run falls (the paper's interval); None with fewer than two trials."""
        return Interval(self.mean - k * self.sd, self.mean + k * self.sd) if self.finite.size > 1 else None

    def histogram(self, bins: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Trials by value: counts [bins] and edges [bins + 1]; numpy's ``auto`` rule when `bins` is None."""
        finite = self.finite
        if finite.size and np.ptp(finite) < 1e-12:
            half = _NARROWEST_BIN / 2
            return np.array([finite.size]), np.array([finite[0] - half, finite[0] + half])
        return np.histogram(finite, "auto" if bins is None else bins)

    def convergence(self) -> tuple[np.ndarray, np.ndarray]:
        """Standard deviation of the first n trials against n = 2, 3, ...: the paper's figure 7.

        >>> Sample(np.array([1.0, 3.0, 2.0])).convergence()[1].round(3).tolist()
        [1.414, 1.0]
        """
        finite = self.finite
        count = np.arange(1, finite.size + 1)
        centred = finite - self.mean  # against cancellation in the sums below
        squares = np.cumsum(centred**2) - np.cumsum(centred) ** 2 / count
        return count[1:], np.sqrt(np.maximum(squares[1:], 0) / (count[1:] - 1))


@dataclass(frozen=True)
class Ratio(Sample):
    """A hit ratio, trial by trial, and the convention that defines it.

    Its intervals end at 0 and 1, where ratios do. An interval of the mean loses nothing by that: what is cut off cannot
    hold the mean, so the rest holds it as often.
    """

    convention: Convention = Convention.model

    def interval(self, level: float = 0.95, method: str = Method.t) -> Interval | None:
        """As of any sample, within 0 and 1."""
        found = super().interval(level, method)
        return found and within_bounds(found)

    def spread(self, k: float = 2.0) -> Interval | None:
        """As of any sample, within 0 and 1."""
        found = super().spread(k)
        return found and within_bounds(found)


class Moments:
    """Count, mean and standard deviation of values that come one by one (Welford, Technometrics 1962)."""

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, value: float) -> None:
        """Take in a value; nan, for a quantity that does not exist, is left out."""
        if value == value:
            self.count += 1
            before = value - self.mean
            self.mean += before / self.count
            self._squares += before * (value - self.mean)

    @property
    def sd(self) -> float:
        """Standard deviation of one value (n - 1 in the denominator), of two values or more."""
        return float(np.sqrt(self._squares / (self.count - 1)))

    def interval(self, level: float = 0.95) -> Interval | None:
        """The interval that holds the mean with confidence `level` (Student's t); None with fewer than two values."""
        return t_interval(self.count, self.mean, self.sd, level) if self.count > 1 else None


def within_bounds(interval: Interval) -> Interval:
    """The part of it where ratios are."""
    return Interval(max(interval.low, 0.0), min(interval.high, 1.0))


def t_interval(count: int, mean: float, sd: float, level: float) -> Interval:
    """Student's interval of the mean of `count` values with this mean and standard deviation."""
    half = t_factor(count, level) * sd / count**0.5
    return Interval(mean - half, mean + half)


def t_factor(count: int, level: float = 0.95) -> float:
    """How many standard deviations from the mean of `count` values the quantiles of Student's t are.

    >>> round(t_factor(4), 2)
    3.18
    """
    return t_quantile(count - 1, level)


def _bootstrap_interval(values: np.ndarray, level: float) -> Interval:
    from scipy.stats import bootstrap

    found = bootstrap((values,), np.mean, n_resamples=_RESAMPLES, confidence_level=level, method="BCa", rng=0)
    return Interval(float(found.confidence_interval.low), float(found.confidence_interval.high))
