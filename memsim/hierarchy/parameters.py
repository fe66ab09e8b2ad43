"""The configuration as the compiled loops read it: a record per level, and what several levels use."""

from __future__ import annotations

from math import gcd

import numpy as np

from memsim.gpu.choices import Inclusion
from memsim.gpu.config import GPU


def record_of(**values: int) -> np.ndarray:
    """One record of integers, a field per name."""
    out = np.zeros(1, np.dtype([(name, "<i8") for name in values]))
    for name, value in values.items():
        out[name] = value
    return out


def shared(array: np.ndarray) -> np.ndarray:
    """A read-only plain view: the compiled loops then see one type, whether the array is mapped from a file or not."""
    view = np.asarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view


def clock_ratio(clock_mhz: float, gpu: GPU) -> tuple[int, int]:
    """Cycles of a clock in how many SM cycles, as whole numbers.

    >>> from memsim.gpu.presets import load_gpu
    >>> clock_ratio(690.0, load_gpu("tesla-v100"))
    (1, 2)
    """
    up, down = round(clock_mhz * 1000), round(gpu.sm.clock_mhz * 1000)
    shared = gcd(up, down)
    return up // shared, down // shared


def sharer_words(gpu: GPU) -> int:
    """32-bit words that name the SMs which share a line; an L2 that is not inclusive keeps none."""
    return -(-gpu.sm.count // 32) if gpu.l2.inclusion is Inclusion.inclusive else 0
