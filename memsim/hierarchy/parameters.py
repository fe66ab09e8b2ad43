"""The configuration as the compiled loops read it: a record of integers a level, and what more than one level asks."""

from __future__ import annotations

import numpy as np

from memsim.gpu.choices import Inclusion
from memsim.gpu.config import GPU


def record_of(**values: int) -> np.ndarray:
    """One record of integers, a field a name."""
    out = np.zeros(1, np.dtype([(name, "<i8") for name in values]))
    for name, value in values.items():
        out[name] = value
    return out


def sharer_words(gpu: GPU) -> int:
    """32-bit words that name the SMs which share a line; an L2 that is not inclusive keeps none."""
    return -(-gpu.sm.count // 32) if gpu.l2.inclusion is Inclusion.inclusive else 0
