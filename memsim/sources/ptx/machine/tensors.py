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
from memsim.sources.ptx.machine.numbers import NEAREST, ZERO, to_bits, to_number

F16, F32, F64, SIGNED, E4M3, E5M2 = (
    int(one) for one in (Type.f16, Type.f32, Type.f64, Type.signed, Type.e4m3, Type.e5m2)
)
MOST_COLUMNS, MOST_DEPTH, ROWS = 256, 256, 16
_SHORT = 13  # bits below the largest exponent with which a sum in single precision keeps no more than these, too


@called
def element(cell, single, double, word, number, bits, kind):
    """Element ``number`` of a register as a number."""
    part = word if bits == 64 else (word >> (number * bits)) & ((np.int64(1) << bits) - 1)
    if kind == SIGNED:
        part = (part << (64 - bits)) >> (64 - bits)
    return to_number(cell, single, double, part, kind)


@called
def multiply(registers, row, lists, cell, single, double, left, right, total):
    """mma.sync: d = a * b + c, of the whole warp.

    LIST holds the registers of d, a, b and c one after another, COUNT their numbers in bytes. X packs n and k, the bits
    of an element, and how sums are cut off (:func:`_products`), Y the types of a, b, c and d; A says whether whole
    numbers saturate. ``left`` is f8 [32, 256], ``right`` f8 [512, 256], ``total`` f8 [16, 256].
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
    kind_d = kinds >> 24
    least_a, least_b, least_c = _least(kinds & 255), _least((kinds >> 8) & 255), _least((kinds >> 16) & 255)
    for k in range(depth):
        for i in range(ROWS):
            left[ROWS + i, k] = _power(left[i, k], least_a, cell, double)
        for j in range(n):
            right[MOST_DEPTH + k, j] = _power(right[k, j], least_b, cell, double)
    for i in range(ROWS):
        for j in range(n):
            value = total[i, j]
            for first in range(0, depth, cut >> 8):
                last = first + (cut >> 8)
                value = _cut_sum(left, right, i, j, first, last, value, least_c, cut & 255, cell, double)
                value = _rounded(value, kind_d, cut & 255, cell, single, double)
            total[i, j] = value


@inlined
def _least(kind):
    """The power of two of a type's subnormal numbers."""
    return 2.0**-14 if kind == F16 or kind == E5M2 else 2.0**-6 if kind == E4M3 else 2.0**-126


@inlined
def _power(number, least, cell, double):
    """The power of two that a number's exponent stands for; 0 of zero."""
    double[0] = number
    cell[0] &= np.int64(0x7FF) << 52
    return 0.0 if number == 0 else max(double[0], least)


@called
def _cut_sum(left, right, i, j, first, last, value, least, bits, cell, double):
    """A sum of products and a value, each cut off at so many bits below the largest power of two among them.

    That is 2**-126 at least, and a sum of zeros has no sign (both seen on an H100).
    """
    largest, exact = max(_power(value, least, cell, double), 2.0**-126), value
    for k in range(first, last):
        exact += left[i, k] * right[k, j]
        largest = max(largest, left[ROWS + i, k] * right[MOST_DEPTH + k, j])
    if not math.isfinite(exact):
        return exact
    unit = np.float64(np.int64(1) << bits) / largest
    whole = np.int64(value * unit)
    for k in range(first, last):
        whole += np.int64(left[i, k] * right[k, j] * unit)
    return np.float64(whole) / unit


@called
def _rounded(value, kind, bits, cell, single, double):
    """A sum in the type of the result: halves to nearest, single precision to zero, and cut off with few bits."""
    if kind == F16:
        return to_number(cell, single, double, to_bits(cell, single, double, value, F16, NEAREST, np.int64(0)), F16)
    if abs(value) >= 2.0**128 or value != value:
        return value * math.inf
    word = to_bits(cell, single, double, value, F32, ZERO, np.int64(0))
    if bits == _SHORT:
        word &= -(np.int64(1) << (23 - _SHORT))
    return to_number(cell, single, double, word, F32)


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
