"""Integer operations of a whole warp: plain loops over 32 lanes, which the compiler turns into vector instructions.

``n`` is the number of lanes, given so that loops are vectorized rather than unrolled. Values are zero-extended to 64
bits.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import inlined

LOWEST = -(1 << 63)


@inlined
def copy(d, a, n):
    for i in range(n):
        d[i] = a[i]


@inlined
def add(d, a, b, mask, n):
    for i in range(n):
        d[i] = (a[i] + b[i]) & mask


@inlined
def subtract(d, a, b, mask, n):
    for i in range(n):
        d[i] = (a[i] - b[i]) & mask


@inlined
def multiply(d, a, b, mask, n):
    for i in range(n):
        d[i] = (a[i] * b[i]) & mask


@inlined
def multiply_add(d, a, b, c, mask, n):
    for i in range(n):
        d[i] = (a[i] * b[i] + c[i]) & mask


@inlined
def multiply_signed(d, a, b, shift, mask, n):
    for i in range(n):
        d[i] = (((a[i] << shift) >> shift) * ((b[i] << shift) >> shift)) & mask


@inlined
def multiply_add_signed(d, a, b, c, shift, mask, n):
    for i in range(n):
        d[i] = (((a[i] << shift) >> shift) * ((b[i] << shift) >> shift) + c[i]) & mask


@inlined
def multiply_high(d, a, b, shift, right, mask, n):
    for i in range(n):
        d[i] = ((((a[i] << shift) >> shift) * ((b[i] << shift) >> shift)) >> right) & mask


@inlined
def bit_and(d, a, b, n):
    for i in range(n):
        d[i] = a[i] & b[i]


@inlined
def bit_or(d, a, b, n):
    for i in range(n):
        d[i] = a[i] | b[i]


@inlined
def bit_xor(d, a, b, n):
    for i in range(n):
        d[i] = a[i] ^ b[i]


@inlined
def bit_not(d, a, mask, n):
    for i in range(n):
        d[i] = ~a[i] & mask


@inlined
def shift_left(d, a, b, width, mask, n):
    """Amounts of the width and more give 0."""
    for i in range(n):
        d[i] = (a[i] << (b[i] & 63)) & mask if b[i] < width else 0


@inlined
def shift_right(d, a, b, width, n):
    for i in range(n):
        d[i] = np.int64(np.uint64(a[i]) >> np.uint64(b[i] & 63)) if b[i] < width else 0


@inlined
def shift_right_signed(d, a, b, width, shift, mask, n):
    """Amounts of the width and more give copies of the sign."""
    for i in range(n):
        d[i] = (((a[i] << shift) >> shift) >> min(b[i], width - 1)) & mask


@inlined
def extend(d, a, shift, mask, n):
    for i in range(n):
        d[i] = ((a[i] << shift) >> shift) & mask


@inlined
def select(d, a, b, bits, n):
    for i in range(n):
        d[i] = a[i] if (bits >> i) & 1 else b[i]


@inlined
def minimum(d, a, b, shift, n):
    """Of signed numbers with so much room above; with none and ``flip`` of the sign, see below, of unsigned ones."""
    for i in range(n):
        d[i] = a[i] if (a[i] << shift) < (b[i] << shift) else b[i]


@inlined
def maximum(d, a, b, shift, n):
    for i in range(n):
        d[i] = a[i] if (a[i] << shift) > (b[i] << shift) else b[i]


@inlined
def minimum_unsigned(d, a, b, n):
    for i in range(n):
        d[i] = a[i] if (a[i] ^ LOWEST) < (b[i] ^ LOWEST) else b[i]


@inlined
def maximum_unsigned(d, a, b, n):
    for i in range(n):
        d[i] = a[i] if (a[i] ^ LOWEST) > (b[i] ^ LOWEST) else b[i]


@inlined
def pair(d, a, b, n):
    """64 bits of two registers of 32."""
    for i in range(n):
        d[i] = a[i] | (b[i] << 32)


@inlined
def lookup(d, a, b, c, table, n):
    """PTX ISA, lop3: bit 4 a + 2 b + c of the table, for each of 32 bits."""
    t0, t1, t2, t3 = -(table & 1), -((table >> 1) & 1), -((table >> 2) & 1), -((table >> 3) & 1)
    t4, t5, t6, t7 = -((table >> 4) & 1), -((table >> 5) & 1), -((table >> 6) & 1), -((table >> 7) & 1)
    for i in range(n):
        x, y, z = a[i], b[i], c[i]
        low = (~y & ((~z & t0) | (z & t1))) | (y & ((~z & t2) | (z & t3)))
        high = (~y & ((~z & t4) | (z & t5))) | (y & ((~z & t6) | (z & t7)))
        d[i] = ((~x & low) | (x & high)) & 0xFFFFFFFF


@inlined
def equal(a, b, n):
    bits = np.int64(0)
    for i in range(n):
        bits |= np.int64(a[i] == b[i]) << i
    return bits


@inlined
def less(a, b, n):
    bits = np.int64(0)
    for i in range(n):
        bits |= np.int64((a[i] ^ LOWEST) < (b[i] ^ LOWEST)) << i
    return bits


@inlined
def less_equal(a, b, n):
    bits = np.int64(0)
    for i in range(n):
        bits |= np.int64((a[i] ^ LOWEST) <= (b[i] ^ LOWEST)) << i
    return bits


@inlined
def less_signed(a, b, shift, n):
    bits = np.int64(0)
    for i in range(n):
        bits |= np.int64((a[i] << shift) < (b[i] << shift)) << i
    return bits


@inlined
def less_equal_signed(a, b, shift, n):
    bits = np.int64(0)
    for i in range(n):
        bits |= np.int64((a[i] << shift) <= (b[i] << shift)) << i
    return bits


@inlined
def blend(d, values, bits, n):
    """Results of active lanes alone."""
    for i in range(n):
        d[i] = values[i] if (bits >> i) & 1 else d[i]


@inlined
def truth(table, a, b):
    """Bits of a function of two predicates, by its table: bit 2 * a + b."""
    result = np.int64(0)
    if table & 1:
        result |= ~a & ~b
    if table & 2:
        result |= ~a & b
    if table & 4:
        result |= a & ~b
    if table & 8:
        result |= a & b
    return result
