"""Device memory: regions that lie in host buffers, at addresses that are the same in every run."""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memsim.sources.ptx.textures import BoundTexture
from memsim.support.errors import InputError
from memsim.trace.schema import ArrayInfo, Space

if TYPE_CHECKING:
    from memsim.sources.ptx.failures import AccessesBeyond

FIRST_ADDRESS = 1 << 28  # not 0, where nothing lies on a real GPU
_SPACES = {"global": Space.global_, "const": Space.constant}
ALIGNMENT = 512  # cudaMalloc gives so much (CUDA C++ Programming Guide, "Device Memory Accesses")


@dataclass(frozen=True)
class Region:
    """A stretch of device memory.

    Attributes:
        name: of its array, in the trace.
        address, bytes: where it is on the device.
        buffer: u1 [bytes], the host's memory that it lies in.
        element_bytes: of the array.
        space: ``global`` or ``const``.
    """

    name: str
    address: int
    bytes: int
    buffer: np.ndarray
    element_bytes: int
    space: str = "global"


@dataclass(frozen=True)
class RegionTable:
    """What the machine needs of the regions of global and constant memory, ascending by address.

    Attributes:
        starts, stops, hosts: i8, first address, address behind the last, address of the host.
        mapped: i8, address behind the mapped memory that follows; a GPU carries out accesses there.
        spaces: i8, ``global`` or ``const`` as :class:`memsim.trace.schema.Space`.
        arrays: i8, number in the trace; UNNUMBERED for regions that get one when they are first accessed.
        shifts: i8, an address less its address in the trace.
        infos: of the numbered regions, with their addresses in the trace.
        next_address: in the trace, for those that get a number later.
    """

    starts: np.ndarray
    stops: np.ndarray
    mapped: np.ndarray
    hosts: np.ndarray
    spaces: np.ndarray
    arrays: np.ndarray
    shifts: np.ndarray
    infos: list[ArrayInfo]
    next_address: int = 0


class DeviceMemory:
    """Device memory whose regions are numpy arrays of the caller's, shared and not copied.

    >>> memory = DeviceMemory()
    >>> x = np.zeros(100, np.float32)
    >>> hex(memory.add(x, name="x")), hex(memory.add(x[10:], name="tail"))
    ('0x10000000', '0x10000028')
    """

    def __init__(self) -> None:
        self.regions: list[Region] = []
        self.textures: dict[int, BoundTexture] = {}  # texture and surface objects, by handle
        self.beyond: list[AccessesBeyond] = []  # behind arrays; the caller takes them
        self._next = FIRST_ADDRESS
        self._hosts: list[tuple[int, int, Region]] = []  # (first byte on the host, behind the last, region), ascending
        self._symbols: dict[tuple[str, str], int] = {}  # variables of modules, by (module's key, name)

    def add(
        self, array: np.ndarray, name: str | None = None, *, space: str = "global", address: int | None = None
    ) -> int:
        """Place an array; one that lies within another that was added before is a part of that.

        Args:
            array: any dtype; its memory must be one stretch (C or Fortran order, also transposed).
            name: in the trace; by default ``array`` and a number.
            address: where nothing lies yet; None: behind all that was placed.

        Returns:
            The device address of its first element.

        Raises:
            InputError: the array has gaps, or overlaps one that was added.
        """
        if not isinstance(array, np.ndarray) or array.dtype.hasobject:
            raise InputError("memory", "array", f"is {type(array).__name__}; give a numpy array of numbers")
        name = name or f"array{len(self.regions)}"
        first, nbytes = array.ctypes.data, array.nbytes
        for start, stop, region in self._hosts:
            if start <= first and first + nbytes <= stop:
                return region.address + first - start
            if first < stop and start < first + nbytes:
                raise InputError("memory", name, f"overlaps {region.name}; add the array that holds both first")
        order = array.reshape(-1, order="A") if array.flags.forc else None
        if order is None or order.ctypes.data != first:
            raise InputError("memory", name, "is not contiguous; give a contiguous array")
        buffer = order.view(np.uint8) if array.size else np.zeros(0, np.uint8)
        return self._allocate(name, buffer, array.dtype.itemsize, space, address)

    def variable(self, key: tuple[str, str], data: np.ndarray, element_bytes: int, space: str) -> int:
        """Place a module's variable once; launches of the same module share it."""
        if key not in self._symbols:
            self._symbols[key] = self._allocate(key[1], data, element_bytes, space)
        return self._symbols[key]

    def is_allocated(self, key: tuple[str, str]) -> bool:
        """Whether a module's variable has a place, and what it holds is nobody's to write but the program's."""
        return key in self._symbols

    def table(self) -> RegionTable:
        """The regions as the machine sees them: all have numbers, and the trace has their own addresses."""
        rows = [
            (one.address, one.address + one.bytes, one.buffer.ctypes.data, int(_SPACES[one.space]), k, 0)
            for k, one in enumerate(self.regions)
        ]
        columns = np.array(rows, np.int64).reshape(-1, 6).T.copy()
        infos = [
            ArrayInfo(one.name, _SPACES[one.space], one.address, one.bytes, one.element_bytes) for one in self.regions
        ]
        starts, stops, hosts, spaces, arrays, shifts = columns
        return RegionTable(starts, stops, stops, hosts, spaces, arrays, shifts, infos)

    def info(self, row: int, address: int) -> ArrayInfo:
        """What the trace calls a region that got its number while the kernel ran.

        Args:
            row: of the table.
            address: in the trace.
        """
        raise AssertionError("all regions have numbers")

    def region_at(self, address: int) -> Region | None:
        """The region that an address lies in."""
        at = bisect_right(self.regions, address, key=lambda region: region.address) - 1
        found = self.regions[at] if at >= 0 else None
        return found if found is not None and address < found.address + max(found.bytes, 1) else None

    def array_at(self, address: int, nbytes: int) -> np.ndarray:
        """The bytes from an address on, u1 [nbytes], shared.

        Raises:
            InputError: they do not lie in one region.
        """
        region = self.region_at(address)
        if region is None or address + nbytes > region.address + region.bytes:
            raise InputError("memory", hex(address), f"and {nbytes} bytes from there lie in no array")
        return region.buffer[address - region.address :][:nbytes]

    def _allocate(
        self, name: str, buffer: np.ndarray, element_bytes: int, space: str, address: int | None = None
    ) -> int:
        start = self._next if address is None else address
        region = Region(name, start, len(buffer), buffer, element_bytes, space)
        self._next = max(self._next, start + -(-max(len(buffer), 1) // ALIGNMENT) * ALIGNMENT)
        insort(self.regions, region, key=lambda one: one.address)
        first = buffer.ctypes.data
        if len(buffer):
            self._hosts.append((first, first + len(buffer), region))
        return region.address
