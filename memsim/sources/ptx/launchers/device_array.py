"""A device array without a device: numpy's, with the members that host code of Numba-CUDA and CuPy asks for."""

from __future__ import annotations

from typing import Any

import numpy as np


class DeviceArray(np.ndarray):
    """An array in the host's memory that stands for one on the device.

    >>> x = DeviceArray.of(np.arange(3))
    >>> x[1] = 7
    >>> x.copy_to_host().tolist(), x.get().tolist()
    ([0, 7, 2], [0, 7, 2])
    """

    @classmethod
    def of(cls, values: Any) -> DeviceArray:
        """A device's copy of an array."""
        return np.array(values, copy=True).view(cls)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = None) -> np.ndarray:
        """Numba's: a copy, or into an array."""
        if ary is None:
            return np.array(self, copy=True, subok=False)
        np.copyto(ary, self.view(np.ndarray))
        return ary

    def copy_to_device(self, ary: Any, stream: Any = None) -> None:
        """Numba's: overwrite with another array."""
        np.copyto(self, np.asarray(ary))

    def get(self, stream: Any = None, order: str = "C", out: np.ndarray | None = None, blocking: bool = True) -> Any:
        """CuPy's: a copy on the host."""
        return self.copy_to_host(out)

    def set(self, values: Any, stream: Any = None) -> None:
        """CuPy's: overwrite with the host's."""
        self.copy_to_device(values)
