"""Launches that stand for others, so that a program that launches a kernel a thousand times is captured in seconds.

Two rules, for captures of all launches:

- A launch that repeats the one right before it is not executed, from the third on: the same kernel, extents and
  parameters, no allocation, copy or host function in between, and no parameter that points to memory which the host
  reads in place. Benchmarks launch in this way. Kernels that change their own input see it changed less often.
- Of executed launches of one kernel and extents, the first three are traced if their parameters differ, then those at
  doubling distances. Another one is stood for by the latest traced one of the same parameters, else of the same
  extents, if both make nearly the same number of accesses. Once they differ, all further ones are traced.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from memsim.capture.arena import ProcessMemory
from memsim.capture.protocol import AllocationKind, LaunchRequest

EXECUTED = 2  # launches in a row that are alike, of which all are executed
TRACED = 3  # launches of one kernel and extents that are traced if they differ, before the distances double
SIMILAR = 0.02  # relative difference of accesses up to which one launch stands for another
_HOST_READS = (AllocationKind.managed, AllocationKind.pinned, AllocationKind.host)
_POINTER = 8


@dataclass
class RowOfRepeats:
    """Launches of one process that repeat each other, one right after the other.

    Attributes:
        request: the latest launch that was executed.
        length: launches in the row so far.
        nanoseconds: that the latest one takes, for the program's events.
    """

    request: LaunchRequest | None = None
    length: int = 0
    nanoseconds: int = 0
    _version: int = -1

    def is_repeat(self, request: LaunchRequest, memory: ProcessMemory) -> bool:
        """Whether a launch need not be executed; to be asked once of each launch, in their order."""
        same = self.request is not None and request.undisturbed and self._version == memory.version
        if same and replace(request, where="", undisturbed=True) == self.request:
            self.length += 1
        else:
            self.request, self.length = replace(request, where="", undisturbed=True), 1
            self._version = memory.version
        return self.length > EXECUTED and not _host_reads(request.parameters, memory)

    def end(self) -> None:
        """The next launch begins a new row, whatever it is."""
        self.request = None


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
    latest: tuple[int, int] = (-1, 0)
    differ: bool = False


@dataclass
class StandIns:
    """Which launch of a program is traced, and which trace stands for each.

    Attributes:
        orders: place in the program of the launch whose trace stands for each wanted launch, in their order.
        unexecuted: launches by kernel that repeated the one before them.
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

    def add(self, shape: tuple[Any, ...], parameters: bytes, order: int, accesses: int, traced: bool) -> None:
        """Note a launch that was executed."""
        one = self._shapes.setdefault(shape, _Shape())
        one.launches += 1
        if traced:
            one.traced[parameters] = one.latest = order, accesses
            self.orders.append(order)
            return
        stands, its = one.traced.get(parameters, one.latest)
        if stands < 0:  # none of its kind is traced
            return
        one.differ |= abs(accesses - its) > SIMILAR * its
        self.orders.append(stands)

    def repeat(self, name: str) -> None:
        """Note a launch that was not executed: the trace of the one before it stands for it."""
        self.orders += self.orders[-1:]
        self.unexecuted[name] = self.unexecuted.get(name, 0) + 1
