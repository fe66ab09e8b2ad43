"""Masks of lanes as integers."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def popcount(mask):
    """Number of set bits.

    >>> popcount(np.uint32(0x8000_0001))
    2
    """
    count, rest = 0, np.int64(mask)
    while rest:
        rest &= rest - 1
        count += 1
    return count


@njit(cache=True)
def popcounts(masks):
    """Number of set bits of each mask, i8.

    >>> popcounts(np.array([0, 7], np.uint32)).tolist()
    [0, 3]
    """
    counts = np.empty(len(masks), np.int64)
    for i in range(len(masks)):
        counts[i] = popcount(masks[i])
    return counts
