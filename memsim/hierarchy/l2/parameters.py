"""The configuration, as it is read by the loops of the L2 slices."""

from __future__ import annotations

from math import gcd

import numpy as np

from memsim.gpu.choices import Inclusion, Replacement
from memsim.gpu.config import GPU
from memsim.gpu.prefetcher import PrefetcherKind
from memsim.hierarchy.codes import ALL
from memsim.hierarchy.l2.state import UPDATE_MEMORY, VALIDATE
from memsim.hierarchy.parameters import clock_ratio, code_of, crossing_cycles, record_of, reply_cycles, sharer_words
from memsim.jit.specialization import fixed, matching

# What the L2s of many GPUs have in common, which loops are compiled for: of Fermi, and of Kepler and later.
_FERMI = dict(
    inclusive=1, sharer_words=1, lines_per_packet=4, packet_bits=2, sectors_per_line=1, line_mask=1, sector_bits=0,
    l1_unsectored=1, group_bits=2, max_dirty=0, max_partial=0, half=0, clock_up=1, write_hit=1,
    write_miss=UPDATE_MEMORY,
)  # fmt: skip
_LATER = dict(
    inclusive=0, sharer_words=0, lines_per_packet=1, packet_bits=0, sectors_per_line=4, line_mask=15, sector_bits=2,
    l1_unsectored=0, group_bits=0, write_hit=0, write_miss=VALIDATE,
)  # fmt: skip
KINDS = [{"off": 0, "prefetcher": 0, "step_mask": ALL, **kind} for kind in (_FERMI, _LATER)]


def group_bits(gpu: GPU) -> int:
    """log2 of the L2 sets whose ways lie interleaved: as many as an L1 line has L2 lines, if that divides all sets."""
    lines = gpu.l1.line_bytes // gpu.l2.line_bytes
    n_sets = gpu.l2.size_bytes // (gpu.l2.line_bytes * gpu.l2.ways)
    return gcd(lines, n_sets).bit_length() - 1


def max_dirty(gpu: GPU) -> int:
    """Dirty lines that an L2 set may hold, 0 when nothing limits them."""
    most = gpu.l2.max_dirty_ways
    return most if most is not None and most < gpu.l2.ways else 0


def most_writes(gpu: GPU) -> int:
    """Writes to DRAM that one request may cause: of every L2 line it covers, one evicted, one written, one cleaned.

    Where L2 completes partial sectors, there is one more, and each write has a read.
    """
    of_line = 3 if max_dirty(gpu) else 2
    if gpu.l2.max_partial_ways:
        of_line = 2 * (of_line + 1)
    return of_line * (gpu.l1.line_bytes // gpu.l2.line_bytes)


def l2_parameters(gpu: GPU, distinct_sets: bool, n_lines: int) -> np.ndarray:
    """The record of the L2 slices.

    Args:
        distinct_sets: whether the L2 lines of one L1 line always lie in different sets.
        n_lines: of the trace.
    """
    ahead, back = crossing_cycles(gpu)
    up, down = clock_ratio(gpu.l2.clock_mhz or gpu.sm.clock_mhz, gpu)
    lines = gpu.l1.line_bytes // gpu.l2.line_bytes
    sectors = gpu.l2.line_bytes // 32
    values = dict(
        off=not gpu.l2.enabled,
        prefetcher=gpu.prefetcher.kind is not PrefetcherKind.none,
        inclusive=gpu.l2.inclusion is Inclusion.inclusive,
        sharer_words=sharer_words(gpu),
        lines_per_packet=lines,
        packet_bits=lines.bit_length() - 1,
        sectors_per_line=sectors,
        line_mask=(1 << sectors) - 1,
        step_mask=ALL if distinct_sets else (1 << sectors) - 1,  # sectors of a packet looked up at once
        sector_bits=sectors.bit_length() - 1,
        all_sectors=(1 << (gpu.l1.line_bytes // 32)) - 1,
        l1_unsectored=gpu.l1.sector_bytes == gpu.l1.line_bytes,
        group_bits=group_bits(gpu),
        l2_mshrs=max(gpu.l2.mshrs, most_writes(gpu)),
        max_dirty=max_dirty(gpu),
        max_partial=gpu.l2.max_partial_ways or 0,
        most_writes=most_writes(gpu),
        return_cycles=reply_cycles(gpu),
        clock_up=up,
        clock_down=down,
        sector_cycles=gpu.l2.sector_cycles,
        read_sectors=gpu.l2.read_sectors or 1,
        more_of_partial=gpu.l2.of_partial_store - gpu.l2.sector_cycles,
        more_of_repeated=gpu.l2.of_repeated_store - gpu.l2.of_partial_store,
        half=gpu.l2.slices // 2 if gpu.l2.partitions > 1 else 0,  # slices of one partition
        n_lines=n_lines,
        merges_copies=gpu.l2.merges_copies,
        ahead_cycles=ahead,
        back_cycles=back,
        write_hit=code_of(gpu.l2.write_hit),
        write_miss=code_of(gpu.l2.write_miss),
    )
    return fixed(record_of(**values), matching(KINDS, values) if gpu.l2.replacement is Replacement.lru else ())
