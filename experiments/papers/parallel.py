"""Many independent simulations at once, with a bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

from memsim.montecarlo.worker import end_with_parent
from memsim.progress import bar

Item = TypeVar("Item")
Found = TypeVar("Found")


def mapped(function: Callable[[Item], Found], items: Sequence[Item], workers: int, unit: str) -> list[Found]:
    """`function` of every item, in their order, in so many processes.

    Args:
        function: of a module, as another process must find it.
        unit: what the bar counts.

    >>> mapped(abs, [-1, 2], workers=1, unit="numbers")
    [1, 2]
    """
    with ProcessPoolExecutor(workers, initializer=end_with_parent) as pool, bar(unit) as advance:
        found = []
        for one in pool.map(function, items):
            found.append(one)
            advance(len(found), len(items))
        return found
