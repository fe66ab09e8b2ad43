"""Matrix products of a warp (mma) and of a warp's part of a warpgroup (wgmma), with their values.

Fragments as PTX ISA 9.0 has them, sections 9.7.14 and 9.7.15. With g = lane / 4 and t = lane % 4 and E elements in a
32-bit register, register i of the left matrix holds row g + 8 (i % 2) and the columns from 4 E (i / 2) + E t on;
register i of the right one column g and the rows from 4 E i + E t on; element i of the sum row g + 8 (i / 2 % 2) and
column 8 (i / 4) + 2 t + i % 2.

Floating-point sums are those of tensor cores: products and the number that they are added to are cut off at one place,
so many bits below the largest exponent among them, summed, and rounded once, to zero for a sum in single precision
(Xie et al., *MMA-Sim*, arXiv 2511.10909; Khattak and Mikaitis, *Accurate Models of NVIDIA Tensor Cores*, arXiv
2512.07004). Products in double precision are added one after another.
"""

from __future__ import annotations

import math

import numpy as np

from memsim.jit.compiled import called, inlined
from memsim.sources.ptx.machine.access import read
from memsim.sources.ptx.machine.codes import COUNT, LANES, LIST, MASK, A, B, C, Type, X, Y
from memsim.sources.ptx.machine.fused import fused
from memsim.sources.ptx.machine.numbers import NEAREST, small_number, to_bits, to_number

F16, F32, F64, SIGNED, E4M3, E5M2 = (
    int(one) for one in (Type.f16, Type.f32, Type.f64, Type.signed, Type.e4m3, Type.e5m2)
)
MOST_COLUMNS, MOST_DEPTH, ROWS = 256, 256, 16
_EXPONENT = np.int64(0x7FF) << np.int64(52)  # bits of it in double precision
_OF_ZERO = 2.0**-1000
_SHORT = 13  # bits below the largest exponent with which a sum in single precision keeps no more than these, too


@inlined
def element(cell, single, double, word, number, bits, kind):
    """Element ``number`` of a register as a number."""
    part = word if bits == 64 else (word >> (number * bits)) & ((np.int64(1) << bits) - 1)
    if kind == SIGNED:
        part = (part << (64 - bits)) >> (64 - bits)
    if kind == F16:  # this and the next are the commonest: without a call
        return small_number(cell, double, part, np.int64(5), np.int64(10), True)
    if kind == F32:
        cell[0] = part
        return np.float64(single[0])
    return to_number(cell, single, double, part, kind)


@called
def multiply(registers, row, lists, cell, single, double, left, right, total):
    """mma.sync: d = a * b + c, of the whole warp.

    LIST holds the registers of d, a, b and c one after another, COUNT their numbers in bytes. X packs n and k, the bits
    of an element, and how sums are cut off (:func:`_products`), Y the types of a, b, c and d; A says whether whole
    numbers saturate. ``left`` is f8 [32, 256], ``right`` f8 [512, 256], ``total`` f8 [18, 256].
    """
    n, depth, bits = row[X] & 0xFFFF, (row[X] >> 16) & 0xFFFF, (row[X] >> 32) & 255
    n_d, n_a, n_b, n_c = row[COUNT] & 255, (row[COUNT] >> 8) & 255, (row[COUNT] >> 16) & 255, row[COUNT] >> 24
    of_d = row[LIST]
    of_a = of_d + n_d
    of_b, of_c = of_a + n_a, of_a + n_a + n_b
    kind_a, kind_b, kind_c, kind_d = row[Y] & 255, (row[Y] >> 8) & 255, (row[Y] >> 16) & 255, row[Y] >> 24
    per = max(32 // bits, 1)
    for lane in range(LANES):
        g, t = lane >> 2, lane & 3
        for i in range(n_a):
            word = registers[lists[of_a + i], lane]
            for j in range(per):
                at = (i >> 1) * 4 * per + t * per + j
                left[g + 8 * (i & 1), at] = element(cell, single, double, word, j, bits, kind_a)
        for i in range(n_b):
            word = registers[lists[of_b + i], lane]
            for j in range(per):
                right[i * 4 * per + t * per + j, g] = element(cell, single, double, word, j, bits, kind_b)
    _sums(registers, lists, of_c, n_c, kind_c, cell, single, double, total, n, True)
    _products(left, right, total, n, depth, row[X] >> 40, row[Y], cell, single, double)
    if row[A]:
        _saturate(total, n)
    _results(registers, lists, of_d, n_d, kind_d, cell, single, double, total)


@called
def _sums(registers, lists, first, count, kind, cell, single, double, total, n, given):
    """Read what is added to: halves in pairs, all else one per register."""
    halves = kind == F16
    for lane in range(LANES):
        g, t = lane >> 2, lane & 3
        for k in range(count * (2 if halves else 1)):
            word = registers[lists[first + (k >> 1 if halves else k)], lane] if given else np.int64(0)
            bits = 16 if halves else 64 if kind == F64 else 32
            number = element(cell, single, double, word, k & 1 if halves else 0, bits, kind)
            total[g + 8 * ((k >> 1) & 1), 8 * (k >> 2) + 2 * t + (k & 1)] = number


@called
def _products(left, right, total, n, depth, cut, kinds, cell, single, double):
    """Add products.

    Args:
        cut: bits below the largest exponent, where sums are cut off, and from its bit 8 on how many products are summed
            at once; 0: sums are exact, but for those in double precision.
        kinds: the types of a, b, c and d, a byte each.
    """
    if cut == 0:
        for i in range(ROWS):
            for k in range(depth):
                factor = left[i, k]
                for j in range(n):
                    total[i, j] = fused(factor, right[k, j], total[i, j])
        return
    _powers(left, ROWS, ROWS, depth, _least(kinds & 255))
    _powers(right, depth, MOST_DEPTH, n, _least((kinds >> 8) & 255))
    for i in range(ROWS):
        for first in range(0, depth, cut >> 8):
            _cut_sums(left, right, total, i, first, first + (cut >> 8), n, _least((kinds >> 16) & 255), cut & 255)
            if kinds >> 24 == F16:
                for j in range(n):
                    word = to_bits(cell, single, double, total[i, j], F16, NEAREST, np.int64(0))
                    total[i, j] = to_number(cell, single, double, word, F16)
            else:
                _cut_to_single(total[i], n, _SHORT if cut & 255 == _SHORT else 23)


@inlined
def _least(kind):
    """The power of two of a type's subnormal numbers."""
    return 2.0**-14 if kind == F16 or kind == E5M2 else 2.0**-6 if kind == E4M3 else 2.0**-126


@called
def _powers(numbers, count, away, columns, least):
    """Of the first ``count`` rows, so many rows ``away``, the powers of two that exponents stand for.

    That of zero is below all that count; that of an infinite number and of NaN is infinite.
    """
    bits = numbers.view(np.int64)
    for k in range(count):
        for j in range(columns):
            bits[away + k, j] = bits[k, j] & _EXPONENT
        for j in range(columns):
            power = max(numbers[away + k, j], least)
            numbers[away + k, j] = _OF_ZERO if numbers[k, j] == 0.0 else power


@inlined
def _cut_sums(left, right, total, i, first, last, n, least, bits):
    """Add products to a row of sums, each cut off at so many bits below the largest power of two among them.

    That is 2**-126 at least, and a sum of zeros has no sign (both seen on an H100). All sums of the row together: the
    compiler makes vector instructions of these loops.
    """
    sums, largest, units = total[i], total[ROWS], total[ROWS + 1].view(np.int64)
    value_bits, power_bits, least = sums.view(np.int64), largest.view(np.int64), max(least, 2.0**-126)
    for j in range(n):
        power_bits[j] = value_bits[j] & _EXPONENT
    for j in range(n):
        at_least = 2.0**-126 if sums[j] == 0.0 else least
        largest[j] = largest[j] if largest[j] > at_least else at_least
    for k in range(first, last):
        power, powers = left[ROWS + i, k], right[MOST_DEPTH + k]
        for j in range(n):
            of_product = power * powers[j]
            largest[j] = of_product if of_product > largest[j] else largest[j]
    for j in range(n):
        if largest[j] == math.inf:  # the sum of what is not finite
            for k in range(first, last):
                sums[j] += left[i, k] * right[k, j]
        largest[j] = np.float64(np.int64(1) << bits) / largest[j]  # from here on how many units 1 is, or 0
        units[j] = np.int64(sums[j] * largest[j])
    for k in range(first, last):
        factor, row = left[i, k], right[k]
        for j in range(n):
            units[j] += np.int64(factor * row[j] * largest[j])
    for j in range(n):
        sums[j] = np.float64(units[j]) / largest[j] if largest[j] > 0.0 else sums[j]


@inlined
def _cut_to_single(sums, n, fraction_bits):
    """Round sums to single precision to zero, or to no more than so many bits behind the first."""
    bits, kept = sums.view(np.int64), -(np.int64(1) << (52 - fraction_bits))
    unit = 2.0**126 * np.float64(np.int64(1) << fraction_bits)
    for j in range(n):
        size = abs(sums[j])
        if size < 2.0**-126:  # of subnormal numbers the last bit stands still
            sums[j] = math.copysign(np.float64(np.int64(size * unit)) / unit, sums[j])
        elif size < 2.0**128:
            bits[j] &= kept
        else:
            sums[j] *= math.inf


@called
def _saturate(total, n):
    for i in range(ROWS):
        for j in range(n):
            total[i, j] = min(max(total[i, j], -(2.0**31)), 2.0**31 - 1.0)


@called
def _results(registers, lists, first, count, kind, cell, single, double, total):
    halves = kind == F16
    for lane in range(LANES):
        g, t = lane >> 2, lane & 3
        for i in range(count):
            value = np.int64(0)
            for half in range(2 if halves else 1):
                k = 2 * i + half if halves else i
                number = total[g + 8 * ((k >> 1) & 1), 8 * (k >> 2) + 2 * t + (k & 1)]
                if kind == SIGNED:
                    value = np.int64(number) & 0xFFFFFFFF
                elif kind == F32:
                    cell[0] = 0
                    single[0] = np.float32(number)
                    value = cell[0] if number == number else np.int64(0x7FFFFFFF)
                else:
                    value |= to_bits(cell, single, double, number, kind, np.int64(NEAREST), np.int64(0)) << (16 * half)
            registers[lists[first + i], lane] = value


@called
def multiply_shared(m, registers, row, shared, limit, warp, scaled):
    """wgmma.mma_async: a warp's 16 rows of d = a * b + d; b, and a without registers, by descriptors of shared memory.

    As `multiply`; n_b is 0, A and B are the rows of the descriptors, C is 1 with a in registers, MASK says whether a
    and b are transposed (bits 0 and 1) and the signs of a and b (bits 2 and 3); SHIFT is 0 where d is overwritten.

    Args:
        shared, limit: the host's address of the block's shared memory, and its bytes.
        warp: in its group of four.
        scaled: whether d is added to.

    Returns:
        Whether all of the matrices lay in shared memory.
    """
    lists, cell, single, double = m.lists, m.cell, m.single, m.double
    left, right, total = m.left_matrix, m.right_matrix, m.sums
    n, depth, bits = row[X] & 0xFFFF, (row[X] >> 16) & 0xFFFF, (row[X] >> 32) & 255
    n_d, n_a = row[COUNT] & 255, (row[COUNT] >> 8) & 255
    kind_a, kind_b, kind_d = row[Y] & 255, (row[Y] >> 8) & 255, row[Y] >> 24
    per, width = 32 // bits, bits // 8
    sign_a, sign_b = 1.0 - 2.0 * ((row[MASK] >> 2) & 1), 1.0 - 2.0 * ((row[MASK] >> 3) & 1)
    if row[C]:
        for lane in range(LANES):
            for i in range(n_a):
                word = registers[lists[row[LIST] + n_d + i], lane]
                for j in range(per):
                    at = (i >> 1) * 4 * per + (lane & 3) * per + j
                    left[(lane >> 2) + 8 * (i & 1), at] = sign_a * element(cell, single, double, word, j, bits, kind_a)
    else:
        descriptor = registers[row[A], 0]
        for i in range(ROWS):
            for k in range(depth):
                at = _element_address(descriptor, 16 * warp + i, k, width, row[MASK] & 1)
                if at + width > limit:
                    return False
                left[i, k] = sign_a * _shared_element(m, shared + at, width, kind_a, cell, single, double)
    descriptor = registers[row[B], 0]
    for j in range(n):
        for k in range(depth):
            at = _element_address(descriptor, j, k, width, (row[MASK] >> 1) & 1)
            if at + width > limit:
                return False
            right[k, j] = sign_b * _shared_element(m, shared + at, width, kind_b, cell, single, double)
    _sums(registers, lists, row[LIST], n_d, kind_d, cell, single, double, total, n, scaled)
    _products(left, right, total, n, depth, row[X] >> 40, row[Y], cell, single, double)
    _results(registers, lists, row[LIST], n_d, kind_d, cell, single, double, total)
    return True


@called
def _shared_element(m, at, width, kind, cell, single, double):
    word = read(m, at, np.int64(width))
    if kind == SIGNED:
        word = (word << (64 - 8 * width)) >> (64 - 8 * width)
    return to_number(cell, single, double, word, kind)


@called
def _element_address(descriptor, i, k, width, transposed):
    """Where element (i, k) of a matrix lies in shared memory (PTX ISA 9.0, 9.7.15.5.1: matrix descriptors, swizzling).

    ``i`` counts rows of a or columns of b, ``k`` the depth; not transposed, k is contiguous.
    """
    start = (descriptor & 0x3FFF) << 4
    leading, stride = ((descriptor >> 16) & 0x3FFF) << 4, ((descriptor >> 32) & 0x3FFF) << 4
    mode = (descriptor >> 62) & 3
    line = 16 if mode == 0 else 256 >> mode  # bytes of a line of the pattern
    along, other = (i, k) if transposed else (k, i)
    inner = along * width
    if mode == 0:
        at = start + (inner // 16) * leading + (other >> 3) * stride + (other & 7) * 16 + inner % 16
        if transposed:
            at = start + (inner // 16) * stride + (other >> 3) * leading + (other & 7) * 16 + inner % 16
        return at
    at = start + (inner // line) * leading + (other >> 3) * stride + (other & 7) * line + inner % line
    return swizzled(at, mode)


@called
def swizzled(at, mode):
    """An address in shared memory under a swizzle of 128, 64 or 32 bytes (1, 2, 3).

    Its 16-byte chunks change places.
    """
    chunks = (8 >> (mode - 1)) - 1
    return at ^ (((at >> 7) & chunks) << 4)
