"""Where a host array lies on the simulated device: numpy's arrays and CPU tensors of torch, views included."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from memsim.sources.ptx import Memory


class DeviceArrays:
    """Gives host arrays device addresses; one buffer keeps its address, and is kept, as long as this lives.

    A kernel's stores are seen in the array at once, as both are one memory.

    Args:
        memory: of the device; buffers are added to it when they are first met.

    >>> from memsim.sources.ptx import Memory
    >>> arrays, x = DeviceArrays(Memory()), np.zeros(100, np.float32)
    >>> arrays.address(x[3:]) - arrays.address(x)
    12
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._known: dict[int, tuple[int, Any]] = {}  # a buffer's first byte on the host -> on the device, its owner

    def address(self, array: Any, name: str | None = None) -> int:
        """The device address of an array's first element.

        Args:
            array: of numpy, or a tensor of torch that lies in the host's memory.
            name: what the array's buffer is called from now on; None: what it was.
        """
        if isinstance(array, np.ndarray):
            owner: Any = _owner(array)
            values, first = owner.ravel(order="K"), array.__array_interface__["data"][0]  # an owner is dense: no copy
            start = owner.__array_interface__["data"][0]
        else:
            owner = array.untyped_storage()
            start, values = owner.data_ptr(), _tensor_elements(owner, array.element_size())
            first = start + array.storage_offset() * array.element_size()
        if start not in self._known:
            self._known[start] = self._memory.add(values), owner
        address = self._known[start][0]
        if name is not None:
            self._memory.rename(address, name)
        return address + first - start


def is_array(value: Any) -> bool:
    """Whether an argument is an array of the host that a kernel may be given a pointer to."""
    return isinstance(value, np.ndarray) or is_tensor(value)


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of torch, without importing torch."""
    return any(one.__name__ == "Tensor" and one.__module__.startswith("torch") for one in type(value).__mro__)


def _owner(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _tensor_elements(storage: Any, item: int) -> np.ndarray:
    """A tensor's memory as integers of its width: bfloat16 and float8 are no types of numpy."""
    count = storage.nbytes() // item
    return np.frombuffer((ctypes.c_char * (count * item)).from_address(storage.data_ptr()), np.dtype(f"V{item}"))
