"""Counts of a kernel's instructions, and what the MWP/CWP model makes of them."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.models.mwp_cwp import AnalyticKernel


@dataclass(frozen=True)
class TraceCounts:
    """Sums over all traced warps.

    Attributes:
        warps: traced warps.
        non_memory_insts: instructions that access no memory.
        on_chip_insts: accesses to shared and constant memory.
        barriers: barriers, one per warp.
        coal_mem_insts: accesses to global and local memory with as few transactions as their active lanes allow.
        uncoal_mem_insts: all other accesses to global and local memory.
        coal_transactions, uncoal_transactions: what those make.
        bytes: that the lanes of both ask for.
    """

    warps: int
    non_memory_insts: int
    on_chip_insts: int
    barriers: int
    coal_mem_insts: int
    uncoal_mem_insts: int
    coal_transactions: int
    uncoal_transactions: int
    bytes: int

    @property
    def comp_insts(self) -> int:
        """What the model calls computation: the latency of shared memory is near a register's (section 3.6)."""
        return self.non_memory_insts + self.on_chip_insts + self.barriers

    @property
    def mem_insts(self) -> int:
        return self.coal_mem_insts + self.uncoal_mem_insts

    @property
    def uncoal_per_mw(self) -> float:
        """Transactions of an uncoalesced memory instruction, mean; 1 when there is none."""
        return self.uncoal_transactions / self.uncoal_mem_insts if self.uncoal_mem_insts else 1.0

    @property
    def load_bytes_per_warp(self) -> float:
        """Bytes of a memory instruction, mean; 0 when there is none."""
        return self.bytes / self.mem_insts if self.mem_insts else 0.0


def kernel_of(counts: TraceCounts, warps_per_block: int, blocks: int, active_blocks_per_sm: int) -> AnalyticKernel:
    """A launch whose warps are all like the counted ones."""
    return AnalyticKernel(
        warps_per_block=warps_per_block,
        blocks=blocks,
        active_blocks_per_sm=active_blocks_per_sm,
        comp_insts=counts.comp_insts / counts.warps,
        coal_mem_insts=counts.coal_mem_insts / counts.warps,
        uncoal_mem_insts=counts.uncoal_mem_insts / counts.warps,
        uncoal_per_mw=counts.uncoal_per_mw,
        synch_insts=counts.barriers / counts.warps,
        load_bytes_per_warp=counts.load_bytes_per_warp,
    )
