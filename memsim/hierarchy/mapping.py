"""Where a line lives: its set in L1 and L2, its slice, channel, bank and row. Tables made once, not per access."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from memsim.gpu.choices import IndexHash
from memsim.gpu.config import GPU
from memsim.gpu.prefetcher import PrefetcherKind
from memsim.hierarchy.translation.pages import TABLE_BYTES, numbered, page_tables
from memsim.trace.transactions import Transactions

# Where an L1 line lives.
MAPPING = np.dtype(
    [("l1_set", "<u4"), ("row", "<u4"), ("slice", "<u2"), ("channel", "<u2"), ("bank", "<u2"), ("pad", "<u2")]
)

# Published XOR inputs of Fermi's L1 set index: bits 7..11 of the address, each with one higher bit.
FERMI_BITS = (13, 14, 15, 17, 19)

# Of each degree from 0 on, the least irreducible polynomial over GF(2) but x, its coefficients as bits.
IRREDUCIBLE = (
    0x1, 0x3, 0x7, 0xB, 0x13, 0x25, 0x43, 0x83, 0x11B, 0x203, 0x409, 0x805, 0x1009, 0x201B, 0x4021, 0x8003, 0x1002B,
)  # fmt: skip


def index(number: np.ndarray, count: int, hash_: IndexHash) -> np.ndarray:
    """`number` (of a line, block or row) mapped to 0..count-1.

    `xor_fold` XORs all groups of log2(count) bits (for a count that is no power of two: folds in 16-bit groups, then
    takes the remainder); `modulo` takes the remainder; `rotated` moves the remainder on by the XOR of the
    quotient's 16-bit groups: `count` numbers in a row still go one to each, and no stride to few (a skewed scheme,
    Harper and Jump, IEEE ToC 1987). `polynomial` takes the number's bits for a polynomial over GF(2), and its remainder
    by an irreducible one of degree log2(count): numbers in a row at any power of two apart go one to each (Rau,
    Pseudo-randomly interleaved memory, ISCA 1991).

    >>> index(np.array([5, 13]), 8, IndexHash.modulo).tolist()
    [5, 5]
    >>> index(np.array([5, 13]), 8, IndexHash.xor_fold).tolist()
    [5, 4]
    >>> index(np.array([5, 6, 12]), 6, IndexHash.rotated).tolist()
    [5, 1, 2]
    >>> index(np.array([5, 8, 16, 24]), 8, IndexHash.polynomial).tolist()  # x**3 is x + 1
    [5, 3, 6, 5]
    """
    if hash_ is IndexHash.modulo:
        return number % count
    if hash_ is IndexHash.rotated:
        return (number + _folded(number // count, 16)) % count
    if hash_ is IndexHash.polynomial:
        return _remainder(number, count.bit_length() - 1)
    power = count & (count - 1) == 0
    bits = count.bit_length() - 1 if power else 16
    return _folded(number, bits) % count


def _remainder(number: np.ndarray, degree: int) -> np.ndarray:
    """The remainder of polynomials over GF(2), their coefficients as bits, by the one of `degree` in IRREDUCIBLE."""
    rest = number.copy()
    for bit in range(int(number.max(initial=0)).bit_length() - 1, degree - 1, -1):
        rest ^= (rest >> bit & 1) * (IRREDUCIBLE[degree] << (bit - degree))
    return rest


def _folded(number: np.ndarray, bits: int) -> np.ndarray:
    """The XOR of all groups of `bits` bits."""
    folded = np.zeros_like(number)
    rest = number.copy()
    while bits and rest.any():
        folded ^= rest & ((1 << bits) - 1)
        rest >>= bits
    return folded


def fermi_l1_set(address: np.ndarray, sets: int) -> np.ndarray:
    """Set of Fermi's L1: bits 7-11 XOR bits 13, 14, 15, 17, 19; the 48 KB option's 64 sets put bit 12 above.

    Args:
        address: byte addresses.
        sets: 32, or a multiple of it.
    """
    low = (address >> 7) & 31
    for k, bit in enumerate(FERMI_BITS):
        low ^= ((address >> bit) & 1) << k
    return low + 32 * ((address >> 12) % (sets // 32))


def placed(address: np.ndarray, page_bytes: int, rng: np.random.Generator) -> np.ndarray:
    """Addresses after every page got a random physical frame, no frame twice."""
    pages, which = np.unique(address // page_bytes, return_inverse=True)
    frames = rng.choice(max(4 * len(pages), 1 << 16), size=len(pages), replace=False)
    return frames[which] * page_bytes + address % page_bytes


def tables(address: np.ndarray, gpu: GPU) -> tuple[np.ndarray, np.ndarray]:
    """(MAPPING record of every L1 line, set of every L2 line in it).

    Args:
        address: i8 [lines], byte address of each line (physical, if pages are placed).

    Returns:
        mapping: MAPPING [lines]; sets: u4 [lines * L2 lines per L1 line], counted over all slices.
    """
    l1, l2, dram = gpu.l1, gpu.l2, gpu.dram
    mapping = np.zeros(len(address), MAPPING)
    if l1.set_hash is IndexHash.fermi_l1:
        mapping["l1_set"] = fermi_l1_set(address, l1.sets)
    else:
        mapping["l1_set"] = index(address // l1.line_bytes, l1.sets, l1.set_hash)

    chunk = address // l2.slice_interleave_bytes
    mapping["slice"] = index(chunk, l2.slices, l2.slice_hash)
    per = l1.line_bytes // l2.line_bytes
    local = (chunk // l2.slices * l2.slice_interleave_bytes + address % l2.slice_interleave_bytes) // l2.line_bytes
    lines = local[:, None] + np.arange(per)
    l2_sets = l2.size_bytes // (l2.line_bytes * l2.ways * l2.slices)
    sets = index(lines.ravel(), l2_sets, l2.set_hash) + np.repeat(mapping["slice"].astype(np.int64) * l2_sets, per)

    chunk = address // dram.interleave_bytes
    mapping["channel"] = index(chunk, dram.channels, dram.channel_hash)
    row = (chunk // dram.channels * dram.interleave_bytes + address % dram.interleave_bytes) // dram.row_bytes
    if dram.bank_hash is IndexHash.modulo:
        mapping["bank"] = row % dram.banks
    else:
        mapping["bank"] = index(row, dram.banks, dram.bank_hash)
    mapping["row"] = row // dram.banks
    return mapping, sets.astype(np.uint32)


def _no_lines() -> np.ndarray:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class AddressLayout:
    """Where each line of a trace lives on a GPU; shared by all trials but those that place pages at random.

    Attributes:
        mapping: MAPPING, one an L1 line; behind those of the trace the lines of the page tables, if it is translated.
        sets: u4, set of every L2 line (number of its L1 line * L2 lines in one + position), over all slices.
        page_of: i4, number of the page of each line of the trace; empty where nothing is translated, as the next.
        pages: i8, virtual page numbers, sorted.
        physical: i8, physical address of each line of the mapping, in lines; with a prefetcher, as the next two, else
            empty. The mapping then ends with all lines that prefetches may reach and that nothing else names.
        index_of: i8, index of each line among the lines of the pages that prefetches may reach.
        line_at: i8, the line of each index.
    """

    mapping: np.ndarray
    sets: np.ndarray
    page_of: np.ndarray
    pages: np.ndarray
    physical: np.ndarray = field(default_factory=_no_lines)
    index_of: np.ndarray = field(default_factory=_no_lines)
    line_at: np.ndarray = field(default_factory=_no_lines)

    @cached_property
    def has_distinct_sets(self) -> bool:
        """Whether the L2 lines of one L1 line always lie in different sets."""
        sets = self.sets.reshape(len(self.mapping), len(self.sets) // max(len(self.mapping), 1))
        pairs = combinations(range(sets.shape[1]), 2)
        return not any((sets[:, one] == sets[:, other]).any() for one, other in pairs)


def with_copies(where: AddressLayout, gpu: GPU) -> np.ndarray:
    """Set of every L2 line, then, with two partitions, of its copy in the partition that is not its home.

    The copy of a line is kept as line number + number of lines, in the same set of the opposite slice.
    """
    if gpu.l2.partitions == 1:
        return where.sets
    slices = where.mapping["slice"].astype(np.int64)
    half, l2_sets = gpu.l2.slices // 2, gpu.l2.size_bytes // (gpu.l2.line_bytes * gpu.l2.ways * gpu.l2.slices)
    to_other_partition = np.where(slices < half, half, -half) * l2_sets
    return np.concatenate([where.sets, (where.sets + to_other_partition).astype(np.uint32)])


def layout(transactions: Transactions, gpu: GPU, rng: np.random.Generator | None = None) -> AddressLayout:
    """The layout of a trace; with `rng`, of one random placement of its pages."""
    address = np.asarray(transactions.line_address).astype(np.int64) * gpu.l1.line_bytes
    page_of, pages = numbered(address, gpu)
    if rng is not None:
        address = placed(address, gpu.stochastic.page_bytes, rng)
    if gpu.translation.enabled:
        address = np.concatenate([address, _behind(address, gpu) + page_tables(pages, gpu)[0]])
    if gpu.prefetcher.kind is PrefetcherKind.none:
        return AddressLayout(*tables(address, gpu), page_of, pages)
    physical, index_of, line_at = _with_neighbours(address // gpu.l1.line_bytes, prefetch_page_lines(gpu))
    return AddressLayout(*tables(physical * gpu.l1.line_bytes, gpu), page_of, pages, physical, index_of, line_at)


def prefetch_page_lines(gpu: GPU) -> int:
    """L1 lines of the aligned page that no prefetch leaves."""
    return max(1, gpu.prefetcher.page_bytes // gpu.l1.line_bytes)


def _with_neighbours(lines: np.ndarray, per_page: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lines, then all others of their pages; the index of each among the lines of these pages; the line of each index.

    Args:
        lines: i8, physical addresses, in lines.

    >>> _with_neighbours(np.array([6, 5]), 4)
    (array([6, 5, 4, 7]), array([2, 1, 0, 3]), array([2, 1, 0, 3]))
    """
    pages, page_of = np.unique(lines // per_page, return_inverse=True)
    line_at = np.full(len(pages) * per_page, -1, np.int64)
    index_of = page_of * per_page + lines % per_page
    line_at[index_of] = np.arange(len(lines))
    others = np.flatnonzero(line_at < 0)
    line_at[others] = len(lines) + np.arange(len(others))
    added = pages[others // per_page] * per_page + others % per_page
    return np.concatenate([lines, added]), np.concatenate([index_of, others]), line_at


def _behind(address: np.ndarray, gpu: GPU) -> int:
    """Where the page tables begin: behind all that the trace accesses."""
    end = int(address.max(initial=0)) + gpu.l1.line_bytes
    return -(-end // TABLE_BYTES) * TABLE_BYTES
