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
def signed_zero(total, x, y, rounding):
    """An exact sum of two numbers; a zero is negative when rounded down, but for that of two zeros above 0.

    IEEE 754-2019, section 6.3.
    """
    is_negative = rounding == DOWN and total == 0 and (math.copysign(1.0, x) < 0 or math.copysign(1.0, y) < 0)
    return -0.0 if is_negative else total


@called
def directed(x, y, z, rounding):
    """x * y + z in double precision, rounded up, down or to zero.

    What the nearest number is off by has the sign of a sum of exact errors (Knuth's of a sum, and that of a product).
    """
    near = fused(x, y, z)
    if not math.isfinite(near):
        is_overflow = math.isfinite(x) and math.isfinite(y) and math.isfinite(z)
        return _toward(near, -near, rounding) if is_overflow else near
    if abs(near) < _SMALL:  # errors of tiny products are no numbers
        x, z, near_there = x * _LARGE, z * _LARGE, near * _LARGE
    else:
        near_there = near
    product = x * y
    rest = fused(x, y, -product)
    if product == 0 and x != 0 and y != 0:
        rest = math.copysign(_LEAST, x) * math.copysign(1.0, y)
    total = product + z
    part = total - product
    error = (total - near_there) + (((product - (total - part)) + (z - part)) + rest)
    if error == 0:
        return signed_zero(near, product, z, rounding)
    return _toward(near, error, rounding)


_SMALL, _LARGE, _LEAST = 2.0**-900, 2.0**600, 2.0**-1074


@called
def _toward(near, error, rounding):
    """The number next to the nearest one, where the exact one lies on that side, which the error's sign says."""
    if error > 0 and (rounding == UP or rounding == ZERO and near < 0):
        return np.nextafter(near, math.inf)
    if error < 0 and (rounding == DOWN or rounding == ZERO and near > 0):
        return np.nextafter(near, -math.inf)
    return near


@called
def directed_quotient(x, y, rounding):
    """x / y in double precision, rounded up, down or to zero."""
    near = x / y
    if x == 0 or y == 0 or not math.isfinite(x) or not math.isfinite(y):
        return near
    if math.isinf(near):
        return _toward(near, -near, rounding)
    if near == 0:
        return _toward(near, 1.0 if (x > 0) == (y > 0) else -1.0, rounding)
    (left, left_exponent), (by, by_exponent), (found, exponent) = math.frexp(x), math.frexp(y), math.frexp(near)
    product = found * by
    rest = fused(found, by, -product)
    error = (left * 2.0 ** np.float64(left_exponent - by_exponent - exponent) - product) - rest
    return _toward(near, error if by > 0 else -error, rounding)


@called
def directed_root(x, rounding):
    """The square root of a number above 0 in double precision, rounded up, down or to zero."""
    near = math.sqrt(x)
    if math.isinf(near):
        return near
    part, exponent = math.frexp(near)
    square = part * part
    rest = fused(part, part, -square)
    whole, whole_exponent = math.frexp(x)
    error = (whole * 2.0 ** np.float64(whole_exponent - 2 * exponent) - square) - rest
    return _toward(near, error, rounding)
