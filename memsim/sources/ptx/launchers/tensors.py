"""A numpy array with the few members of a tensor that Triton's launcher, autotuner and descriptors ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

from memsim.sources.ptx.launchers.arrays import DeviceArrays


class HostTensor:
    """An array of numpy where a tensor is expected; both are one memory.

    >>> from memsim.sources.ptx import Memory
    >>> x = HostTensor(np.zeros((2, 3), np.float32), DeviceArrays(Memory()))
    >>> x.stride(), x.numel(), x.data_ptr() % 512
    ((3, 1), 6, 0)
    """

    def __init__(self, array: np.ndarray, arrays: DeviceArrays) -> None:
        self.array, self._arrays = array, arrays

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def data_ptr(self) -> int:
        """The address on the device."""
        return self._arrays.address(self.array)

    def stride(self, axis: int | None = None) -> Any:
        """In elements, as torch counts it; of all axes if none is given."""
        steps = tuple(step // self.array.itemsize for step in self.array.strides)
        return steps if axis is None else steps[axis]

    def numel(self) -> int:
        return self.array.size

    def element_size(self) -> int:
        return self.array.itemsize

    def zero_(self) -> HostTensor:
        self.array[...] = 0
        return self

    def clone(self) -> HostTensor:
        return HostTensor(self.array.copy(), self._arrays)

    def copy_(self, other: HostTensor) -> HostTensor:
        self.array[...] = other.array
        return self
