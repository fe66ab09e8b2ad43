"""How many random cases a test draws: few in `make test`, more in `make check`, without limit in `make nightly`.

The environment variable ``MEMSIM_TESTS`` names the budget: ``quick``, ``full`` (the default) or ``nightly``, or it is a
number of cases per test, new ones each time.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

BUDGETS = ("quick", "full", "nightly")
BUDGET = os.environ.get("MEMSIM_TESTS", "full")
assert BUDGET in BUDGETS or BUDGET.isdigit(), f"MEMSIM_TESTS = {BUDGET}: must be a number or {', '.join(BUDGETS)}"
DRAWS_NEW = BUDGET not in ("quick", "full")
# Where a nightly run's random numbers begin; other runs draw the same cases every time.
FIRST_SEED = int(os.environ.get("MEMSIM_FIRST_SEED", 1000)) if DRAWS_NEW else 0
# Of the cases that a test names, one in so many is drawn; a nightly run draws many times as many, each time others.
_SHARES = {"quick": 5, "full": 3}
_NIGHTLY_FACTOR = 100


def cases(count: int, quick: int | None = None) -> int:
    """How many random cases to draw of ``count``: a third in a full run, a fifth or ``quick`` in a quick one."""
    if BUDGET.isdigit():
        return int(BUDGET)
    if BUDGET == "nightly":
        return count * _NIGHTLY_FACTOR
    if quick is not None:
        return quick if BUDGET == "quick" else max(quick, -(-count // _SHARES[BUDGET]))
    return -(-count // _SHARES[BUDGET])


def drawn(count: int, quick: int | None = None, **options: Any) -> Any:
    """Settings of a Hypothesis test that draws so many of ``count`` examples (:func:`cases`).

    Quick and full runs draw the same examples every time. A nightly run draws new ones, and prints how to repeat a
    failure.
    """
    return settings(max_examples=cases(count, quick), derandomize=not DRAWS_NEW, print_blob=True, **options)


def seeds(count: int) -> range:
    """Seeds of a test that is parametrized by its random seed."""
    return range(FIRST_SEED, FIRST_SEED + cases(count))
