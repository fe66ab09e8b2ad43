"""Quantiles of Student's t: importing scipy for them takes longer than all else that ``memsim show`` does."""

from __future__ import annotations

from functools import cache
from math import cos, inf, pi, sin, sqrt, tan

_HALVINGS = 80  # of an interval of angles: to the last bit


@cache
def t_quantile(degrees: int, level: float) -> float:
    """The t with P(-t < T < t) = `level`, for T of Student's distribution.

    Args:
        degrees: of freedom, 1 or more.
        level: between 0 and 1.

    >>> round(t_quantile(2, 0.95), 6), round(t_quantile(1000, 0.95), 6)
    (4.302653, 1.962339)
    """
    if level >= 1:
        return inf
    low, high = 0.0, pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _between(degrees, middle) < level:
            low = middle
        else:
            high = middle
    return tan(low) * sqrt(degrees)


def _between(degrees: int, angle: float) -> float:
    """P(-t < T < t) for t = tan(angle) x sqrt(degrees): Abramowitz and Stegun, equations 26.7.3 and 26.7.4.

    >>> round(_between(1, pi / 4), 12)
    0.5
    """
    square, odd = cos(angle) ** 2, degrees % 2
    term = total = 0.0
    if degrees > 1:
        term = total = cos(angle) if odd else 1.0
    for k in range(3 if odd else 2, degrees - 1, 2):
        term *= square * (k - 1) / k
        total += term
    if odd:
        return 2 / pi * (angle + sin(angle) * total)
    return sin(angle) * total
