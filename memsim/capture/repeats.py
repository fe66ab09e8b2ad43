"""Launches that stand for others, so that a program that launches a kernel a thousand times is captured in seconds.

Two rules, for captures of all launches:

- Launches of one kernel and extents, one right after the other, are a row. From the third launch with the same
  parameters on, those of a row are not executed. An allocation, a copy or a host function ends a row, and so does a
  parameter that points to memory which the host reads in place. Benchmarks launch in this way. Kernels that change
  their own input see it changed less often.
- Of executed launches of one kernel and extents, the first three are traced if their parameters differ, then those at
  doubling distances. Another one is stood for by the latest traced one of the same parameters, else by the two latest
  ones of the same extents in turn, if both make nearly the same number of accesses. In turn, because launches with
  other parameters may access other data: their stand-in must not find its own in L2. Once accesses differ, all further
  launches are traced.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from memsim.capture.arena import ProcessMemory
from memsim.capture.protocol import AllocationKind, LaunchRequest

EXECUTED = 2  # launches of a row with the same parameters that are executed
MOST_PARAMETERS = 64  # different ones of a row; with more, a new row begins
TRACED = 3  # launches of one kernel and extents that are traced if they differ, before the distances double
SIMILAR = 0.02  # relative difference of accesses up to which one launch stands for another
_HOST_READS = (AllocationKind.managed, AllocationKind.pinned, AllocationKind.host)
_POINTER = 8


@dataclass
class RepeatedLaunch:
    """Launches of a row with the same parameters.

    Attributes:
        length: launches so far.
        nanoseconds: that the latest executed one takes, for the program's events.
        stands: place in the program of the launch whose trace stands for them; -1: none.
    """

    length: int = 0
    nanoseconds: int = 0
    stands: int = -1


@dataclass
class RowOfRepeats:
    """Launches of one kernel and extents of one process, one right after the other.

    Attributes:
        latest: what is known of the latest launch.
    """

    latest: RepeatedLaunch = field(default_factory=RepeatedLaunch)
    _kind: LaunchRequest | None = None
    _repeated: dict[LaunchRequest, RepeatedLaunch] = field(default_factory=dict)
    _version: int = -1

    def is_repeat(self, request: LaunchRequest, memory: ProcessMemory) -> bool:
        """Whether a launch need not be executed; to be asked once of each launch, in their order."""
        alike = replace(request, where="", undisturbed=True)
        kind = replace(alike, stream=0, parameters=b"")
        goes_on = request.undisturbed and kind == self._kind and self._version == memory.version
        if not goes_on or len(self._repeated) >= MOST_PARAMETERS:
            self._repeated, self._kind, self._version = {}, kind, memory.version
        self.latest = self._repeated.setdefault(alike, RepeatedLaunch())
        self.latest.length += 1
        return self.latest.length > EXECUTED and not _host_reads(request.parameters, memory)

    def end(self) -> None:
        """The next launch begins a new row, whatever it is."""
        self._kind = None


def _host_reads(parameters: bytes, memory: ProcessMemory) -> bool:
    """Whether a parameter points to memory that the host reads without a copy."""
    for at in range(0, len(parameters) - _POINTER + 1, _POINTER):
        found = memory.allocation_at(int.from_bytes(parameters[at : at + _POINTER], "little"))
        if found is not None and found.kind in _HOST_READS:
            return True
    return False


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

    def recall(self, stands: int) -> None:
        """Note a launch that has the results of an earlier one, and the launch whose trace stands for it."""
        if stands >= 0:
            self.orders.append(stands)

    def repeat(self, name: str, stands: int) -> None:
        """Note a launch that was not executed, and the launch whose trace stands for it."""
        self.recall(stands)
        self.unexecuted[name] = self.unexecuted.get(name, 0) + 1
