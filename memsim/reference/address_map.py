"""Where a byte address lives: L1 set, L2 slice and set, DRAM channel, bank and row; and the hash of random draws."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from memsim.gpu.choices import IndexHash
from memsim.gpu.config import GPU
from memsim.gpu.memory import L2
from memsim.gpu.memory_side import MemorySideLevel
from memsim.reference.packets import DramLocation

FERMI_BITS = (13, 14, 15, 17, 19)  # each is XORed into one of bits 7 to 11 (Nugteren et al., HPCA 2014)


def hash32(x: int) -> int:
    """Two rounds of xor-shift and multiply on 32 bits.

    Random numbers are hashes of a trial's key and of what they are for, so a draw does not depend on how many numbers
    other units have drawn (counter-based random numbers: Salmon et al., SC 2011).
    """
    for _ in range(2):
        x = ((x >> 16 ^ x) * 0x45D9F3B) % 2**32
    return x >> 16 ^ x


def gf2_remainder(number: int, divisor: int) -> int:
    """Long division of polynomials over GF(2), whose coefficients are the bits of the numbers."""
    while number.bit_length() >= divisor.bit_length():
        number ^= divisor << (number.bit_length() - divisor.bit_length())
    return number


@cache
def irreducible(degree: int) -> int:
    """The least polynomial with a constant term that no polynomial of up to half its degree divides."""
    odd = range((1 << degree) + 1, 2 << degree, 2) if degree else [1]
    return next(p for p in odd if all(gf2_remainder(p, q) for q in range(2, 1 << (degree // 2 + 1))))


def xor_groups(number: int, width: int) -> int:
    """The XOR of all groups of `width` bits of a number."""
    folded = 0
    while number:
        folded ^= number % (1 << width)
        number >>= width
    return folded


def fold(number: int, count: int, how: IndexHash) -> int:
    """Map a number (of a line, chunk or row) to 0 to `count` - 1.

    ``modulo`` takes the remainder. ``xor_fold`` XORs all groups of log2(count) bits. ``rotated`` moves the remainder on
    by the XOR of the quotient's 16-bit groups (a skewed scheme: Harper and Jump, IEEE ToC 1987). ``polynomial`` takes
    the remainder by an irreducible polynomial (Rau, ISCA 1991).
    """
    if how is IndexHash.modulo or count == 1:
        return number % count
    if how is IndexHash.rotated:
        return (number % count + xor_groups(number // count, 16)) % count
    width = count.bit_length() - 1 if count & (count - 1) == 0 else 16
    if how is IndexHash.polynomial:
        return gf2_remainder(number, irreducible(width))
    return xor_groups(number, width) % count


def l1_set(address: int, gpu: GPU) -> int:
    sets = gpu.l1.sets
    if gpu.l1.set_hash is not IndexHash.fermi_l1:
        return fold(address // gpu.l1.line_bytes, sets, gpu.l1.set_hash)
    bit = [address >> i & 1 for i in range(64)]
    low = sum((bit[7 + k] ^ bit[other]) << k for k, other in enumerate(FERMI_BITS))
    return low + 32 * ((address >> 12) % (sets // 32))


def slice_of(address: int, level: L2 | MemorySideLevel) -> int:
    """Slice of L2, or of a level behind it: the home of the address."""
    return fold(address // level.slice_interleave_bytes, level.slices, level.slice_hash)


def set_within_slice(address: int, level: L2 | MemorySideLevel) -> int:
    """Set within the slice; every slice numbers its own lines from 0."""
    chunk, inside = divmod(address, level.slice_interleave_bytes)
    line = (chunk // level.slices * level.slice_interleave_bytes + inside) // level.line_bytes
    return fold(line, level.size_bytes // level.slices // level.line_bytes // level.ways, level.set_hash)


def channel_bank_row(address: int, gpu: GPU) -> DramLocation:
    """Place in DRAM; consecutive rows of a channel go round its banks."""
    dram = gpu.dram
    chunk, inside = divmod(address, dram.interleave_bytes)
    row = (chunk // dram.channels * dram.interleave_bytes + inside) // dram.row_bytes
    return fold(chunk, dram.channels, dram.channel_hash), fold(row, dram.banks, dram.bank_hash), row // dram.banks


class AddressMap:
    """The physical address of every L1 line, by the line's number; those of an earlier launch keep their numbers."""

    def __init__(self, gpu: GPU, addresses: Iterable[int], before: AddressMap | None = None) -> None:
        self.l2 = gpu.l2.one_instance
        self.addresses = list(addresses)
        self.numbers = {address: number for number, address in enumerate(self.addresses)}
        for address in before.addresses if before else ():
            self.number_of(address)
        self.l1_set = cache(lambda line: l1_set(self.addresses[line], gpu))
        self.home = cache(lambda line: slice_of(self.addresses[line], self.l2))
        self.location = cache(lambda line: channel_bank_row(self.addresses[line], gpu))

    def number_of(self, address: int) -> int:
        """The number of the line at a physical address; a line that no warp requests gets the next number."""
        if address not in self.numbers:
            self.numbers[address] = len(self.addresses)
            self.addresses.append(address)
        return self.numbers[address]
