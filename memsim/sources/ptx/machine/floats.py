"""Floating-point operations of a whole warp, lane by lane, in float64; packed types half after half."""

from __future__ import annotations

import math

import numpy as np

from memsim.jit.compiled import called, inlined
from memsim.sources.ptx.machine.codes import COUNT, LIST, MASK, SHIFT, A, B, C, Float, Type, X, Y
from memsim.sources.ptx.machine.fused import (
    directed,
    directed_quotient,
    directed_root,
    fused,
    fused_single,
    odd_sum,
    signed_zero,
)
from memsim.sources.ptx.machine.numbers import FLUSH, NEAREST, RELU, SATURATE, ZERO, rounded, to_bits, to_number

(ADD, SUBTRACT, MULTIPLY, FMA, DIVIDE, MINIMUM, MAXIMUM, NEGATE, ABSOLUTE, ROOT, RECIPROCAL, RECIPROCAL_ROOT,
 EXPONENTIAL, LOGARITHM, SINE, COSINE, TANGENT, COPY_SIGN, TEST, COMPARE, SET, COPY, SINE_OF_TURNS,
 COSINE_OF_TURNS) = (int(one) for one in Float)  # fmt: skip
F16, BF16, F16X2, BF16X2, F32X2, F32, F64, UNSIGNED, SIGNED = (
    int(one)
    for one in (
        Type.f16, Type.bf16, Type.f16x2, Type.bf16x2, Type.f32x2, Type.f32, Type.f64, Type.unsigned, Type.signed
    )
)  # fmt: skip
# Comparisons: ordered ones are false for NaN, those from UNORDERED on are true.
EQ, NE, LT, LE, GT, GE = range(6)
UNORDERED, IS_NUMBER, IS_NAN = 8, 16, 17
TWO_PI = 2 * math.pi
INVALID = -math.nan  # a constant of its own: LLVM computes one without a sign
KEEP_NAN, SIGN_OF_BOTH = 16, 64  # flags in addition to those of `numbers`: min.NaN, min.xorsign.abs
SMALLEST_NORMAL, SMALLEST_HALF, SMALLEST_DOUBLE = 2.0**-126, 2.0**-14, 2.0**-1022


def special_rounding(what: Float, kind: Type) -> int:
    """How the hardware's approximations round that :func:`_special` describes."""
    is_half = kind in (Type.f16, Type.bf16, Type.f16x2, Type.bf16x2)
    return ZERO if is_half or what == Float.logarithm else NEAREST


@called
def operate(registers, row, predicates, target, cell, single, double, n):
    """One operation; results that are values go to ``target``, i8 [n]; returns the bits of one that is a predicate.

    X is the type, Y the operation, SHIFT how to round, MASK flags, LIST which comparison or test.
    """
    a, b, c = registers[row[A]], registers[row[B]], registers[row[C]]
    kind, what, rounding, flags = row[X], row[Y], row[SHIFT], row[MASK]
    if rounding == NEAREST and flags & (SATURATE | RELU) == 0 and what != SET and what != TEST:
        if kind == F32:
            if what == COMPARE:
                return compare_singles(a, b, row[LIST], flags, n)
            operate_on_singles(what, a, b, c, target, flags, n)
            return np.int64(0)
        if kind == F64:
            if what == COMPARE:
                return compare_doubles(a, b, row[LIST], n)
            operate_on_doubles(what, a, b, c, target, flags, n)
            return np.int64(0)
    bits = np.int64(0)
    halves, width, element = 1, np.int64(0), kind
    if kind == F16X2 or kind == BF16X2:
        halves, width, element = 2, np.int64(16), np.int64(F16 if kind == F16X2 else BF16)
    elif kind == F32X2:
        halves, width, element = 2, np.int64(32), np.int64(F32)
    cut = (np.int64(1) << width) - 1 if width else np.int64(-1)
    limit = 0.0
    if flags & FLUSH and (element == F32 or element == F16):
        limit = SMALLEST_NORMAL if element == F32 else SMALLEST_HALF
    for lane in range(n):
        result = np.int64(0)
        for half in range(halves):
            shift = half * width
            x = _flushed(to_number(cell, single, double, (a[lane] >> shift) & cut, element), limit)
            y = _flushed(to_number(cell, single, double, (b[lane] >> shift) & cut, element), limit)
            if what == COMPARE or what == SET or what == TEST:
                true = tested(row[LIST], x, kind) if what == TEST else compared(row[LIST], x, y)
                bits |= np.int64(true) << lane
                continue
            z = 0.0
            if what == FMA:
                z = _flushed(to_number(cell, single, double, (c[lane] >> shift) & cut, element), limit)
            if what == FMA and kind != F64:
                number = signed_zero(odd_sum(x * y, z, cell, double), x * y, z, rounding)
            elif kind == F64 and rounding != NEAREST:
                number = _kept_nan(what, x, y, z, _directed(what, x, y, z, rounding, flags))
            elif what <= SUBTRACT and kind != F64:
                added = y if what == ADD else -y
                number = signed_zero(odd_sum(x, added, cell, double), x, added, rounding)
            elif what == EXPONENTIAL and element != F32:
                number = _half_power(x, element)
            else:
                number = calculated(what, x, y, z, flags)
            bits_of_one = to_bits(cell, single, double, number, element, rounding, flags) & cut
            if limit > 0 and element == F16 and bits_of_one & 0x7C00 == 0:
                bits_of_one &= 0x8000
            result |= bits_of_one << shift
        target[lane] = result
    return bits


@inlined
def _half_power(x, element):
    """MUFU.EX2 of a half, before it is cut off: of 23 bits of the exponent's fraction."""
    number = _special(EXPONENTIAL, math.trunc(x * 2.0**23) / 2.0**23 if abs(x) < 1.0 else x)
    return math.inf if number >= (2.0**16 if element == F16 else 2.0**128) else number


@inlined
def _flushed(number, limit):
    """A number, or a zero of its sign where it is smaller than the limit, which is 0 where nothing is flushed."""
    return number * 0.0 if abs(number) < limit else number


@inlined
def _directed(what, x, y, z, rounding, flags):
    """An operation in double precision that is not rounded to nearest."""
    if what == ADD:
        return directed(x, 1.0, y, rounding)
    if what == SUBTRACT:
        return directed(x, 1.0, y if y != y else -y, rounding)
    if what == MULTIPLY:
        return directed(x, y, math.copysign(0.0, x * y), rounding)
    if what == FMA:
        return directed(x, y, z, rounding)
    if what == DIVIDE:
        return directed_quotient(x, y, rounding)
    if what == RECIPROCAL:
        return directed_quotient(1.0, x, rounding)
    if what == ROOT:
        return directed_root(x, rounding) if x > 0 else calculated(what, x, y, z, flags)
    return calculated(what, x, y, z, flags)


@inlined
def calculated(what, x, y, z, flags):
    if what == ADD:
        return x + y
    if what == SUBTRACT:
        return x - y
    if what == MULTIPLY:
        return x * y
    if what == FMA:
        return fused(x, y, z)
    if what == DIVIDE:
        return x / y
    if what == MINIMUM or what == MAXIMUM:
        if flags & SIGN_OF_BOTH:
            size = _extreme(what, abs(x), abs(y), flags)
            return -size if (math.copysign(1.0, x) < 0) != (math.copysign(1.0, y) < 0) else size
        return _extreme(what, x, y, flags)
    if what == NEGATE:
        return x if x != x else -x
    if what == ABSOLUTE:
        return x if x != x else abs(x)
    if what == COPY_SIGN:
        return math.copysign(y, x)
    if what == COPY:
        return x
    return _special(what, x)


@inlined
def _extreme(what, x, y, flags):
    """PTX ISA, min and max: a NaN loses, but for .NaN; -0 is less than 0."""
    if x != x or y != y:
        if flags & KEEP_NAN or (x != x and y != y):
            return math.nan
        return y if x != x else x
    if x == y:
        negative = math.copysign(1.0, x) < 0
        return x if negative == (what == MINIMUM) else y
    return x if (x < y) == (what == MINIMUM) else y


@inlined
def _invalid(x):
    """Of an operand without a result: a NaN stays; others leave one with a sign, which double precision alone keeps."""
    return x if x != x else INVALID


@inlined
def _special(what, x):
    if what == ROOT:
        return math.sqrt(x) if x >= 0 else _invalid(x)
    if what == RECIPROCAL:
        return 1.0 / x
    if what == RECIPROCAL_ROOT:
        if x == 0:
            return math.copysign(math.inf, x)
        return 1.0 / math.sqrt(x) if x > 0 else _invalid(x)
    if what == EXPONENTIAL:
        return 2.0**x if x < 2000.0 or x != x else math.inf
    if what == LOGARITHM:
        if x > 0:
            return math.log2(x)
        return -math.inf if x == 0 else math.nan
    if math.isinf(x) and what != TANGENT:
        return math.nan
    if what == SINE:
        return math.sin(x)
    if what == COSINE:
        return math.cos(x)
    if what == SINE_OF_TURNS or what == COSINE_OF_TURNS:
        if x == x:  # MUFU takes 25 bits of a turn
            x = math.trunc(x * 2.0**25) / 2.0**25 if abs(x) < 2.0**30 else 0.0
        return math.sin(TWO_PI * x) if what == SINE_OF_TURNS else math.cos(TWO_PI * x)
    return x if abs(x) < 2.0**-8 else math.tanh(x)


@inlined
def compared(how, x, y):
    if how == IS_NUMBER:
        return x == x and y == y
    if how == IS_NAN:
        return x != x or y != y
    if x != x or y != y:
        return how >= UNORDERED
    how &= UNORDERED - 1
    if how == EQ:
        return x == y
    if how == NE:
        return x != y
    if how == LT:
        return x < y
    if how == LE:
        return x <= y
    if how == GT:
        return x > y
    return x >= y


@called
def operate_on_singles(what, a, b, c, target, flags, n):
    """Operations of single precision, rounded to nearest: the low words of the lanes' registers."""
    x, y, z, found = a.view(np.float32), b.view(np.float32), c.view(np.float32), target.view(np.float32)
    limit = np.float32(SMALLEST_NORMAL if flags & FLUSH else 0.0)
    if what == FMA:
        for lane in range(n):
            left, right, added = _input(x[2 * lane], limit), _input(y[2 * lane], limit), _input(z[2 * lane], limit)
            found[2 * lane] = fused_single(left, right, added)
    elif what == ADD:
        for lane in range(n):
            left, right = _input(x[2 * lane], limit), _input(y[2 * lane], limit)
            found[2 * lane] = np.float32(np.float64(left) + np.float64(right))
    elif what == SUBTRACT:
        for lane in range(n):
            left, right = _input(x[2 * lane], limit), _input(y[2 * lane], limit)
            found[2 * lane] = np.float32(np.float64(left) - np.float64(right))
    elif what == MULTIPLY:
        for lane in range(n):
            left, right = _input(x[2 * lane], limit), _input(y[2 * lane], limit)
            found[2 * lane] = np.float32(np.float64(left) * np.float64(right))
    else:
        for lane in range(n):
            wide_left, wide_right = np.float64(_input(x[2 * lane], limit)), np.float64(_input(y[2 * lane], limit))
            found[2 * lane] = np.float32(calculated(what, wide_left, wide_right, 0.0, flags))
    for lane in range(n):
        number = found[2 * lane]
        bits = target[lane] & 0xFFFFFFFF
        if abs(number) < limit:
            bits &= 0x80000000
        target[lane] = bits if number == number else 0x7FFFFFFF


@inlined
def _input(number, limit):
    """As _flushed, in single precision."""
    return number * np.float32(0.0) if abs(number) < limit else number


@called
def operate_on_doubles(what, a, b, c, target, flags, n):
    """Operations of double precision, rounded to nearest."""
    x, y, z, found = a.view(np.float64), b.view(np.float64), c.view(np.float64), target.view(np.float64)
    if what == FMA:
        for lane in range(n):
            found[lane] = fused(x[lane], y[lane], z[lane])
    elif what == ADD:
        for lane in range(n):
            found[lane] = x[lane] + y[lane]
    elif what == MULTIPLY:
        for lane in range(n):
            found[lane] = x[lane] * y[lane]
    else:
        for lane in range(n):
            found[lane] = calculated(what, x[lane], y[lane], 0.0, flags)
    for lane in range(n):
        if found[lane] != found[lane]:
            found[lane] = _kept_nan(what, x[lane], y[lane], z[lane], found[lane])


@called
def _kept_nan(what, x, y, z, number):
    """A result in double precision: of NaN the second operand or another that is (seen on H100), quiet."""
    if number == number or what > FMA:
        return number
    if y != y:
        return y + y
    if what == FMA and z != z:
        return z + z
    return x + x if x != x else number


@called
def compare_singles(a, b, how, flags, n):
    """The lanes for which a comparison of single precision holds."""
    x, y, bits = a.view(np.float32), b.view(np.float32), np.int64(0)
    limit = np.float32(SMALLEST_NORMAL if flags & FLUSH else 0.0)
    for lane in range(n):
        left, right = np.float64(_input(x[2 * lane], limit)), np.float64(_input(y[2 * lane], limit))
        bits |= np.int64(compared(how, left, right)) << lane
    return bits


@called
def compare_doubles(a, b, how, n):
    """The lanes for which a comparison of double precision holds."""
    x, y, bits = a.view(np.float64), b.view(np.float64), np.int64(0)
    for lane in range(n):
        bits |= np.int64(compared(how, x[lane], y[lane])) << lane
    return bits


FINITE, INFINITE, NUMBER, NOT_A_NUMBER, NORMAL, SUBNORMAL = range(6)


@inlined
def tested(what, x, kind):
    """PTX ISA, testp; zeros are normal numbers."""
    if what == FINITE:
        return not (math.isinf(x) or x != x)
    if what == INFINITE:
        return math.isinf(x)
    if what == NUMBER:
        return x == x
    if what == NOT_A_NUMBER:
        return x != x
    small = x != 0 and abs(x) < (SMALLEST_DOUBLE if kind == F64 else SMALLEST_NORMAL)
    return small if what == SUBNORMAL else not small and x == x and not math.isinf(x)


@called
def convert(registers, row, target, cell, single, double, n):
    """cvt: X and Y are the types of result and operand, SHIFT how to round, MASK flags, LIST the width of an integer.

    COUNT is 1 for a result of two halves (A is the upper, B the lower), 2 for both halves of A.
    """
    to, of, rounding, flags = row[X], row[Y], row[SHIFT], row[MASK]
    a, b = registers[row[A]], registers[row[B]]
    out_bits, in_bits = row[LIST] & 255, row[LIST] >> 8
    for lane in range(n):
        if row[COUNT] == 0:
            target[lane] = _converted(a[lane], to, of, rounding, flags, out_bits, in_bits, cell, single, double)
            continue
        cut = (np.int64(1) << in_bits) - 1
        upper, lower = (a[lane], b[lane]) if row[COUNT] == 1 else ((a[lane] >> in_bits) & cut, a[lane] & cut)
        high = _converted(upper, to, of, rounding, flags, out_bits, in_bits, cell, single, double)
        low = _converted(lower, to, of, rounding, flags, out_bits, in_bits, cell, single, double)
        target[lane] = (high << out_bits) | low


@inlined
def _converted(bits, to, of, rounding, flags, out_bits, in_bits, cell, single, double):
    if of == SIGNED:
        bits = (bits << (64 - in_bits)) >> (64 - in_bits)
    if of == SIGNED or of == UNSIGNED:
        return to_bits(cell, single, double, whole_number(bits, of, to, rounding), to, rounding, flags)
    number = to_number(cell, single, double, bits, of)
    if of == F64 and number != number and to != F64 and flags & SATURATE == 0:
        return nan_of_double(bits, to, out_bits)
    if flags & FLUSH and of == F32:
        number = _flushed(number, SMALLEST_NORMAL)
    if to != UNSIGNED and to != SIGNED:
        if flags & TO_INTEGER:
            number = rounded(number, rounding) if abs(number) < 2.0**60 else number
            rounding = np.int64(NEAREST)
        return to_bits(cell, single, double, number, to, rounding, flags)
    return integer_bits(number, to == SIGNED, rounding, out_bits)


@inlined
def whole_number(bits, kind, to, rounding):
    """An integer as a number that rounds once: in double precision as asked, for narrower types to odd beyond 53 bits.

    See :func:`odd_sum`.
    """
    if to != F64:
        if (bits < -(1 << 53) or bits >= (1 << 53) or kind == UNSIGNED and bits < 0) and bits & 0x7FF:
            bits = (bits & ~np.int64(0x7FF)) | np.int64(0x800)
        return np.float64(np.uint64(bits)) if kind == UNSIGNED and bits < 0 else np.float64(bits)
    low, high = np.float64(bits & 0xFFFFFFFF), bits >> 32
    if kind == UNSIGNED:
        high &= 0xFFFFFFFF
    upper = np.float64(high) * 2.0**32
    return upper + low if rounding == NEAREST else directed(upper, 1.0, low, rounding)


@inlined
def nan_of_double(bits, to, width):
    """What a NaN in double precision becomes: a quiet one with its upper bits; of integers the one with one bit set."""
    sign = np.int64(1) << (width - 1)
    if to == UNSIGNED or to == SIGNED:
        return sign
    fraction_bits = 23 if to == F32 else 10 if to == F16 else 7
    fraction = ((bits >> (52 - fraction_bits)) & ((1 << fraction_bits) - 1)) | 1 << (fraction_bits - 1)
    return (sign if bits < 0 else 0) | (sign - (1 << fraction_bits)) | fraction


TO_INTEGER = 32  # a flag: .rni and the like from a floating-point type to one


@inlined
def integer_bits(number, signed, rounding, width):
    """A number as an integer of so many bits; what is out of range becomes the nearest that is in it, NaN 0."""
    if number != number:
        return np.int64(0) if width < 64 else np.int64(-(1 << 63))
    number = rounded(number, rounding) if abs(number) < 2.0**60 else number
    if signed:
        most = 2.0 ** (width - 1)
        if number >= most:
            return np.int64((np.uint64(1) << np.uint64(width - 1)) - np.uint64(1))
        value = np.int64(-most) if number <= -most else np.int64(number)
        return value if width == 64 else value & ((np.int64(1) << width) - 1)
    if number <= 0:
        return np.int64(0)
    if number >= 2.0**width:
        return np.int64(-1) if width == 64 else (np.int64(1) << width) - 1
    if number >= 2.0**63:
        return np.int64(np.uint64(number - 2.0**63)) | np.int64(-(1 << 63))
    return np.int64(number)
