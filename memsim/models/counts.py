"""What the MWP/CWP model wants to know of a kernel, counted in its trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.gpu.config import GPU
from memsim.support.scratch import Scratch
from memsim.trace.coalesce import coalesce
from memsim.trace.coalescing_rules import make_rules
from memsim.trace.ideal import split_by_coalescing
from memsim.trace.info import count
from memsim.trace.reader import Trace
from memsim.trace.schema import Space


@dataclass(frozen=True)
class TraceCounts:
    """Sums over all traced warps.

    Attributes:
        warps: traced warps.
        gap_insts: instructions that access no memory.
        on_chip_insts: accesses to shared and constant memory.
        barriers: barriers, one a warp.
        coal_mem_insts: accesses to global and local memory with as few transactions as their active lanes allow.
        uncoal_mem_insts: all other accesses to global and local memory.
        coal_transactions, uncoal_transactions: what those make.
        bytes: that the lanes of both ask for.
    """

    warps: int
    gap_insts: int
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
        return self.gap_insts + self.on_chip_insts + self.barriers

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


def count_instructions(trace: Trace, gpu: GPU) -> TraceCounts:
    """Coalesce a trace for a GPU and count.

    Raises:
        InputError: a trace that the GPU cannot run (see :func:`memsim.trace.coalesce.coalesce`).
    """
    sizes = count(trace.chunks(), len(trace.ops))
    space = np.array([op.space for op in trace.ops], np.int64)
    width = np.array([op.width for op in trace.ops], np.int64)
    off_chip = np.isin(space, (Space.global_, Space.local, Space.texture))
    totals = _memory_totals(trace, gpu, off_chip)
    return TraceCounts(
        warps=trace.n_warps,
        gap_insts=sizes.gap_instructions,
        on_chip_insts=int(sizes.memory_instructions[~off_chip].sum()),
        barriers=sizes.barriers,
        coal_mem_insts=int(totals[0, 1]),
        uncoal_mem_insts=int(totals[0, 0]),
        coal_transactions=int(totals[1, 1]),
        uncoal_transactions=int(totals[1, 0]),
        bytes=int((sizes.lane_accesses * width)[off_chip].sum()),
    )


def _memory_totals(trace: Trace, gpu: GPU, off_chip: np.ndarray) -> np.ndarray:
    """Instructions and transactions that go off chip: i8 [instructions or transactions, uncoalesced or coalesced]."""
    rules = make_rules(trace.ops, gpu, trace.arrays)
    totals = np.zeros((2, 2, len(trace.ops)), np.int64)
    with Scratch() as folder:
        made = coalesce(trace, gpu, folder).instructions["count"]
        first = 0
        for chunk in trace.chunks():
            totals += split_by_coalescing(rules, chunk.op, chunk.mask, made[first : first + len(chunk.op)])
            first += len(chunk.op)
    return totals[..., off_chip].sum(axis=-1)
