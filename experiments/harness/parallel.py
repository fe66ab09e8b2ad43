"""Many independent simulations at once, with a bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TypeVar

from memsim.montecarlo.pool import in_processes
from memsim.support.progress import bar

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
    found: dict[int, Found] = {}
    with closing(in_processes(function, items, workers)) as results, bar(unit) as advance:
        for number, result in results:
            found[number] = result
            advance(len(found), len(items))
    return [found[number] for number in range(len(items))]
