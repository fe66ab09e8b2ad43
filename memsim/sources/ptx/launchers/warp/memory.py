"""Device memory as Warp's library hands it out: it lies in the host's, at the addresses that kernels are given."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from memsim.sources.ptx import Memory
from memsim.sources.ptx.launchers.host_memory import host_bytes

_REGULAR = 0  # a type of array, in Warp's numbers: neither indexed nor of Fabric
_ON_POINTERS = (  # whose functions for the host take the same arguments, pointers among them, as those for devices
    "array_sum_float", "array_sum_double", "array_inner_float", "array_inner_double", "array_scan_int",
    "array_scan_int64", "array_scan_float", "array_scan_double", "radix_sort_pairs_int", "radix_sort_pairs_int64",
    "radix_sort_pairs_uint", "radix_sort_pairs_uint64", "radix_sort_pairs_float", "radix_sort_pairs_double",
    "runlength_encode_int", "segmented_sort_pairs_int", "segmented_sort_pairs_float",
)  # fmt: skip


class DeviceMemory:
    """Allocations, copies and fills; while a graph is recorded, copies and fills become its steps.

    Args:
        own: Warp's library, whose functions for the host do the work.
        memory: of the device.
    """

    def __init__(self, own: Any, memory: Memory) -> None:
        self._own, self._memory = own, memory
        self._sizes: dict[int, int] = {}
        self._free: defaultdict[int, list[int]] = defaultdict(list)  # addresses that were given back, by size
        self.recorded: list[Callable[[], None]] | None = None

    def functions(self) -> dict[str, Callable[..., Any]]:
        """By their names in the library, without its prefix."""
        copies = {f"memcpy_{way}": self._copy for way in ("h2d", "d2h", "d2d")}
        return copies | {
            **dict.fromkeys(("alloc_device_default", "alloc_device_async"), self._allocate),
            **dict.fromkeys(("free_device_default", "free_device_async"), self._release),
            "alloc_pinned": lambda nbytes, tag: self._own.wp_alloc_host(nbytes, tag),
            "free_pinned": lambda address: self._own.wp_free_host(address),
            "memset_device": self._set,
            "memtile_device": self._tile,
            "array_fill_device": self._fill_array,
            "array_copy_device": self._copy_array,
            **{f"{name}_device": self._as_on_host(f"wp_{name}_host") for name in _ON_POINTERS},
        }

    def do(self, step: Callable[[], None]) -> int:
        """Do it now, or when the graph that is recorded is launched; 1, as nothing fails but by an exception."""
        if self.recorded is None:
            step()
        else:
            self.recorded.append(step)
        return 1

    def _allocate(self, context: Any, nbytes: int, *_: Any) -> int:
        if self._free[nbytes]:
            return self._free[nbytes].pop()
        address = self._memory.reserve(nbytes, element_bytes=4)
        self._sizes[address] = nbytes
        return address

    def _release(self, context: Any, place: Any, *_: Any) -> None:
        address = _number(place)
        self._free[self._sizes[address]].append(address)

    def _bytes(self, place: Any, nbytes: int) -> np.ndarray:
        """Memory of the device or the host, u1 [nbytes], shared."""
        address = _number(place)
        if self._memory.region_at(address) is not None:
            return self._memory.array_at(address, nbytes)
        return np.frombuffer(host_bytes(address, nbytes), np.uint8)

    def _copy(self, context: Any, to: Any, source: Any, nbytes: int, stream: Any) -> int:
        given, wanted = self._bytes(source, nbytes), self._bytes(to, nbytes)
        return self.do(lambda: np.copyto(wanted, given.copy()))

    def _set(self, context: Any, to: Any, value: int, nbytes: int, stream: Any) -> int:
        wanted = self._bytes(to, nbytes)
        return self.do(lambda: wanted.fill(value & 0xFF))

    def _tile(self, context: Any, to: Any, source: Any, size: int, times: int) -> int:
        value = bytes(host_bytes(_number(source), size))
        wanted = self._bytes(to, size * times).reshape(times, size)
        return self.do(lambda: np.copyto(wanted, np.frombuffer(value, np.uint8)))

    def _fill_array(self, context: Any, array: Any, kind: int, value: Any, size: int) -> int:
        if kind != _REGULAR:
            return 0
        array = self._on_host(array)
        return self.do(lambda: self._own.wp_array_fill_host(array, kind, value, size))

    def _copy_array(self, context: Any, to: Any, source: Any, to_kind: int, source_kind: int, size: int) -> int:
        if to_kind != _REGULAR or source_kind != _REGULAR:
            return 0
        to, source = self._on_host(to), self._on_host(source)
        return self.do(lambda: self._own.wp_array_copy_host(to, source, to_kind, source_kind, size))

    def _on_host(self, array: Any) -> Any:
        """A pointer to an array's description, with the host's address of its elements in place of the device's."""
        described = type(array.contents).from_buffer_copy(array.contents)
        described.data = self._bytes(described.data, 1).ctypes.data
        return ctypes.pointer(described)

    def _as_on_host(self, name: str) -> Callable[..., int]:
        """A function of the library that does on the host what the same arguments ask of a device."""

        def call(*given: Any) -> int:
            on_host = [self._place(one) for one in given]
            return self.do(lambda: getattr(self._own, name)(*on_host))

        return call

    def _place(self, value: Any) -> Any:
        """Where an argument that is an address of the device lies on the host; other arguments as they are."""
        number = value if isinstance(value, int) else None
        known = number is not None and self._memory.region_at(number) is not None
        return self._bytes(number, 1).ctypes.data if known else value


def _number(address: Any) -> int:
    """An address as a number; ctypes has types for it, and None for 0."""
    return address if isinstance(address, int) else ctypes.cast(address, ctypes.c_void_p).value or 0
