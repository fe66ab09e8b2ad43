"""Masks of lanes as integers."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop


@loop
def popcount(mask):
    """Number of set bits of a mask of up to 64.

    >>> popcount(np.uint32(0x8000_0001)), popcount(np.uint64(2**64 - 1))
    (2, 64)
    """
    x = np.int64(mask)
    count = count_low_bits(x & 0xFFFF_FFFF)
    return count + count_low_bits(x >> 32 & 0xFFFF_FFFF) if x >> 32 else count


@loop
def count_low_bits(x):
    """Number of set bits of an i8 below 2**32: sums of neighbouring bits, of pairs, of nibbles, then of bytes."""
    x = x - ((x >> 1) & 0x5555_5555)
    x = (x & 0x3333_3333) + ((x >> 2) & 0x3333_3333)
    x = (x + (x >> 4)) & 0x0F0F_0F0F
    return ((x * 0x0101_0101) >> 24) & 0xFF


def popcounts(masks: np.ndarray) -> np.ndarray:
    """Number of set bits of each mask, i8.

    >>> popcounts(np.array([0, 7], np.uint32)).tolist()
    [0, 3]
    """
    counts = np.empty(len(masks), np.int64)
    count_bits(masks, counts)
    return counts


@loop
def count_bits(masks, counts):
    """Write the number of set bits of each mask to `counts`."""
    for i in range(len(masks)):
        counts[i] = popcount(masks[i])
