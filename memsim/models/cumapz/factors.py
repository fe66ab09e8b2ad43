"""Equations 1 to 8 of CuMAPz (Kim and Shrivastava 2011, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import occupancy
from memsim.models.cumapz.accesses import WARP, CountedAccesses, count
from memsim.models.cumapz.program import CumapzProgram

ENOUGH = 0.5  # of the warps that an SM can hold: more hide no more latency (section 5.2)
FACTORS = ("data_reuse", "lat_hiding", "bw_util", "ch_skew", "branch_eff", "shm_eff", "mpe")  # of Factors


@dataclass(frozen=True)
class Factors:
    """The six factors, and what they are made of. Larger is better; only versions of one program can be compared.

    Attributes:
        data_reuse: bytes that buffers serve over bytes transferred to fill them (equation 1); 1 without buffers.
        lat_hiding: from occupancy and the independent fetches (equation 2); 1 without buffers.
        bw_util: bytes asked for over bytes transferred (equation 3).
        ch_skew: blocks on the busiest channel over those on the least (equation 5).
        branch_eff: warps over execution paths (equation 7).
        shm_eff: half-warps' accesses to shared memory over the passes that they take (equation 6).
        counted: the sums behind them.
    """

    data_reuse: float
    lat_hiding: float
    bw_util: float
    ch_skew: float
    branch_eff: float
    shm_eff: float
    counted: CountedAccesses

    @property
    def mpe(self) -> float:
        """Memory performance estimate (equation 8)."""
        return self.data_reuse * self.lat_hiding * self.bw_util / self.ch_skew * self.branch_eff * sqrt(self.shm_eff)


def estimate(program: CumapzProgram, gpu: GPU) -> Factors:
    """The factors of a program.

    Raises:
        InputError: a block that fits no SM.
    """
    held = occupancy(gpu, program.threads, program.registers, program.shared_bytes)
    span = first_blocks(gpu, held.blocks, program.block[0], program.element_bytes)
    counted = count(program, gpu, span)
    warps = program.blocks * ceil(program.threads / WARP)
    return factors_of(
        counted,
        bytes_reused=counted.reused * program.element_bytes,
        fetches=sum(len(buffer.fetches) for buffer in program.buffers),
        occupied=held.fraction,
        branch_eff=warps / (warps * len(program.references) + counted.diverged),
        skewed=program.blocks >= span,
    )


def factors_of(
    counted: CountedAccesses, *, bytes_reused: int, fetches: float, occupied: float, branch_eff: float, skewed: bool
) -> Factors:
    """Equations 1 to 6 of what was counted.

    Args:
        bytes_reused: that buffers serve.
        fetches: independent loads that fill buffers; 0: there is no buffer.
        occupied: part of the warps that an SM can hold.
        branch_eff: equation 7.
        skewed: whether there are blocks enough for equation 5 to say anything.
    """
    return Factors(
        data_reuse=bytes_reused / counted.bytes_buffered if fetches else 1.0,
        lat_hiding=min(occupied, ENOUGH) / ENOUGH * sqrt(max(fetches, 1)),
        bw_util=counted.bytes_requested / counted.bytes_moved if counted.bytes_moved else 1.0,
        ch_skew=channel_skew(counted) if skewed else 1.0,
        branch_eff=branch_eff,
        shm_eff=counted.shared / counted.passes if counted.passes else 1.0,
        counted=counted,
    )


def first_blocks(gpu: GPU, resident: int, wide: int, element_bytes: int) -> int:
    """Blocks whose accesses would use all channels at first (equation 4).

    Args:
        resident: blocks that one SM holds.
        wide: threads of a block along x.
        element_bytes: of the widest element of an array.
    """
    pieces = gpu.dram.interleave_bytes / (wide * element_bytes)
    return max(int(gpu.dram.channels * min(resident, pieces)), 1)


def channel_skew(counted: CountedAccesses) -> float:
    """Equation 5. All on one channel is as bad as there are channels; even use of several is no skew."""
    blocks = counted.touched.sum(axis=0)
    used = blocks[blocks > 0]
    if not len(used):
        return 1.0
    if len(used) == 1:
        return float(len(blocks))
    return float(used.max() / used.min())
