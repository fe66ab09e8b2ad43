"""Where a kernel's arrays lie: the simulated address space, and every block's shared memory."""

from __future__ import annotations

import linecache
import re
from math import prod
from types import CodeType
from typing import Any

import numpy as np

from memsim.sources.describe.arrays import DeviceArray
from memsim.sources.describe.batch import Batch
from memsim.sources.describe.ops import position
from memsim.trace.schema import ArrayInfo, Space

FIRST_ADDRESS = 1 << 28  # not 0, where nothing lies on a real GPU
# cudaMalloc promises 256 bytes at least and gives 512 (CUDA C++ Programming Guide, "Device Memory Accesses").
ALIGNMENT = 512
SHARED_ALIGNMENT = 16  # of the widest vector access


class Constant:
    """Marks an argument of a launch as an array in constant memory: ``Constant(np.array(...))``."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values


class Texture:
    """Marks an argument of a launch as an array that is read through the texture units: ``Texture(np.array(...))``.

    As CUDA's texture objects over linear memory, point reads, and as ``const __restrict__`` arrays on Kepler.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values


_SPACES = {Constant: Space.constant, Texture: Space.texture}


def array_of(value: Any) -> Any:
    """The array that an argument stands for, without its mark."""
    return value.values if isinstance(value, Constant | Texture) else value


class DescribedMemory:
    """Places the arrays among a kernel's arguments, and shared arrays as the kernel declares them.

    Attributes:
        arrays: the trace's table.
        shared_bytes: of one block, so far.
    """

    def __init__(self, arguments: dict[str, Any], shared_bytes: int) -> None:
        self.arrays: list[ArrayInfo] = []
        self.shared_bytes = shared_bytes
        self._arguments = arguments
        self._sites: dict[tuple[CodeType, int], int] = {}
        self._numbers: dict[str, int] = {}
        address = FIRST_ADDRESS
        for name, value in arguments.items():
            space, values = _SPACES.get(type(value), Space.global_), array_of(value)
            if isinstance(values, np.ndarray):
                self._numbers[name] = len(self.arrays)
                self.arrays.append(ArrayInfo(name, space, address, values.nbytes, values.dtype.itemsize))
                address += -(-max(values.nbytes, 1) // ALIGNMENT) * ALIGNMENT

    def bind(self, batch: Batch) -> dict[str, Any]:
        """The kernel's arguments for one batch: arrays as the kernel indexes them, all else as it is."""
        return {name: self._bound(batch, name, value) for name, value in self._arguments.items()}

    def _bound(self, batch: Batch, name: str, value: Any) -> Any:
        number = self._numbers.get(name)
        if number is None:
            return value
        values = array_of(value)
        return DeviceArray(batch, number, self.arrays[number], values, values.shape)

    def shared(
        self, site: tuple[CodeType, int], shape: tuple[int, ...], dtype: np.dtype, name: str | None
    ) -> tuple[int, ArrayInfo]:
        """The row of the shared array declared at ``site`` (code, bytecode offset), placed when first met."""
        number = self._sites.get(site)
        if number is None:
            number = self._sites[site] = len(self.arrays)
            base = -(-self.shared_bytes // SHARED_ALIGNMENT) * SHARED_ALIGNMENT
            size = prod(shape) * dtype.itemsize
            self.arrays.append(ArrayInfo(name or _assigned_name(*site), Space.shared, base, size, dtype.itemsize))
            self.shared_bytes = base + size
        return number, self.arrays[number]


def _assigned_name(code: CodeType, instruction: int) -> str:
    """The variable a declaration is assigned to, or "shared"."""
    where = position(code, instruction)
    found = re.match(r"\s*(\w+)\s*=", linecache.getline(where.filename, where.line))
    return found[1] if found else "shared"
