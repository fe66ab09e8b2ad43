"""Slices of a column, one per warp, that lie anywhere in it: how to put them one after the other."""

from __future__ import annotations

import numpy as np


def index(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Where each slice begins once they follow each other, and where the last ends.

    >>> index(np.array([7, 0]), np.array([9, 3])).tolist()
    [0, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(end - start)])


def order(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Numbers of the items of all slices, slice after slice.

    >>> order(np.array([7, 0]), np.array([9, 3])).tolist()
    [7, 8, 0, 1, 2]
    """
    counts = end - start
    return np.repeat(start - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
