"""What an architecture fixes, as data: how accesses coalesce, units of occupancy, what caches and counters do.

A GPU's file states numbers; what follows from its compute capability (of AMD's GPUs: the processor's name) stands here.
Elsewhere only readers of machine code compare a cubin's architecture with a number, where its encoding changed
(``tests/gpu/test_architecture.py`` names them). Each entry of ``ARCHITECTURES`` is the one before it with what
changed. Sources: NVIDIA CUDA C Programming Guide, versions 2.3 (section 5.1.2), 3.0 to 4.2 (appendix "Compute
Capabilities") and 5.0 and later (the same appendix and its technical specifications); for the units of occupancy,
those that :mod:`memsim.gpu.occupancy` names. Of AMD's: LLVM, User Guide for AMDGPU Backend (granules of vector
registers and of LDS), and the ROCm Compute Profiler's documentation (LDS: 32 banks).
:mod:`memsim.trace.coalescing_rules` explains the rules of accesses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from memsim.support.errors import InputError


class Coalescing(StrEnum):
    """Which global accesses of a group of lanes share a transaction."""

    in_order = "in_order"  # lane k on word k of a segment, else one per lane
    segments = "segments"  # one per touched segment, halved while only one half is used
    lines = "lines"  # one per touched line (or sector, of loads that no L1 serves)


@dataclass(frozen=True)
class Architecture:
    """What follows from a compute capability.

    Attributes:
        group_lanes: lanes of a warp whose accesses are looked at together, at most 32.
        splits_wide: whether accesses of 8 and 16 bytes to global memory are looked at in halves and quarters of it.
        coalescing: of global and local memory.
        uncached_by_line: whether loads that L1 does not serve are grouped by line.
        has_l1: whether an L1 can hold global memory.
        has_async_copies: whether copies from global to shared memory need no registers (``cp.async``).
        has_persisting_l2: whether a part of L2 can be set aside for persisting accesses.
        has_clusters: whether a launch may have clusters of blocks.
        shared_banks: of shared memory, 4 bytes wide.
        one_broadcast: whether a pass over the banks serves one word to any number of lanes, and otherwise one lane per
            bank; else one word per bank, to any number of lanes.
        pairs_share_words: whether wide shared loads of lanes with equal addresses in pairs take half the passes.
        sector_counters: whether the vendor's profiler counts L1 in sectors.
        block_registers: whether registers are handed out to a whole block; else to each warp.
        register_unit: a block's or a warp's registers are a multiple.
        pair_unit, pair_registers: the unit for some numbers of registers per thread.
        warp_unit: with `block_registers`, a block's warps are counted as a multiple; else the SM's partitions, each
            with an equal share of the registers.
        checked_partitions: partitions that a launch check takes instead; 0: the same.
        shared_unit: a block's bytes of shared memory are a multiple.
        shared_block_bytes: most shared memory of a block.
        reserved_shared_bytes: that the system takes of every block.
        tensor_sum_bits: bits after which a tensor core cuts the terms of a sum off.
        tensor_row_bits: bits of a row that it sums at once; 0: all of them.
    """

    group_lanes: int = 16
    splits_wide: bool = False
    coalescing: Coalescing = Coalescing.in_order
    uncached_by_line: bool = False
    has_l1: bool = False
    has_async_copies: bool = False
    has_persisting_l2: bool = False
    has_clusters: bool = False
    shared_banks: int = 16
    one_broadcast: bool = True
    pairs_share_words: bool = False
    sector_counters: bool = False
    block_registers: bool = True
    register_unit: int = 256
    pair_unit: int = 0
    pair_registers: frozenset[int] = frozenset()
    warp_unit: int = 2
    checked_partitions: int = 0
    shared_unit: int = 512
    shared_block_bytes: int = 16 << 10
    reserved_shared_bytes: int = 0
    tensor_sum_bits: int = 23
    tensor_row_bits: int = 0

    def data_lanes(self, width: int) -> int:
        """Lanes whose words the data stage of L1 or shared memory reads together, of `width` bytes each."""
        return self.group_lanes if self.group_lanes < 32 else {8: 16, 16: 8}.get(width, 32)

    def global_lanes(self, width: int) -> int:
        """Lanes whose global accesses of `width` bytes share transactions."""
        return self.data_lanes(width) if self.splits_wide else self.group_lanes


_TESLA = Architecture()
_TESLA_2 = replace(_TESLA, coalescing=Coalescing.segments, register_unit=512)
_FERMI = Architecture(
    group_lanes=32, splits_wide=True, coalescing=Coalescing.lines, has_l1=True, shared_banks=32, one_broadcast=False,
    block_registers=False, register_unit=64, pair_unit=128,
    pair_registers=frozenset((21, 22, 29, 30, 37, 38, 45, 46)), shared_unit=128, shared_block_bytes=48 << 10,
)  # fmt: skip
_KEPLER = replace(_FERMI, register_unit=256, pair_registers=frozenset(), warp_unit=4, shared_unit=256)
_MAXWELL = replace(_KEPLER, splits_wide=False)
_VOLTA = replace(_MAXWELL, uncached_by_line=True, pairs_share_words=True, sector_counters=True,
                 shared_block_bytes=96 << 10)  # fmt: skip
_TURING = replace(_VOLTA, tensor_sum_bits=24, shared_block_bytes=64 << 10)
_AMPERE = replace(
    _TURING, shared_unit=128, reserved_shared_bytes=1024, has_async_copies=True, has_persisting_l2=True,
    tensor_row_bits=128, shared_block_bytes=163 << 10,
)  # fmt: skip
_AMPERE_6 = replace(_AMPERE, shared_block_bytes=99 << 10)
_HOPPER = replace(_AMPERE, has_clusters=True, tensor_sum_bits=25, tensor_row_bits=0, shared_block_bytes=227 << 10)

ARCHITECTURES = {  # by the compute capability from which on it holds
    (1, 0): _TESLA,
    (1, 2): _TESLA_2,
    (2, 0): _FERMI,
    (3, 0): _KEPLER,
    (5, 0): _MAXWELL,
    (6, 0): replace(_MAXWELL, warp_unit=2, checked_partitions=4),
    (6, 1): _MAXWELL,
    (7, 0): _VOLTA,
    (7, 5): _TURING,
    (8, 0): _AMPERE,
    (8, 6): _AMPERE_6,
    (8, 7): _AMPERE,
    (8, 9): _AMPERE_6,
    (9, 0): _HOPPER,
    (12, 0): replace(_HOPPER, shared_block_bytes=99 << 10),
}
_CDNA_3 = Architecture(
    group_lanes=32, coalescing=Coalescing.lines, uncached_by_line=True, has_l1=True, shared_banks=32,
    one_broadcast=False, block_registers=False, register_unit=512, warp_unit=4, shared_unit=512,
    shared_block_bytes=64 << 10,
)  # fmt: skip
AMD_ARCHITECTURES = {"gfx942": _CDNA_3}  # by the name of the processor in LLVM
_NEVER_MADE = ((0, 0), (1, 0)), ((1, 4), (2, 0)), ((4, 0), (5, 0))  # from, up to but not


def is_amd(compute_capability: str) -> bool:
    """Whether it is the name of an AMD processor.

    >>> is_amd("gfx942"), is_amd("9.0")
    (True, False)
    """
    return compute_capability.startswith("gfx")


def capability_number(compute_capability: str) -> tuple[int, int]:
    """The numbers of ``"8.6"``.

    Raises:
        InputError: the processor is AMD's, for which nothing can be compiled here.

    >>> capability_number("8.6") < capability_number("10.0")
    True
    """
    if is_amd(compute_capability):
        problem = f"is {compute_capability}, a processor of AMD; PTX and machine code need an NVIDIA GPU"
        raise InputError("gpu", "compute_capability", problem)
    major, minor = compute_capability.split(".")
    return int(major), int(minor)


def architecture_number(compute_capability: str) -> int:
    """The number of an architecture: 89 for compute capability 8.9, that of sm_89.

    Raises:
        InputError: see :func:`capability_number`.

    >>> architecture_number("8.9"), architecture_number("12.0")
    (89, 120)
    """
    major, minor = capability_number(compute_capability)
    return 10 * major + minor


def is_known(compute_capability: str) -> bool:
    """Whether a compute capability exists, or may exist some day.

    >>> [text for text in ("0.9", "1.3", "1.4", "4.0", "8.6") if is_known(text)]
    ['1.3', '8.6']
    """
    if is_amd(compute_capability):
        return compute_capability in AMD_ARCHITECTURES
    number = capability_number(compute_capability)
    return not any(first <= number < end for first, end in _NEVER_MADE)


@cache
def architecture(compute_capability: str) -> Architecture:
    """What a compute capability fixes; one that never was made, as the next before it, or as the first.

    >>> architecture("8.6").reserved_shared_bytes, architecture("1.3").shared_banks
    (1024, 16)
    """
    if is_amd(compute_capability):
        return AMD_ARCHITECTURES.get(compute_capability, _CDNA_3)
    number = capability_number(compute_capability)
    return next((of for first, of in reversed(ARCHITECTURES.items()) if number >= first), _TESLA)
