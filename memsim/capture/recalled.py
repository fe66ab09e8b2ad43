"""Launches that find the memory and the parameters that an earlier launch found, and so have its results.

Benchmarks often put their input back before each repetition (``cudaMemset``, ``cudaMemcpy``, ``cudaMalloc``). Such a
launch follows from what an earlier one computed: the parameters are the same, and so is every byte of the process's
device memory. It gets the bytes that the earlier one wrote. Nothing else enters a kernel's results, so they are exact.

Comparing costs time as well. A launch is compared only if the memory is small next to what a launch of its kernel and
extents executes, and no longer once several in turn have found other contents.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from dataclasses import dataclass, field, replace

import numpy as np

from memsim.capture.arena import ProcessMemory
from memsim.capture.protocol import LaunchRequest
from memsim.sources.ptx.full_launch import ExecutedCounts

BYTES_PER_OP = 10  # of memory per micro-op of a launch: comparing takes less than a tenth of executing
MOST_BYTES = 1 << 30  # of all contents that are kept
MISSES = 3  # launches of one kernel and extents in turn that found other contents, until none is compared

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
    """

    nanoseconds: int
    stands: int
    counts: ExecutedCounts


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
class RecalledLaunches:
    """The launches of a process whose results are kept."""

    _kept: OrderedDict[LaunchRequest, _Remembered] = field(default_factory=OrderedDict)
    _extents: dict[LaunchRequest, _Extents] = field(default_factory=dict)

    def recall(self, request: LaunchRequest, memory: ProcessMemory) -> LaunchResult | None:
        """Write the results of a launch to memory if an earlier one found the same; None: it must be executed."""
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

    def before(self, request: LaunchRequest, memory: ProcessMemory) -> _Contents | None:
        """Contents that a launch finds; None if its results are not to be kept."""
        extents = self._extents.setdefault(_extents_of(request), _Extents())
        if memory.textures or extents.misses >= MISSES:
            self._kept.pop(_alike(request), None)
            return None
        now = memory.contents()
        if _bytes_of(now) > min(BYTES_PER_OP * extents.executed, MOST_BYTES // 2):
            return None
        return [(address, data.copy()) for address, data in now]

    def keep(
        self, request: LaunchRequest, before: _Contents | None, memory: ProcessMemory, result: LaunchResult
    ) -> None:
        """Note a launch that was executed; its results are kept if ``before`` has what it found."""
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

    def forget(self) -> None:
        """Keep no results: the latest launch had others than its memory and parameters imply."""
        self._kept.clear()


def _alike(request: LaunchRequest) -> LaunchRequest:
    return replace(request, where="", undisturbed=True, stream=0)


def _extents_of(request: LaunchRequest) -> LaunchRequest:
    return replace(_alike(request), parameters=b"")


def _bytes_of(contents: _Contents) -> int:
    return sum(len(data) for _, data in contents)


def _differ(one: np.ndarray, other: np.ndarray) -> bool:
    return len(one) != len(other) or _compare(one.ctypes.data, other.ctypes.data, len(one)) != 0


def _are_equal(one: _Contents, other: _Contents) -> bool:
    return len(one) == len(other) and all(
        a == b and not _differ(x, y) for (a, x), (b, y) in zip(one, other, strict=True)
    )
