"""Arrays of a kernel: indexing one is a memory access of every active lane."""

from __future__ import annotations

import sys
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from memsim.sources.describe import compiled
from memsim.sources.describe.indexing import Index
from memsim.sources.describe.lanes import Lanes, Operand
from memsim.trace.schema import ArrayInfo, Space

if TYPE_CHECKING:
    from memsim.sources.describe.batch import Batch

_WIDEST = 16  # bytes that a lane accesses at most


class DeviceArray:
    """An array in global, shared or constant memory.

    ``a[i]`` loads and ``a[i] = v`` stores; arrays of two or three dimensions take ``a[i, j]`` (row-major). An
    index out of range of an active lane is an IndexError.

    Args:
        number: its row in the trace's table.
        info: name, space, base address, size.
        values: its elements; a shared array has them once a block of the batch, [blocks, elements].
        shape: extents as the kernel sees them.
    """

    def __init__(self, batch: Batch, number: int, info: ArrayInfo, values: np.ndarray, shape: tuple[int, ...]) -> None:
        self._batch, self.number, self.info, self.shape = batch, number, info, shape
        self.values = values.reshape(-1)
        self.dtype = values.dtype
        self.as_bits = self.values.view(f"u{self.dtype.itemsize}")  # data moves through one loop for each element size

    @property
    def space(self) -> Space:
        return self.info.space

    @property
    def size(self) -> int:
        return prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Index) -> Lanes:
        return self._batch.load(self, index, 1, sys._getframe(1))[0]

    def __setitem__(self, index: Index, value: Operand) -> None:
        if isinstance(value, tuple):
            name = self.info.name
            raise TypeError(f"{name}[...] takes one value, not {len(value)}; write {name}.store(index, values)")
        self._batch.store(self, index, (value,), sys._getframe(1))

    def load(self, index: Index, width: int) -> tuple[Lanes, ...]:
        """Elements ``index`` to ``index + width - 1`` by one vector load, as CUDA's int2 or float4 do.

        ``index`` counts elements and must be a multiple of ``width`` (2, 4, 8 or 16, up to 16 bytes: eight halves), as
        the hardware demands.
        """
        return self._batch.load(self, index, width, sys._getframe(1))

    def store(self, index: Index, values: tuple[Operand, ...]) -> None:
        """Elements ``index`` onwards by one vector store, 2, 4, 8 or 16 values of up to 16 bytes."""
        self._batch.store(self, index, values, sys._getframe(1))

    def copy_async(self, index: Index, array: DeviceArray, array_index: Index, width: int = 1) -> None:
        """``tile.copy_async(i, a, j)``: elements of ``a`` from ``j`` on into this shared array, from ``i`` on.

        One instruction, as CUDA's ``__pipeline_memcpy_async``: no register holds the data, no store follows the load,
        and a copy of 16 bytes per lane is not cached in L1 (PTX ISA, ``cp.async.cg``). The data is there after the next
        ``t.sync()`` or ``t.wait_async()``, which wait for all copies; waiting for the older ones only is not modelled.
        """
        self._batch.copy(self, index, array, array_index, width, sys._getframe(1))

    def atomic_add(self, index: Index, value: Operand) -> Lanes:
        """Add, and return the old value. An atomic whose old value is never used is a reduction."""
        return self._batch.atomic(self, index, compiled.ADD, value, 0, sys._getframe(1))

    def atomic_min(self, index: Index, value: Operand) -> Lanes:
        """Store the smaller one, and return the old value."""
        return self._batch.atomic(self, index, compiled.MIN, value, 0, sys._getframe(1))

    def atomic_max(self, index: Index, value: Operand) -> Lanes:
        """Store the larger one, and return the old value."""
        return self._batch.atomic(self, index, compiled.MAX, value, 0, sys._getframe(1))

    def atomic_exch(self, index: Index, value: Operand) -> Lanes:
        """Store the value, and return the old one."""
        return self._batch.atomic(self, index, compiled.EXCHANGE, value, 0, sys._getframe(1))

    def atomic_cas(self, index: Index, compare: Operand, value: Operand) -> Lanes:
        """Store the value where the old one equals ``compare``, and return the old one."""
        return self._batch.atomic(self, index, compiled.COMPARE_AND_SWAP, value, compare, sys._getframe(1))


def check_vector(width: int, element_bytes: int) -> None:
    """Raise ValueError unless the hardware has accesses of so many elements: a power of two, at most 16 bytes."""
    if width not in (1, 2, 4, 8, 16) or width * element_bytes > _WIDEST:
        most = _WIDEST // element_bytes
        right = ", ".join(str(each) for each in (2, 4, 8, 16) if each <= most) or "1"
        raise ValueError(f"a vector access cannot have {width} elements of {element_bytes} bytes; give {right}")
