"""Sobol indices: the part of an output's variance that each input makes, alone and with the others.

The *first-order* index of an input is the part of the variance that goes if that input alone were known; the *total*
index is the part that stays while only that input is unknown (Saltelli et al., Computer Physics Communications 2010).
They are estimated from three sets of values: of points A, of points B, and, for each input, of A with that input of B.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memsim.analysis.statistics import Interval

_RESAMPLES = 999
_LEVEL = 0.95


@dataclass(frozen=True)
class Index:
    """Of one input.

    Attributes:
        name: the input.
        first, total: parts of the variance; estimates may lie a little outside 0 to 1.
        first_interval, total_interval: 95 % confidence, by bootstrap over the points.
    """

    name: str
    first: float
    first_interval: Interval
    total: float
    total_interval: Interval


@dataclass(frozen=True)
class Indices:
    """Of one output.

    Attributes:
        output: its name.
        mean, sd: of the output over the points A and B.
        inputs: one index each, in the order of the design; empty where the output does not vary or does not exist.
        points: of A, as many as of B.
    """

    output: str
    mean: float
    sd: float
    inputs: tuple[Index, ...]
    points: int

    @property
    def ranked(self) -> list[Index]:
        """The inputs, the largest total index first."""
        return sorted(self.inputs, key=lambda one: -one.total)


def indices(output: str, names: Sequence[str], a: np.ndarray, b: np.ndarray, ab: np.ndarray) -> Indices:
    """Estimate the indices of one output.

    Args:
        output: its name.
        names: of the inputs, d of them.
        a, b: f8 [n], values at the points A and B; n is a power of two, for the balance of the points.
        ab: f8 [d, n], values at A with one input of B.
    """
    both = np.concatenate([a, b])
    mean, sd = float(both.mean()), float(both.std(ddof=1))
    constant = np.ptp(np.concatenate([both, ab.ravel()])) <= 1e-12 * max(abs(mean), 1e-300)
    if not np.isfinite(both).all() or not np.isfinite(ab).all() or constant:
        return Indices(output, mean, sd, (), len(a))
    from scipy.stats import bootstrap  # here: slow to import

    centre = both.mean()
    a, b, ab = a - centre, b - centre, ab - centre

    def orders(rows: np.ndarray) -> np.ndarray:
        """First-order and total indices of some of the points, f8 [2, d]: Saltelli 2010, table 2, (b) and (f)."""
        step = ab[:, rows] - a[rows]
        variance = np.concatenate([a[rows], b[rows]]).var()
        return np.array([(b[rows] * step).mean(axis=1), (step**2).mean(axis=1) / 2]) / variance

    first, total = orders(np.arange(len(a)))
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore")  # of an input that changes nothing all resamples agree; its interval is nan
        sampled = bootstrap(
            [np.arange(len(a))], orders, method="BCa", n_resamples=_RESAMPLES, confidence_level=_LEVEL, rng=0
        )
    of_first, of_total = np.moveaxis(np.array(sampled.confidence_interval), 0, -1)
    rows = zip(names, first, of_first, total, of_total, strict=True)
    inputs = [Index(name, float(one), _interval(its, one), float(all_), _interval(others, all_))
              for name, one, its, all_, others in rows]  # fmt: skip
    return Indices(output, mean, sd, tuple(inputs), len(a))


def _interval(bounds: np.ndarray, index: float) -> Interval:
    """The bootstrap's interval; the index alone where all resamples agree."""
    low, high = np.where(np.isnan(bounds), index, bounds).tolist()
    return Interval(low, high)
