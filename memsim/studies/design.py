"""Which points a study looks at: all combinations, a list, or samples of the space."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from memsim.studies.ranges import Value, Values

Point = dict[str, Value]
MOST = 10_000  # points without saying so: a design of more is a mistake more often than a wish
_MOST_SAMPLED = 1 << 20


def combinations(vary: Mapping[str, Values]) -> list[Point]:
    """Every combination, the last field changing first."""
    levels = [values.levels() or () for values in vary.values()]
    return [dict(zip(vary, chosen, strict=True)) for chosen in itertools.product(*levels)]


def sampled(method: str, vary: Mapping[str, Values], points: int, seed: int) -> list[Point]:
    """Points of a random design; ``saltelli`` gives `points` x (fields + 2) of them.

    Args:
        method: one of :data:`SAMPLED`.
        points: how many; a power of two for ``sobol`` and ``saltelli``, whose balance needs it.
        seed: of the design alone, not of the trials.
    """
    shares = SAMPLED[method](len(vary), points, np.random.default_rng(seed))
    return [{name: vary[name].at(share) for name, share in zip(vary, row, strict=True)} for row in shares.tolist()]


def problem_with(method: str, points: Any) -> str | None:
    """What is wrong with the number of points asked of a random design, if anything."""
    if type(points) is not int or not 1 <= points <= _MOST_SAMPLED:
        return f"is {points!r:.60}; give a whole number from 1 to {_MOST_SAMPLED:,}"
    if method in ("sobol", "saltelli") and points & (points - 1):
        return f"is {points}; {method} needs a power of two, for example {1 << points.bit_length()}"
    return None


def _latin_hypercube(fields: int, points: int, rng: np.random.Generator) -> np.ndarray:
    from scipy.stats import qmc  # here: slow to import

    return qmc.LatinHypercube(fields, rng=rng).random(points)


def _sobol(fields: int, points: int, rng: np.random.Generator) -> np.ndarray:
    from scipy.stats import qmc

    return qmc.Sobol(fields, rng=rng).random(points)


def _saltelli(fields: int, points: int, rng: np.random.Generator) -> np.ndarray:
    """What Sobol indices are estimated from (Saltelli 2010; as scipy.stats.sobol_indices): A, B, then, a field at a
    time, A with that field's column of B."""
    both = _sobol(2 * fields, points, rng)
    a, b = both[:, :fields], both[:, fields:]
    mixed = [np.where(np.arange(fields) == field, b, a) for field in range(fields)]
    return np.concatenate([a, b, *mixed])


SAMPLED: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "random": lambda fields, points, rng: rng.random((points, fields)),
    "latin_hypercube": _latin_hypercube,
    "sobol": _sobol,
    "saltelli": _saltelli,
}
METHODS = ("grid", "list", *SAMPLED)
