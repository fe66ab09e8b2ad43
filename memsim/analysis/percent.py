"""Shares as percentages, in the one style that all texts have: ``45 %``."""

from __future__ import annotations


def percent(share: float, decimals: int = 0) -> str:
    """A share of 0 to 1, or a change, as a percentage.

    >>> percent(0.454), percent(0.0123, 1), percent(-0.5)
    ('45 %', '1.2 %', '-50 %')
    """
    return f"{100 * share:.{decimals}f} %"


def percent_change(share: float, decimals: int = 0) -> str:
    """The same with its sign.

    >>> percent_change(0.454), percent_change(-0.0123, 1)
    ('+45 %', '-1.2 %')
    """
    return f"{100 * share:+.{decimals}f} %"
