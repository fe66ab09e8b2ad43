"""Where a byte address lives, one address at a time, in whole numbers and strings of bits."""

from __future__ import annotations

from functools import cache

from memsim.gpu.choices import IndexHash, ReservedFrom
from memsim.gpu.config import GPU
from memsim.gpu.cores import L1


def gf2_remainder(number: int, divisor: int) -> int:
    """Long division of polynomials over GF(2)."""
    while number.bit_length() >= divisor.bit_length():
        number ^= divisor << (number.bit_length() - divisor.bit_length())
    return number


@cache
def irreducible(degree: int) -> int:
    """The least with a constant term that none of up to half its degree divides."""
    odd = range((1 << degree) + 1, 2 << degree, 2) if degree else [1]
    return next(p for p in odd if all(gf2_remainder(p, q) for q in range(2, 1 << (degree // 2 + 1))))


def fold(number: int, count: int, how: IndexHash) -> int:
    if how == IndexHash.modulo or count == 1:
        return number % count
    if how == IndexHash.rotated:
        quotient, remainder = divmod(number, count)
        digits = quotient.to_bytes(8, "big")
        turned = 0
        for i in range(0, 8, 2):
            turned ^= int.from_bytes(digits[i : i + 2], "big")
        return (remainder + turned) % count
    width = count.bit_length() - 1
    if how == IndexHash.polynomial:
        return gf2_remainder(number, irreducible(width))
    assert count == 1 << width, "xor_fold is only configured over powers of two"
    bits = bin(number)[2:]
    bits = bits.zfill(-(-len(bits) // width) * width)
    result = 0
    for first in range(0, len(bits), width):
        result ^= int(bits[first : first + width], 2)
    return result


def l1_sets(l1: L1) -> int:
    """Where sets go first, as few halves are kept as hold what is not reserved."""
    sets = l1.size_bytes // l1.line_bytes // l1.ways
    if l1.reserved_from != ReservedFrom.sets:
        return sets
    lines = (l1.size_bytes - l1.reserved_bytes) // l1.line_bytes
    fitting = [sets >> k for k in range(sets.bit_length()) if sets % (1 << k) == 0 and (sets >> k) * l1.ways >= lines]
    return min(fitting)


def l1_set(address: int, gpu: GPU) -> int:
    l1 = gpu.l1
    sets = l1_sets(l1)
    if l1.set_hash != IndexHash.fermi_l1:
        return fold(address // l1.line_bytes, sets, l1.set_hash)
    # Nugteren et al., HPCA 2014: bits 7 to 11, each XORed with one of bits 13, 14, 15, 17, 19.
    bit = [address >> i & 1 for i in range(64)]
    low = sum((bit[7 + k] ^ bit[other]) << k for k, other in enumerate((13, 14, 15, 17, 19)))
    return low + 32 * bit[12] if sets == 64 else low


def slice_of(address: int, gpu: GPU) -> int:
    return fold(address // gpu.l2.slice_interleave_bytes, gpu.l2.slices, gpu.l2.slice_hash)


def l2_set(address: int, gpu: GPU) -> int:
    """Set within the slice: every slice numbers its own lines from 0."""
    l2 = gpu.l2
    chunk, inside = divmod(address, l2.slice_interleave_bytes)
    line = (chunk // l2.slices * l2.slice_interleave_bytes + inside) // l2.line_bytes
    return fold(line, l2.size_bytes // l2.slices // l2.line_bytes // l2.ways, l2.set_hash)


def channel_bank_row(address: int, gpu: GPU) -> tuple[int, int, int]:
    """Rows of a channel go round its banks."""
    dram = gpu.dram
    chunk, inside = divmod(address, dram.interleave_bytes)
    row = (chunk // dram.channels * dram.interleave_bytes + inside) // dram.row_bytes
    return fold(chunk, dram.channels, dram.channel_hash), fold(row, dram.banks, dram.bank_hash), row // dram.banks
