"""Multiplications and sums that round once (IEEE 754-2019, fusedMultiplyAdd)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from memsim.jit.compiled import called
from memsim.jit.fused_multiply_add import fused
from memsim.sources.ptx.machine.numbers import DOWN, UP, ZERO

fused_single: Any = fused


@called
def odd_sum(x, y, cell, double):
    """A sum in double precision, rounded to odd: rounded again to a narrower type, it is rounded once.

    Boldo and Melquiond, *Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd* (2008).
    ``cell`` and ``double`` are one place in memory.
    """
    total = x + y
    part = total - x
    error = (x - (total - part)) + (y - part)
    if error > 0 or error < 0:  # false for NaN, of sums that are infinite
        double[0] = total
        if cell[0] & 1 == 0:
            cell[0] += 1 if (error > 0) == (total > 0) else -1
        total = double[0]
    return total


@called
def directed(x, y, z, rounding):
    """x * y + z in double precision, rounded up, down or to zero.

    What the nearest number is off by has the sign of a sum of exact errors (Knuth's of a sum, and that of a product).
    """
    near = fused(x, y, z)
    if not math.isfinite(near):
        return near
    product = x * y
    rest = fused(x, y, -product)
    total = product + z
    part = total - product
    error = (total - near) + (((product - (total - part)) + (z - part)) + rest)
    if error > 0 and (rounding == UP or rounding == ZERO and near < 0):
        return np.nextafter(near, math.inf)
    if error < 0 and (rounding == DOWN or rounding == ZERO and near > 0):
        return np.nextafter(near, -math.inf)
    return near
