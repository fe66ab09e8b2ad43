"""How many random cases a test draws: few in `make test`, more in `make check`, without limit in `make nightly`.

The environment variable ``MEMSIM_TESTS`` names the budget: ``quick``, ``full`` (the default) or ``nightly``.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

BUDGETS = ("quick", "full", "nightly")
BUDGET = os.environ.get("MEMSIM_TESTS", "full")
assert BUDGET in BUDGETS, f"MEMSIM_TESTS = {BUDGET}: must be one of {', '.join(BUDGETS)}"
# Where a nightly run's random numbers begin; other runs draw the same cases every time.
FIRST_SEED = int(os.environ.get("MEMSIM_FIRST_SEED", 1000)) if BUDGET == "nightly" else 0
_QUICK_SHARE = 5  # a quick run draws one case where a full one draws five
_NIGHTLY_FACTOR = 100


def cases(full: int, quick: int | None = None) -> int:
    """The number of random cases to draw where a full run draws ``full``, and a quick one ``quick``."""
    few = -(-full // _QUICK_SHARE) if quick is None else quick
    return {"quick": few, "full": full, "nightly": full * _NIGHTLY_FACTOR}[BUDGET]


def drawn(full: int, quick: int | None = None, **options: Any) -> Any:
    """Settings of a Hypothesis test that draws ``full`` examples in a full run.

    Quick and full runs draw the same examples every time. A nightly run draws new ones, and prints how to repeat a
    failure.
    """
    return settings(max_examples=cases(full, quick), derandomize=BUDGET != "nightly", print_blob=True, **options)


def seeds(full: int) -> range:
    """Seeds of a test that is parametrized by its random seed."""
    return range(FIRST_SEED, FIRST_SEED + cases(full))
