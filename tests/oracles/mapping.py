"""Where a byte address lives, one address at a time, in whole numbers and strings of bits."""

from __future__ import annotations

from memsim.gpu.config import GPU, IndexHash


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
    assert count == 1 << width, "xor_fold is only configured over powers of two"
    bits = bin(number)[2:]
    bits = bits.zfill(-(-len(bits) // width) * width)
    result = 0
    for first in range(0, len(bits), width):
        result ^= int(bits[first : first + width], 2)
    return result


def l1_set(address: int, gpu: GPU) -> int:
    l1 = gpu.l1
    sets = l1.size_bytes // l1.line_bytes // l1.ways
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
