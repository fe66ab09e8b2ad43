"""Traces that stand for those of other launches, in captures of all launches.

Of executed launches of one kernel and extents, the first three are traced if their parameters differ, then those at
doubling distances. Another one is stood for by the latest traced one of the same parameters, else by the two latest
ones of the same extents in turn, if both make nearly the same number of accesses. In turn, because launches with
other parameters may access other data: their stand-in must not find its own in L2. Once accesses differ, all further
launches are traced.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TRACED = 3  # launches of one kernel and extents that are traced if they differ, before the distances double
SIMILAR = 0.02  # relative difference of accesses up to which one launch stands for another


@dataclass
class _Shape:
    """Executed launches of one kernel and extents; ``traced``: parameters -> the latest trace and its accesses."""

    launches: int = 0
    traced: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    latest: list[tuple[int, int]] = field(default_factory=list)  # two traces at most; the next to stand in is the first
    differ: bool = False

    def stand_in(self, parameters: bytes) -> tuple[int, int] | None:
        """The trace that stands for a launch, and its accesses; None if none of its kind is traced."""
        if parameters in self.traced:
            return self.traced[parameters]
        self.latest = [*self.latest[1:], *self.latest[:1]]
        return self.latest[-1] if self.latest else None


@dataclass
class StandIns:
    """Which launch of a program is traced, and which trace stands for each.

    Attributes:
        orders: place in the program of the launch whose trace stands for each wanted launch, in their order.
        unexecuted: launches by kernel that repeated earlier ones.
    """

    orders: list[int] = field(default_factory=list)
    unexecuted: dict[str, int] = field(default_factory=dict)
    _shapes: dict[tuple[Any, ...], _Shape] = field(default_factory=dict)

    def is_traced(self, shape: tuple[Any, ...], parameters: bytes) -> bool:
        """Whether the next launch of a kernel and extents, with these parameters, is to be traced."""
        one = self._shapes.setdefault(shape, _Shape())
        number = one.launches
        if number < TRACED and not one.differ:
            return parameters not in one.traced
        return one.differ or (number - 1) & (number - 2) == 0

    def add(self, shape: tuple[Any, ...], parameters: bytes, order: int, accesses: int, traced: bool) -> int:
        """Note a launch that was executed; which launch's trace stands for it, -1 if none of its kind is traced."""
        one = self._shapes.setdefault(shape, _Shape())
        one.launches += 1
        if traced:
            one.traced[parameters] = order, accesses
            one.latest = [*sorted(one.latest)[-1:], (order, accesses)]
            self.orders.append(order)
            return order
        if (found := one.stand_in(parameters)) is None:
            return -1
        stands, its = found
        one.differ |= abs(accesses - its) > SIMILAR * its
        self.orders.append(stands)
        return stands

    def leave_out(self, name: str, stands: int, repeats: bool) -> None:
        """Note a launch that was not executed, and which launch's trace stands for it.

        Args:
            repeats: whether it repeats the launches before it, so that what it accumulates is missing.
        """
        if stands >= 0:
            self.orders.append(stands)
        if repeats:
            self.unexecuted[name] = self.unexecuted.get(name, 0) + 1
