"""The configuration as the compiled loops read it: one record of integers a level."""

from __future__ import annotations

from math import gcd

import numpy as np

from memsim.gpu.config import GPU, FullSet, Inclusion
from memsim.hierarchy.cache import ways as cache
from memsim.hierarchy.dram import state as dram_state
from memsim.hierarchy.draws import Draws
from memsim.hierarchy.l2 import state as l2_state
from memsim.hierarchy.latencies import crossing_cycles, reply_cycles
from memsim.hierarchy.sm import state as sm_state


def log_run(gpu: GPU) -> int:
    """Requests to DRAM logged in a row: one group of 32 for each SM (Baghsorkhi 2012, 3.2.3)."""
    return 32 * gpu.sm.count


def _record(**values: int) -> np.ndarray:
    out = np.zeros(1, np.dtype([(name, "<i8") for name in values]))
    for name, value in values.items():
        out[name] = value
    return out


def sharer_words(gpu: GPU) -> int:
    """32-bit words that name the SMs which share a line; an L2 that is not inclusive keeps none."""
    return -(-gpu.sm.count // 32) if gpu.l2.inclusion is Inclusion.inclusive else 0


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
    """Writes to DRAM that one request may cause: of every L2 line it covers, one evicted, one written, one cleaned."""
    return (3 if max_dirty(gpu) else 2) * (gpu.l1.line_bytes // gpu.l2.line_bytes)


def sm_parameters(gpu: GPU, drawn: Draws, resident: int, warps_per_block: int, l1_bits: int) -> np.ndarray:
    """Of the SMs and their L1s. `drawn` are the trial's draws; `l1_bits` sizes the index of one L1."""
    return _record(
        key=drawn.replacement,
        weights_key=drawn.warp_weights,
        arbitration_key=drawn.arbitration,
        scheduler_key=drawn.warp_scheduler,
        arbitration=gpu.stochastic.arbitration,
        max_weight=gpu.stochastic.max_weight if gpu.stochastic.warp_weights else 1,
        scheduler=sm_state.SCHEDULER[gpu.sm.warp_scheduler],
        warp_slots=warps_per_block * resident,
        warps_per_block=warps_per_block,
        launch_cycles=gpu.sm.launch_cycles,
        issue_per_cycle=gpu.sm.issue_per_cycle,
        issue_cycles=gpu.sm.issue_cycles,
        memory_issue=gpu.sm.memory_issue,
        instruction_cycles=gpu.sm.instruction_cycles,
        lookup_cycles=gpu.sm.lookup_cycles,
        pass_cycles=gpu.sm.pass_cycles,
        shared_latency=gpu.sm.shared_latency_cycles,
        barrier_cycles=gpu.sm.barrier_cycles,
        max_stores=gpu.sm.max_stores,
        l1_enabled=gpu.l1.enabled,
        l1_bits=l1_bits,
        l1_sets=gpu.l1.size_bytes // (gpu.l1.line_bytes * gpu.l1.ways),
        l1_ways=gpu.l1.ways,
        l1_policy=cache.POLICY[gpu.l1.replacement],
        l1_mshrs=gpu.l1.mshrs,
        l1_latency=gpu.l1.hit_latency_cycles,
        l1_whole=gpu.l1.sector_bytes == gpu.l1.line_bytes,
        inclusive=gpu.l2.inclusion is Inclusion.inclusive,
        sharer_words=sharer_words(gpu),
        return_cycles=reply_cycles(gpu),
        write_policy=sm_state.WRITE_POLICY[gpu.l1.write_policy],
        pass_by=gpu.l1.full_set is FullSet.pass_by,
    )


def l2_parameters(gpu: GPU, key: int, apart: bool, n_lines: int) -> np.ndarray:
    """Of the L2 slices.

    Args:
        key: of random replacement.
        apart: the L2 lines of one L1 line always lie in different sets.
        n_lines: of the trace.
    """
    ahead, back = crossing_cycles(gpu)
    lines = gpu.l1.line_bytes // gpu.l2.line_bytes
    sectors = gpu.l2.line_bytes // 32
    return _record(
        key=key,
        off=not gpu.l2.enabled,
        inclusive=gpu.l2.inclusion is Inclusion.inclusive,
        sharer_words=sharer_words(gpu),
        lines_per_packet=lines,
        packet_bits=lines.bit_length() - 1,
        sectors_per_line=sectors,
        line_mask=(1 << sectors) - 1,
        step_mask=sm_state.ALL if apart else (1 << sectors) - 1,  # sectors of a packet looked up at once
        sector_bits=sectors.bit_length() - 1,
        all_sectors=(1 << (gpu.l1.line_bytes // 32)) - 1,
        l1_whole=gpu.l1.sector_bytes == gpu.l1.line_bytes,
        l2_ways=gpu.l2.ways,
        group_bits=group_bits(gpu),
        l2_policy=cache.POLICY[gpu.l2.replacement],
        l2_mshrs=max(gpu.l2.mshrs, most_writes(gpu)),
        max_dirty=max_dirty(gpu),
        most_writes=most_writes(gpu),
        return_cycles=reply_cycles(gpu),
        sector_cycles=gpu.l2.sector_cycles,
        half=gpu.l2.slices // 2 if gpu.l2.partitions > 1 else 0,  # slices of one partition
        n_lines=n_lines,
        ahead_cycles=ahead,
        back_cycles=back,
        write_hit=l2_state.WRITE_HIT[gpu.l2.write_hit],
        write_miss=l2_state.WRITE_MISS[gpu.l2.write_miss],
    )


def dram_parameters(gpu: GPU) -> np.ndarray:
    """Of the DRAM channels: the timing table, and the ratio of their clock to the SMs' as whole numbers."""
    up, down = round(gpu.dram.clock_mhz * 1000), round(gpu.sm.clock_mhz * 1000)
    shared = gcd(up, down)
    timing = gpu.dram.timing
    return _record(
        **timing.resolved(),
        groups=gpu.dram.bank_groups or 1,
        clock_up=up // shared,
        clock_down=down // shared,
        latency=gpu.dram.latency_cycles,
        banks=gpu.dram.banks,
        policy=dram_state.POLICY[gpu.dram.policy],
        queue=gpu.dram.queue,
        write_queue=gpu.dram.write_queue,
        write_high=gpu.dram.write_high,
        write_low=gpu.dram.write_low,
        log_run=log_run(gpu),
    )
