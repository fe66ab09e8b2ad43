"""Memory of the host that a program gives by its address, as callers of a driver do."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from memsim.sources.ptx.launch import parsed
from memsim.sources.ptx.launchers.caught import Code
from memsim.sources.ptx.memory import Memory


def host_bytes(place: Any, nbytes: int) -> Any:
    """Host memory that is given by its address, or as what has one; a buffer of so many bytes, shared.

    >>> x = np.arange(3, dtype=np.uint8)
    >>> bytes(host_bytes(x.ctypes.data, 2)), bytes(host_bytes(x, 3))
    (b'\\x00\\x01', b'\\x00\\x01\\x02')
    """
    if isinstance(place, int | np.integer):
        return (ctypes.c_char * nbytes).from_address(int(place))
    return memoryview(place).cast("B")[:nbytes]


def parameters_at(kernel: Code, pointers: int) -> list[bytes]:
    """The bytes of each parameter of a kernel, of which an array of pointers is given by its address."""
    wanted = parsed(kernel.ptx, kernel.source).functions[kernel.entry].parameters
    places: Any = np.frombuffer(host_bytes(pointers, 8 * len(wanted)), np.uint64) if wanted else []
    return [bytes(host_bytes(place, one.bytes)) for place, one in zip(places, wanted, strict=True)]


def name_arrays(memory: Memory, kernel: Code, values: list[bytes]) -> None:
    """Call arrays what a kernel's parameters are called: a pointer, or a description of an array that begins with one.

    Args:
        values: the bytes of each parameter.
    """
    for name, value in zip(kernel.parameters, values, strict=False):
        address = int.from_bytes(value[:8], "little")
        if len(value) >= 8 and memory.region_at(address) is not None:
            memory.rename(address, name)
