"""Bits as numbers and back: every floating-point type as float64, rounded once when it becomes bits again."""

from __future__ import annotations

import math

import numpy as np

from memsim.jit.compiled import called, inlined
from memsim.sources.ptx.machine.codes import Type

F32, F64, F16, BF16, E4M3, E5M2, TF32, UNSIGNED, SIGNED = (
    int(one)
    for one in (
        Type.f32, Type.f64, Type.f16, Type.bf16, Type.e4m3, Type.e5m2, Type.tf32, Type.unsigned, Type.signed
    )
)  # fmt: skip
NEAREST, ZERO, DOWN, UP, AWAY = range(5)  # how to round: .rn, .rz, .rm, .rp, .rna
# Bits of flags.
SATURATE, FLUSH, RELU, FINITE = 1, 2, 4, 8


@called
def scaled(number, exponent):
    """A number times a power of two, which float64 has."""
    return number * 2.0 ** np.float64(exponent)


@called
def to_number(cell, single, double, bits, kind):
    """The number that bits stand for; ``cell``, ``single`` and ``double`` are one place in memory."""
    if kind == F32 or kind == TF32:
        cell[0] = bits & ~0x1FFF if kind == TF32 else bits  # the lower bits of TF32 are none
        return np.float64(single[0])
    if kind == F64:
        cell[0] = bits
        return double[0]
    if kind == BF16:
        cell[0] = (bits & 0xFFFF) << 16
        return np.float64(single[0])
    if kind == F16 or kind == E5M2:
        return small_number(cell, double, bits, np.int64(5), np.int64(10 if kind == F16 else 2), True)
    if kind == E4M3:
        return math.nan if bits & 0x7F == 0x7F else small_number(cell, double, bits, np.int64(4), np.int64(3), False)
    if kind == UNSIGNED and bits < 0:
        return np.float64(np.uint64(bits))
    return np.float64(bits)


@inlined
def small_number(cell, double, bits, exponent_bits, fraction_bits, has_infinity):
    """The number that bits of a type with so many stand for: read as double precision's, then scaled by both biases."""
    width = exponent_bits + fraction_bits
    size = bits & ((1 << width) - 1)
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if has_infinity and size >= infinity:
        number = math.inf if size == infinity else math.nan
    else:
        cell[0] = size << (52 - fraction_bits)
        number = double[0]
        cell[0] = (2047 - (1 << (exponent_bits - 1))) << 52
        number *= double[0]
    return -number if (bits >> width) & 1 else number


@called
def to_bits(cell, single, double, number, kind, rounding, flags):
    """The bits of a number in a type, rounded as asked."""
    if flags & SATURATE:
        number = min(number, 1.0) if number > 0.0 else 0.0  # of -0, too: ptxas leaves out the abs of what is saturated
    if flags & RELU and not number > 0:
        number = 0.0 if number == number else number
    if kind == F64:
        double[0] = number
        return cell[0]
    if kind == F32:
        return _single_bits(cell, single, number, rounding, flags)
    if kind == E4M3:
        return _e4m3_bits(number, rounding)
    # One call, of variables: for constants Numba would compile it once for each of them.
    exponent_bits = np.int64(5 if kind == F16 or kind == E5M2 else 8)
    fraction_bits = np.int64(2 if kind == E5M2 else 7 if kind == BF16 else 10)
    result = small_bits(number, exponent_bits, fraction_bits, rounding, flags & FINITE if kind != TF32 else 0)
    return result << 13 if kind == TF32 else result


@called
def _single_bits(cell, single, number, rounding, flags):
    cell[0] = 0
    single[0] = np.float32(number)
    if rounding != NEAREST and number == number and np.float64(single[0]) != number and not math.isinf(number):
        rounded = np.float64(single[0])
        away = rounding == UP or rounding == ZERO and number < 0  # towards plus infinity
        if away and rounded < number or not away and rounded > number:
            step = 1 if (rounded < number) == (rounded > 0 or rounded == 0 and number > 0) else -1
            cell[0] = (cell[0] + step) & 0xFFFFFFFF
    if flags & FLUSH and abs(single[0]) < 1.1754943508222875e-38:
        cell[0] &= 0x80000000
    if number != number:
        cell[0] = 0x7FFFFFFF
    return cell[0]


@called
def rounded(value, rounding):
    """A number as a whole one, a zero with the number's sign."""
    return math.copysign(_whole(value, rounding), value)


@called
def _whole(value, rounding):
    if rounding == ZERO:
        return np.float64(math.trunc(value))
    if rounding == DOWN:
        return np.float64(math.floor(value))
    if rounding == UP:
        return np.float64(math.ceil(value))
    if rounding == AWAY:
        return np.float64(math.floor(value + 0.5))
    low = np.float64(math.floor(value))
    rest = value - low
    if rest > 0.5 or rest == 0.5 and low - 2.0 * math.floor(low / 2.0) == 1.0:
        return low + 1.0
    return low


@called
def small_bits(number, exponent_bits, fraction_bits, rounding, finite):
    """The bits of a number in an IEEE type with so many; ``finite``: the largest number stands for what is larger."""
    bias = (1 << (exponent_bits - 1)) - 1
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if number != number:
        return np.int64(infinity | ((1 << fraction_bits) - 1))
    sign = np.int64(0)
    if math.copysign(1.0, number) < 0:
        sign, number = np.int64(1) << (exponent_bits + fraction_bits), -number
        rounding = UP if rounding == DOWN else DOWN if rounding == UP else rounding
    if number == 0:
        return sign
    if math.isinf(number):
        return sign | np.int64(infinity - 1 if finite else infinity)
    mantissa, exponent = math.frexp(number)  # number = mantissa * 2 ** exponent, mantissa from 0.5 to 1
    lowest = max(exponent - 1, 1 - bias) - fraction_bits  # exponent of the last bit
    significand = np.int64(rounded(scaled(number, -lowest), rounding))
    bits = significand + (np.int64(max(exponent - 1, 1 - bias) + bias - 1) << fraction_bits)
    if bits >= infinity:
        bits = np.int64(infinity - 1 if finite or rounding == ZERO or rounding == DOWN else infinity)
    return sign | bits


@called
def _e4m3_bits(number, rounding):
    """OCP's FP8 E4M3: no infinities, 448 is the largest; what is larger becomes it."""
    if number != number:
        return np.int64(0x7F)
    sign = np.int64(0)
    if math.copysign(1.0, number) < 0:
        sign, number = np.int64(0x80), -number
    if number >= 464.0 or math.isinf(number):
        return sign | 0x7E
    if number == 0:
        return sign
    _mantissa, exponent = math.frexp(number)
    lowest = max(exponent - 1, -6) - 3
    significand = np.int64(rounded(scaled(number, -lowest), rounding))
    return sign | min(significand + (np.int64(max(exponent - 1, -6) + 6) << 3), np.int64(0x7E))
