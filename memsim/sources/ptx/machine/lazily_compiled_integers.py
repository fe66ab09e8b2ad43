"""Integer operations that are rare, lane by lane."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import called, inlined
from memsim.sources.ptx.machine.codes import MASK, SHIFT, A, B, C, Integer, X, Y
from memsim.trace.bits import popcount

# fmt: off
(DIVIDE, DIVIDE_SIGNED, REMAINDER, REMAINDER_SIGNED, HIGH, HIGH_SIGNED, POPCOUNT, LEADING_ZEROS, REVERSE,
 FIND, FIND_SIGNED, FIND_SHIFT, FIND_SHIFT_SIGNED, EXTRACT, EXTRACT_SIGNED, INSERT, PERMUTE, FUNNEL_LEFT, FUNNEL_RIGHT,
 ABSOLUTE, DIFFERENCE, DIFFERENCE_SIGNED, SATURATED_ADD, SATURATED_SUBTRACT, DOT, DOT_TWO, FIND_NTH, PACKED_DIFFERENCE,
 MULTIPLY_24, MULTIPLY_24_SIGNED, BIT_MASK, PACKED_ADD, PACKED_MINIMUM, PACKED_MAXIMUM, PACKED_MINIMUM_SIGNED,
 PACKED_MAXIMUM_SIGNED) = map(int, Integer)
# fmt: on
WORD = 0xFFFFFFFF
NONE = WORD  # what bfind returns when no bit is found
HALF = 0xFFFF


@called
def operate(registers, row, target, n):
    """One of the rare operations; its results go to ``target``, i8 [n]."""
    a, b, c = registers[row[A]], registers[row[B]], registers[row[C]]
    what, mask, shift, x = row[Y], row[MASK], row[SHIFT], row[X]
    for i in range(n):
        target[i] = _one(what, a[i], b[i], c[i], mask, shift, x) & mask


@inlined
def _one(what, a, b, c, mask, shift, x):
    width = 64 - shift
    signed_a, signed_b = (a << shift) >> shift, (b << shift) >> shift
    if what <= REMAINDER_SIGNED:
        return _division(what, a, b, signed_a, signed_b)
    if what == HIGH or what == HIGH_SIGNED:
        return _high(a, b, what == HIGH_SIGNED)
    if what == POPCOUNT:
        return popcount(a & WORD) + popcount((a >> 32) & WORD)
    if what == LEADING_ZEROS:
        return width - 1 - _highest(a)
    if what == REVERSE:
        return _reversed(a, width)
    if FIND <= what <= FIND_SHIFT_SIGNED:
        value = a
        if (what == FIND_SIGNED or what == FIND_SHIFT_SIGNED) and signed_a < 0:
            value = ~signed_a  # of a type's width: its upper bits are none then
        found = _highest(value)
        if found < 0:
            return np.int64(NONE)
        return width - 1 - found if what == FIND_SHIFT or what == FIND_SHIFT_SIGNED else found
    if what == EXTRACT or what == EXTRACT_SIGNED:
        return _extracted(a, b & 255, c & 255, width, what == EXTRACT_SIGNED)
    if what == PERMUTE:
        return _permuted(a, b, c, x)
    if what == FUNNEL_LEFT or what == FUNNEL_RIGHT:
        return _funnel(a, b, min(c, 32) if x else c & 31, what == FUNNEL_LEFT)
    if what == ABSOLUTE:
        return abs(signed_a)
    if what == DIFFERENCE:
        return c + (a - b if np.uint64(a) > np.uint64(b) else b - a)
    if what == DIFFERENCE_SIGNED:
        return c + (signed_a - signed_b if signed_a > signed_b else signed_b - signed_a)
    if what == SATURATED_ADD or what == SATURATED_SUBTRACT:
        result = signed_a + signed_b if what == SATURATED_ADD else signed_a - signed_b
        return min(max(result, -(np.int64(1) << (width - 1))), (np.int64(1) << (width - 1)) - 1)
    if what == DOT:
        return _dot(a, b, c, x)
    if what == DOT_TWO:
        return _dot_two(a, b, c, x)
    if what == PACKED_DIFFERENCE:
        return _packed_difference(a, b, c, x)
    if what == FIND_NTH:
        return _nth_bit(a, b & WORD, (c << 32) >> 32)
    if what == MULTIPLY_24:
        return ((a & 0xFFFFFF) * (b & 0xFFFFFF)) >> x
    if what == MULTIPLY_24_SIGNED:
        return (((a << 40) >> 40) * ((b << 40) >> 40)) >> x
    if what == BIT_MASK:
        return ((np.int64(1) << min(b & WORD, 32)) - 1) << min(a & WORD, 32)
    return _packed(what, a, b)


@inlined
def _division(what, a, b, signed_a, signed_b):
    """Division by zero gives all ones, as the code does that ptxas makes of it; so does the remainder."""
    if b == 0:
        return np.int64(-1)
    if what == DIVIDE:
        return np.int64(np.uint64(a) // np.uint64(b))
    if what == REMAINDER:
        return np.int64(np.uint64(a) % np.uint64(b))
    if signed_b == -1:
        return -signed_a if what == DIVIDE_SIGNED else np.int64(0)
    size, by = abs(signed_a), abs(signed_b)
    if what == DIVIDE_SIGNED:
        quotient = np.int64(np.uint64(size) // np.uint64(by))
        return -quotient if (signed_a < 0) != (signed_b < 0) else quotient
    rest = np.int64(np.uint64(size) % np.uint64(by))
    return -rest if signed_a < 0 else rest


@inlined
def _high(a, b, signed):
    """The upper 64 bits of a product, by halves."""
    low, half = np.int64(0xFFFFFFFF), np.uint64(32)
    a0, a1 = a & low, np.int64(np.uint64(a) >> half)
    b0, b1 = b & low, np.int64(np.uint64(b) >> half)
    middle = a1 * b0 + np.int64(np.uint64(a0 * b0) >> half)
    other = a0 * b1 + (middle & low)
    result = a1 * b1 + np.int64(np.uint64(middle) >> half) + np.int64(np.uint64(other) >> half)
    if signed:
        result -= (b if a < 0 else 0) + (a if b < 0 else 0)
    return result


@inlined
def _highest(a):
    """Number of the highest bit that is set, -1 for none."""
    if a < 0:
        return 63
    found = -1
    while a != 0:
        a >>= 1
        found += 1
    return found


@inlined
def _reversed(a, width):
    result = np.int64(0)
    for _bit in range(width):
        result = (result << 1) | (a & 1)
        a >>= 1
    return result


@inlined
def _extracted(a, at, length, width, signed):
    """PTX ISA, bfe: bits beyond the width are copies of the sign, or 0."""
    if length == 0:
        return np.int64(0)
    shift = 64 - width
    value = (a << shift) >> shift if signed else a
    part = value >> min(at, 63) if signed else np.int64(np.uint64(value) >> np.uint64(min(at, 63)))
    if at > 63 and not signed:
        part = np.int64(0)
    if length >= 64:
        return part
    part &= (np.int64(1) << length) - 1
    if signed:
        last = min(at + length - 1, width - 1)
        if (value >> last) & 1:
            part |= np.int64(-1) << min(length, 63)
    return part


@inlined
def _permuted(a, b, control, mode):
    """PTX ISA, prmt: bytes of (b, a) by selectors; modes f4e, b4e, rc8, ecl, ecr, rc16 from 1 on."""
    pool = (b << 32) | a
    result, first = np.int64(0), control & 3
    for i in range(4):
        if mode == 0:
            which = (control >> (4 * i)) & 15
        elif mode == 1:
            which = (first + i) & 7
        elif mode == 2:
            which = (first - i) & 7
        elif mode == 3:
            which = first
        elif mode == 4:
            which = max(first, i)
        elif mode == 5:
            which = min(first, i)
        else:
            which = (i & 1) + 2 * (first & 1)
        byte = np.int64(np.uint64(pool) >> np.uint64(8 * (which & 7))) & 255
        if mode == 0 and which & 8:
            byte = np.int64(255 if byte & 128 else 0)
        result |= byte << (8 * i)
    return result


@inlined
def _funnel(a, b, amount, left):
    """The upper half of (b, a) shifted left, or its lower half shifted right."""
    both_words = (b << 32) | a
    if left:
        return b if amount == 0 else np.int64(np.uint64(both_words) >> np.uint64(32 - amount))
    return np.int64(np.uint64(both_words) >> np.uint64(amount))


@inlined
def _dot(a, b, c, signs):
    total = c
    for k in range(4):
        x, y = (a >> (8 * k)) & 255, (b >> (8 * k)) & 255
        total += (x - 256 if signs & 1 and x > 127 else x) * (y - 256 if signs & 2 and y > 127 else y)
    return total


@inlined
def _dot_two(a, b, c, how):
    total = c
    for k in range(2):
        x, y = (a >> (16 * k)) & HALF, (b >> (8 * k + (16 if how & 4 else 0))) & 255
        total += (x - 65536 if how & 1 and x > 32767 else x) * (y - 256 if how & 2 and y > 127 else y)
    return total


@inlined
def _nth_bit(bits, base, offset):
    """PTX ISA, fns: the position of the n-th bit that is set, counted from a position up, or down if n is negative."""
    step, left = (np.int64(1), offset - 1) if offset > 0 else (np.int64(-1), -offset - 1)
    while 0 <= base < 32:
        if (bits >> base) & 1:
            if left <= 0:
                return base
            left -= 1
        if offset == 0:
            break
        base += step
    return np.int64(NONE)


@inlined
def _packed_difference(a, b, c, how):
    """Absolute differences of the parts of two words: packed, or added up."""
    width = 8 if how & 2 else 16
    part = (np.int64(1) << width) - 1
    packed, total = np.int64(0), c
    for at in range(0, 32, width):
        x, y = (a >> at) & part, (b >> at) & part
        if how & 1:
            x, y = (x << (64 - width)) >> (64 - width), (y << (64 - width)) >> (64 - width)
        difference = abs(x - y)
        packed |= (difference & part) << at
        total += difference
    return total if how & 4 else packed


@inlined
def _packed(what, a, b):
    """The same on both halves of a word."""
    result = np.int64(0)
    for k in range(2):
        x, y = (a >> (16 * k)) & HALF, (b >> (16 * k)) & HALF
        one = _half(what, x, y)
        result |= (one & HALF) << (16 * k)
    return result


@inlined
def _half(what, x, y):
    signed_x, signed_y = (x << 48) >> 48, (y << 48) >> 48
    if what == PACKED_ADD:
        return x + y
    if what == PACKED_MINIMUM:
        return min(x, y)
    if what == PACKED_MAXIMUM:
        return max(x, y)
    if what == PACKED_MINIMUM_SIGNED:
        return min(signed_x, signed_y)
    return max(signed_x, signed_y)
