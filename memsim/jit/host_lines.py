"""The host's cache lines: records that are touched as one should lie in one."""

from __future__ import annotations

import numpy as np

HOST_LINE = 64  # bytes


def line_aligned(size: int, dtype: np.dtype) -> np.ndarray:
    """Zeros that begin at a cache line of the host, which numpy's own do not.

    >>> line_aligned(3, np.dtype("<i4")).ctypes.data % HOST_LINE
    0
    """
    raw = np.zeros(size * dtype.itemsize + HOST_LINE, np.uint8)
    start = -raw.ctypes.data % HOST_LINE
    return raw[start : start + size * dtype.itemsize].view(dtype)
