"""The memory of a CUDA process as the server sees it: its arena, mapped here, and the allocations in it."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from memsim.capture.protocol import Allocation, AllocationKind, ProtocolError
from memsim.sources.ptx.machine.log import UNNUMBERED
from memsim.sources.ptx.memory import ALIGNMENT, FIRST_ADDRESS, DeviceMemory, Region, RegionTable
from memsim.sources.ptx.textures import BoundTexture
from memsim.support.errors import InputError
from memsim.trace.schema import ArrayInfo, Space

FARTHEST = 1 << 38  # bytes from an address to an allocation that an error names
MOST_FREED = 1000  # freed allocations that an error can name
PAGE = 2 << 20  # a GPU maps device memory in pages of so many bytes, as cuMemGetAllocationGranularity reports them


class Arena:
    """A process's memory file, mapped into this process.

    Args:
        descriptor: of the file; it is closed.
        nbytes: of the file, most of them never touched.
        base: address of its first byte in the program.

    Raises:
        ProtocolError: the file cannot be mapped or is smaller than it should be.
    """

    def __init__(self, descriptor: int, nbytes: int, base: int = 0) -> None:
        try:
            if os.fstat(descriptor).st_size < nbytes:
                raise ProtocolError("the program's memory is smaller than it reports")
            flags = mmap.MAP_SHARED | getattr(mmap, "MAP_NORESERVE", 0)
            self._map = mmap.mmap(descriptor, nbytes, flags=flags)
        except (OSError, ValueError) as error:
            raise ProtocolError(f"the memory of the program cannot be mapped ({error})") from error
        finally:
            os.close(descriptor)
        self.bytes = np.frombuffer(self._map, np.uint8)
        self.host = self.bytes.ctypes.data  # address of its first byte in this process
        self.base = base

    def close(self) -> None:
        self.bytes = np.zeros(0, np.uint8)


class ProcessMemory(DeviceMemory):
    """The allocations of a process, at the addresses that its pointers have.

    A trace gets addresses of its own, so that it is the same in every run: first the arrays that the launch's
    arguments point to and its variables, in the order in which they were allocated, then others in the order in which
    the kernel first accesses them.
    """

    def __init__(self, arena: Arena) -> None:
        super().__init__()
        self._arena = arena
        self._live: dict[int, Allocation] = {}
        self._freed: deque[Allocation] = deque(maxlen=MOST_FREED)  # the latest last
        self._order: list[Allocation] = []  # ascending by address
        self._starts: list[int] = []
        self._columns = np.zeros((5, 0), np.int64)
        self._stale = True
        self._own: dict[int, np.ndarray] = {}  # memory of this process
        self._constant: set[int] = set()  # addresses of variables in constant memory
        self._addresses: Mapping[str, int] = {}  # of the variables of the launch's module
        self._elements: dict[int, int] = {}  # bytes of an element by address, where it is known
        self._named: dict[int, str] = {}  # this launch's arrays by address of the allocation
        self.version = 0  # changes with the regions

    def update(self, removed: Iterable[int], added: Iterable[Allocation]) -> None:
        """Follow the process's allocations.

        Raises:
            ProtocolError: an allocation lies outside of the arena.
        """
        for address in removed:
            if address in self._live:
                self._freed.append(self._live.pop(address))
            self._named.pop(address, None)
            self._constant.discard(address)
        for one in added:
            if one.offset + one.bytes > len(self._arena.bytes):
                raise ProtocolError(f"an allocation of {one.bytes} bytes lies outside of the program's memory")
            self._live[one.address] = one
        self._stale = True
        self.version += 1

    def add_own(self, address: int, room: np.ndarray, name: str) -> None:
        """Give kernels memory of this process at an address that the program does not use."""
        self._own[address] = room
        offset = room.ctypes.data - self._arena.host
        self._live[address] = Allocation(address, len(room), 0, offset, AllocationKind.device, name)
        self._stale = True
        self.version += 1

    def add_constants(self, addresses: Iterable[int]) -> None:
        """Variables in constant memory."""
        self._constant |= set(addresses)
        self._stale = True
        self.version += 1

    def set_texture(self, number: int, texture: BoundTexture | None) -> None:
        """Add a texture or surface object; None: remove it."""
        self.textures.pop(number, None)
        if texture is not None:
            self.textures[number] = texture
        self.version += 1

    def use_variables(self, addresses: Mapping[str, int]) -> None:
        """Set where the variables of the next launch's module lie."""
        self._addresses = addresses

    def name_arrays(self, names: Sequence[tuple[int, str, int]]) -> None:
        """Set which allocations the next launch's trace lists first: an address in each, name, bytes of an element."""
        self._named, self._elements = {}, {}
        for address, name, element_bytes in names:
            if (found := self.allocation_at(address)) is not None:
                self._named.setdefault(found.address, name)
                self._elements.setdefault(found.address, element_bytes)

    def contents(self) -> list[tuple[int, np.ndarray]]:
        """Address and bytes of each allocation of the process, ascending; writing to them writes to its memory."""
        self._sort()
        return [(one.address, self._bytes_of(one)) for one in self._order if one.address not in self._own]

    def allocation_at(self, address: int) -> Allocation | None:
        """The allocation that an address lies in."""
        self._sort()
        at = bisect_right(self._starts, address) - 1
        found = self._order[at] if at >= 0 else None
        return found if found is not None and address < found.address + max(found.bytes, 1) else None

    def describe(self, address: int) -> str:
        """Where an address lies relative to the nearest allocation, freed ones included; empty: it is near to none."""
        self._sort()
        at = bisect_right(self._starts, address)
        near = min(self._order[max(at - 1, 0) : at + 1], key=lambda one: _distance(one, address), default=None)
        freed = next((one for one in reversed(self._freed) if _distance(one, address) == 0), None)
        if freed is not None and (near is None or not _overlap(near, freed)):
            return f"{describe(freed, address)}, which was freed"
        return "" if near is None or _distance(near, address) > FARTHEST else describe(near, address)

    # -- as memsim.sources.ptx has it

    def table(self) -> RegionTable:
        self._sort()
        columns = self._columns
        arrays = np.full(columns.shape[1], UNNUMBERED, np.int64)
        shifts = np.zeros(columns.shape[1], np.int64)
        infos: list[ArrayInfo] = []
        address = FIRST_ADDRESS
        for one in sorted((self._live[address] for address in self._named), key=lambda one: one.sequence):
            row = bisect_right(self._starts, one.address) - 1
            arrays[row], shifts[row] = len(infos), one.address - address
            infos.append(self._info(one, address))
            address += -(-max(one.bytes, 1) // ALIGNMENT) * ALIGNMENT
        starts, stops, mapped, hosts, spaces = columns
        return RegionTable(starts, stops, mapped, hosts, spaces, arrays, shifts, infos, address)

    def info(self, row: int, address: int) -> ArrayInfo:
        return self._info(self._order[row], address)

    def region_at(self, address: int) -> Region | None:
        found = self.allocation_at(address)
        return None if found is None else Region(found.name, found.address, found.bytes, self._bytes_of(found), 1)

    def array_at(self, address: int, nbytes: int) -> np.ndarray:
        found = self.allocation_at(address)
        if found is None or address + nbytes > found.address + found.bytes:
            raise InputError("memory", hex(address), f"and {nbytes} bytes from there lie in no allocation")
        return self._bytes_of(found)[address - found.address :][:nbytes]

    def variable(self, key: tuple[str, str], data: np.ndarray, element_bytes: int, space: str) -> int:
        """The address of a module's variable; the process made room for it when it loaded the module."""
        if key[1] not in self._addresses:
            raise InputError("module", key[1], "has no memory; it is declared but not defined")
        return self._addresses[key[1]]

    def is_allocated(self, key: tuple[str, str]) -> bool:
        return True

    def _bytes_of(self, one: Allocation) -> np.ndarray:
        if one.address in self._own:
            return self._own[one.address]
        return self._arena.bytes[one.offset : one.offset + one.bytes]

    def _info(self, one: Allocation, address: int) -> ArrayInfo:
        space = Space.constant if one.address in self._constant else Space.global_
        if one.kind == AllocationKind.array:
            space = Space.texture
        name = self._named.get(one.address) or one.name or f"allocation{one.sequence}"
        return ArrayInfo(name, space, address, one.bytes, self._elements.get(one.address, 0))

    def _sort(self) -> None:
        """Bring the columns up to date."""
        if not self._stale:
            return
        self._order = sorted(self._live.values())
        self._starts = [one[0] for one in self._order]
        columns = [(one[0], one[1], one[3]) for one in self._order]  # names of the fields cost more
        starts, sizes, offsets = np.array(columns, np.int64).reshape(-1, 3).T
        spaces = np.full(len(starts), int(Space.global_), np.int64)
        for address in self._constant:
            at = bisect_right(self._starts, address) - 1
            if at >= 0 and self._starts[at] == address:
                spaces[at] = int(Space.constant)
        stops = starts + sizes
        self._columns = np.stack(
            [starts, stops, self._mapped(starts, stops, offsets), self._arena.host + offsets, spaces]
        )
        self._stale = False

    def _mapped(self, starts: np.ndarray, stops: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Where the mapped memory behind each allocation ends: at the next one, or where its last page does.

        Nothing is mapped behind memory of the host, which lies in the upper half of the arena or was moved into it.
        """
        page_ends = -(-stops // PAGE) * PAGE
        following = np.append(starts[1:], np.iinfo(np.int64).max)
        ends = np.where(following // PAGE * PAGE <= page_ends, following, page_ends)
        middle = self._arena.base + len(self._arena.bytes) // 2
        of_device = (starts - offsets == self._arena.base) & (stops <= middle)
        return np.where(of_device, np.maximum(np.minimum(ends, middle), stops), stops)


def _distance(one: Allocation, address: int) -> int:
    if address < one.address:
        return one.address - address
    return max(address - (one.address + one.bytes) + 1, 0)


def _overlap(one: Allocation, other: Allocation) -> bool:
    return one.address < other.address + other.bytes and other.address < one.address + one.bytes


def describe(one: Allocation, address: int) -> str:
    """Where an address lies relative to an allocation, as compute-sanitizer says it.

    >>> describe(Allocation(0x1000, 64, 3, 0, 0, "x"), 0x1044)
    '4 bytes after the allocation x of 64 bytes'
    """
    name = f"the allocation {one.name}" if one.name else f"allocation {one.sequence}"
    if address < one.address:
        return f"{one.address - address} bytes before {name} of {one.bytes} bytes"
    if (after := address - one.address - one.bytes) >= 0:
        return f"{after} bytes after {name} of {one.bytes} bytes"
    return f"{address - one.address} bytes inside {name} of {one.bytes} bytes"
