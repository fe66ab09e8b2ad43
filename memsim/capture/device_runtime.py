"""Functions of CUDA's device runtime that kernels call: vprintf, malloc, free and __assertfail."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np

from memsim.capture.formatting import formatted
from memsim.sources.ptx.device import KernelMachine
from memsim.sources.ptx.failures import KernelFailure, block_of_warp, index_of
from memsim.sources.ptx.inline import ASSERT, FREE, MALLOC, PRINTF
from memsim.sources.ptx.machine import tables
from memsim.sources.ptx.machine.codes import COUNT, DST, LANES, LIST, X
from memsim.trace.schema import Space

HEAP_ADDRESS, HEAP_BYTES = 1 << 56, 1 << 26  # where no process has memory
WORKSPACE_ADDRESS = HEAP_ADDRESS + (1 << 40)  # what cooperative groups keep of a grid
_ALIGNMENT = 16
LONGEST_TEXT = 1 << 16  # bytes of one string


class AssertFailed(KernelFailure):
    """A kernel's assert() does not hold; the message is CUDA's."""


class Heap:
    """The device heap of a process: first fit, 16-byte aligned. ``is_used``: whether a kernel has allocated memory.

    >>> heap = Heap(256)
    >>> first, second = heap.allocate(100), heap.allocate(100)
    >>> second - first, heap.allocate(100)
    (112, 0)
    >>> heap.free(first)
    >>> heap.allocate(112) == first
    True
    """

    def __init__(self, nbytes: int = HEAP_BYTES) -> None:
        self.bytes = np.zeros(nbytes, np.uint8)
        self._free = [(0, nbytes)]  # offset, bytes; ascending
        self._taken: dict[int, int] = {}
        self.is_used = False

    def allocate(self, nbytes: int) -> int:
        """The address of so many bytes; 0 if there is no room."""
        self.is_used = True
        size = -(-max(nbytes, 1) // _ALIGNMENT) * _ALIGNMENT
        for k, (offset, room) in enumerate(self._free):
            if room >= size:
                self._free[k : k + 1] = [(offset + size, room - size)] if room > size else []
                self._taken[offset] = size
                return HEAP_ADDRESS + offset
        return 0

    def free(self, address: int) -> None:
        """Give memory back; an address that was not allocated is ignored."""
        offset = address - HEAP_ADDRESS
        if (size := self._taken.pop(offset, None)) is None:
            return
        free = sorted([*self._free, (offset, size)])
        self._free = free[:1]
        for start, room in free[1:]:
            last, before = self._free[-1]
            if last + before == start:
                self._free[-1] = last, before + room
            else:
                self._free.append((start, room))


class DeviceRuntime:
    """Carries out what a warp has stopped at, lane after lane.

    Attributes:
        text: what the launch has printed.
    """

    def __init__(self, heap: Heap) -> None:
        self._heap = heap
        self.text: list[bytes] = []

    def __call__(self, device: KernelMachine) -> None:
        m = device.machine
        warp, active = int(m.status[tables.WARP_NOW]), int(m.status[tables.STOP_LANE])
        row = m.code[int(m.status[tables.STOP_PC])]
        operands = m.lists[row[LIST] : row[LIST] + row[COUNT]]
        for lane in _lanes(active):
            values = [int(m.registers[warp, operand, lane]) for operand in operands]
            result = self._call(int(row[X]), values, device, warp, lane)
            m.registers[warp, row[DST], lane] = result

    def _call(self, number: int, values: list[int], device: KernelMachine, warp: int, lane: int) -> int:
        if number == PRINTF:
            reader = LaneMemory(device, warp, lane)
            text, count = formatted(reader.text(values[0]), reader, values[1])
            self.text.append(text)
            return count
        if number == MALLOC:
            return self._heap.allocate(values[0])
        if number == FREE:
            self._heap.free(values[0])
            return 0
        assert number == ASSERT
        raise _failed(values, device, warp, lane)


def _failed(values: list[int], device: KernelMachine, warp: int, lane: int) -> AssertFailed:
    reader, launch = LaneMemory(device, warp, lane), device.launch
    message, file, function = (reader.text(values[k]).decode("utf-8", "replace") for k in (0, 1, 3))
    block = block_of_warp(device.machine, warp, launch)
    thread = index_of(warp % device.warps * LANES + lane, launch.block)
    position = f"block: [{_commas(block)}], thread: [{_commas(thread)}]"
    where = f"{file}:{values[2] & 0xFFFFFFFF}"
    return AssertFailed(where, f"{function}:", f"{position} Assertion `{message}` failed")


def _commas(values: tuple[int, int, int]) -> str:
    return ",".join(map(str, values))


def _lanes(active: int) -> Iterator[int]:
    return (lane for lane in range(LANES) if active >> lane & 1)


class LaneMemory:
    """What one lane reads through generic addresses; what lies nowhere is empty or 0."""

    def __init__(self, device: KernelMachine, warp: int, lane: int) -> None:
        self._m, self._warp, self._lane = device.machine, warp, lane

    def _host(self, address: int) -> tuple[int, int]:
        """Address of the host, and bytes from there to the region's end."""
        m = self._m
        region = int(np.searchsorted(m.starts, address, side="right")) - 1
        if region < 0 or address >= m.stops[region]:
            return 0, 0
        host = int(m.hosts[region] + address - m.starts[region])
        if m.spaces[region] == int(Space.local):
            host += (self._warp * LANES + self._lane) * int(m.grid[tables.LOCAL_BYTES])
        return host, int(m.stops[region] - address)

    def value(self, address: int, nbytes: int) -> bytes:
        host, room = self._host(address)
        return ctypes.string_at(host, nbytes) if room >= nbytes else bytes(nbytes)

    def text(self, address: int) -> bytes:
        """A string up to its zero byte."""
        host, room = self._host(address)
        return ctypes.string_at(host, min(room, LONGEST_TEXT)).partition(b"\0")[0] if room else b"(null)"
