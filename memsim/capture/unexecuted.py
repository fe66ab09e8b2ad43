"""Launches that need not be executed, and what each comes to: the one place where this is decided.

Two rules:

- Launches of one kernel and extents, one right after the other, are a row. Where stand-ins are allowed, from the third
  launch with the same parameters on, those of a row are not executed. An allocation, a copy or a host function ends a
  row, and so does a parameter that points to memory which the host reads in place. Benchmarks launch in this way.
  Kernels that change their own input see it changed less often.
- A launch that finds the parameters and the memory that an earlier one found gets the bytes that the earlier one wrote.
  Nothing else enters a kernel's results, so they are exact. Benchmarks often put their input back before each
  repetition (``cudaMemset``, ``cudaMemcpy``, ``cudaMalloc``). Comparing costs time as well: a launch is compared only
  if the memory is small next to what a launch of its kernel and extents executes, and no longer once several in turn
  have found other contents.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from dataclasses import dataclass, field, replace

import numpy as np

from memsim.capture.arena import ProcessMemory
from memsim.capture.protocol import AllocationKind, LaunchRequest
from memsim.sources.ptx.full_launch import ExecutedCounts

EXECUTED = 2  # launches of a row with the same parameters that are executed
MOST_PARAMETERS = 64  # different ones of a row; with more, a new row begins
BYTES_PER_OP = 10  # of memory per micro-op of a launch: comparing takes less than a tenth of executing
MOST_BYTES = 1 << 30  # of all contents that are kept
MISSES = 3  # launches of one kernel and extents in turn that found other contents, until none is compared
_HOST_READS = (AllocationKind.managed, AllocationKind.pinned, AllocationKind.host)
_POINTER = 8

_Contents = list[tuple[int, np.ndarray]]
_compare = ctypes.CDLL(None).memcmp
_compare.argtypes, _compare.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t], ctypes.c_int


@dataclass(frozen=True)
class LaunchResult:
    """What a launch came to.

    Attributes:
        nanoseconds: its time, for the program's events.
        stands: place in the program of the launch whose trace stands for it; -1: none.
        counts: what it executed.
        repeats: whether it repeats the launches before it, and would have changed memory once more.
    """

    nanoseconds: int = 0
    stands: int = -1
    counts: ExecutedCounts = field(default_factory=ExecutedCounts)
    repeats: bool = False


@dataclass
class _Row:
    """Launches of one kernel and extents, one right after the other; by parameters their number and latest result."""

    kind: LaunchRequest | None = None
    version: int = -1  # of the memory
    repeated: dict[LaunchRequest, tuple[int, LaunchResult]] = field(default_factory=dict)


@dataclass
class _Remembered:
    """Contents of all allocations before a launch, and of those that it changed, after it."""

    before: _Contents
    after: _Contents
    result: LaunchResult

    @property
    def bytes(self) -> int:
        return _bytes_of(self.before) + _bytes_of(self.after)


@dataclass
class _Extents:
    """Of launches of one kernel and extents: micro-ops that the latest executed, and misses in turn."""

    executed: int = 0
    misses: int = 0


@dataclass
class UnexecutedLaunches:
    """The decision for the launches of one process, in their order: :meth:`find`, and :meth:`add` of each executed."""

    _row: _Row = field(default_factory=_Row)
    _before: _Contents | None = None  # of the launch under way
    _kept: OrderedDict[LaunchRequest, _Remembered] = field(default_factory=OrderedDict)
    _extents: dict[LaunchRequest, _Extents] = field(default_factory=dict)

    def find(self, request: LaunchRequest, memory: ProcessMemory, repeats: bool, recalls: bool) -> LaunchResult | None:
        """What a launch comes to without being executed, with its results in memory; None: it must be executed.

        Args:
            repeats: whether launches of a row may be left out.
            recalls: whether launches may get the results of earlier ones.
        """
        self._before = None
        if repeats and self._is_repeat(request, memory):
            return replace(self._row.repeated[_anywhere(request)][1], repeats=True)
        if not recalls:
            return None
        if (found := self._recall(request, memory)) is None:
            self._before = self._contents_before(request, memory)
        else:
            self._note(request, found)
        return found

    def add(
        self, request: LaunchRequest, memory: ProcessMemory, result: LaunchResult, printed: bool, keeps: bool
    ) -> None:
        """Note a launch that was executed.

        Args:
            printed: whether it printed: then it is executed again.
            keeps: whether its results may be kept for later launches.
        """
        self._note(request, result)
        if printed:
            self.end_row()
        if keeps:
            self._keep(request, None if printed else self._before, memory, result)
        self._before = None

    def end_row(self) -> None:
        """The next launch begins a new row, whatever it is."""
        self._row.kind = None

    def forget(self) -> None:
        """Keep nothing: the latest launch had other results than its memory and parameters imply."""
        self.end_row()
        self._kept.clear()

    # -- rows

    def _is_repeat(self, request: LaunchRequest, memory: ProcessMemory) -> bool:
        row, alike, kind = self._row, _anywhere(request), _extents_of(request)
        goes_on = request.undisturbed and kind == row.kind and row.version == memory.version
        if not goes_on or len(row.repeated) >= MOST_PARAMETERS:
            row = self._row = _Row(kind, memory.version)
        number, latest = row.repeated.get(alike, (0, LaunchResult()))
        row.repeated[alike] = number + 1, latest
        return number >= EXECUTED and not _host_reads(request.parameters, memory)

    def _note(self, request: LaunchRequest, result: LaunchResult) -> None:
        if (alike := _anywhere(request)) in self._row.repeated:
            self._row.repeated[alike] = self._row.repeated[alike][0], result

    # -- contents

    def _recall(self, request: LaunchRequest, memory: ProcessMemory) -> LaunchResult | None:
        if (found := self._kept.get(_alike(request))) is None or memory.textures:
            return None
        now = memory.contents()
        if not _are_equal(found.before, now):
            self._extents[_extents_of(request)].misses += 1
            return None
        self._extents[_extents_of(request)].misses = 0
        rooms = dict(now)
        for address, data in found.after:
            rooms[address][:] = data
        return found.result

    def _contents_before(self, request: LaunchRequest, memory: ProcessMemory) -> _Contents | None:
        """Contents that a launch finds; None if its results are not to be kept."""
        extents = self._extents.setdefault(_extents_of(request), _Extents())
        if memory.textures or extents.misses >= MISSES:
            self._kept.pop(_alike(request), None)
            return None
        now = memory.contents()
        if _bytes_of(now) > min(BYTES_PER_OP * extents.executed, MOST_BYTES // 2):
            return None
        return [(address, data.copy()) for address, data in now]

    def _keep(
        self, request: LaunchRequest, before: _Contents | None, memory: ProcessMemory, result: LaunchResult
    ) -> None:
        self._extents.setdefault(_extents_of(request), _Extents()).executed = result.counts.executed
        if before is None:
            return
        now = memory.contents()
        if [one[0] for one in now] != [one[0] for one in before]:
            return
        pairs = zip(now, before, strict=True)
        after = [(address, data.copy()) for (address, data), (_, old) in pairs if _differ(old, data)]
        self._kept.pop(_alike(request), None)
        self._kept[_alike(request)] = _Remembered(before, after, result)
        while len(self._kept) > 1 and sum(one.bytes for one in self._kept.values()) > MOST_BYTES:
            self._kept.popitem(last=False)


def _anywhere(request: LaunchRequest) -> LaunchRequest:
    return replace(request, where="", undisturbed=True)


def _alike(request: LaunchRequest) -> LaunchRequest:
    return replace(_anywhere(request), stream=0)


def _extents_of(request: LaunchRequest) -> LaunchRequest:
    return replace(_alike(request), parameters=b"")


def _host_reads(parameters: bytes, memory: ProcessMemory) -> bool:
    """Whether a parameter points to memory that the host reads without a copy."""
    for at in range(0, len(parameters) - _POINTER + 1, _POINTER):
        found = memory.allocation_at(int.from_bytes(parameters[at : at + _POINTER], "little"))
        if found is not None and found.kind in _HOST_READS:
            return True
    return False


def _bytes_of(contents: _Contents) -> int:
    return sum(len(data) for _, data in contents)


def _differ(one: np.ndarray, other: np.ndarray) -> bool:
    return len(one) != len(other) or _compare(one.ctypes.data, other.ctypes.data, len(one)) != 0


def _are_equal(one: _Contents, other: _Contents) -> bool:
    return len(one) == len(other) and all(
        a == b and not _differ(x, y) for (a, x), (b, y) in zip(one, other, strict=True)
    )
