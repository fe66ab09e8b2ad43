"""What the MWP/CWP model wants to know of a kernel, counted in its trace."""

from __future__ import annotations

from dataclasses import dataclass
from tempfile import TemporaryDirectory

import numpy as np

from memsim.config import GPU
from memsim.trace.bits import popcounts
from memsim.trace.coalesce import coalesce
from memsim.trace.coalescing_rules import make_rules
from memsim.trace.ideal import least_transactions
from memsim.trace.info import count
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP, Space


@dataclass(frozen=True)
class Counts:
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


def count_instructions(trace: Trace, gpu: GPU) -> Counts:
    """Coalesce a trace for a GPU and count.

    Raises:
        InputError: a trace that the GPU cannot run (see :func:`memsim.trace.coalesce.coalesce`).
    """
    sizes = count(trace.chunks(), len(trace.ops))
    space = np.array([op.space for op in trace.ops], np.int64)
    off_chip = np.isin(space, (Space.global_, Space.local, Space.texture))
    totals = _memory_totals(trace, gpu, off_chip)
    return Counts(
        warps=trace.n_warps,
        gap_insts=sizes.gap_instructions,
        on_chip_insts=int(sizes.memory_instructions[~off_chip].sum()),
        barriers=sizes.barriers,
        coal_mem_insts=int(totals[1, 0]),
        uncoal_mem_insts=int(totals[0, 0]),
        coal_transactions=int(totals[1, 1]),
        uncoal_transactions=int(totals[0, 1]),
        bytes=int(totals[:, 2].sum()),
    )


def _memory_totals(trace: Trace, gpu: GPU, off_chip: np.ndarray) -> np.ndarray:
    """Instructions, transactions and bytes that go off chip: i8 [uncoalesced or coalesced, 3]."""
    rules, width = make_rules(trace.ops, gpu), np.array([op.width for op in trace.ops], np.int64)
    totals = np.zeros((2, 3), np.int64)
    with TemporaryDirectory(prefix="memsim-") as folder:
        made = coalesce(trace, gpu, folder).instructions["count"]
        first = 0
        for chunk in trace.chunks():
            transactions = made[first : first + len(chunk.op)]
            first += len(chunk.op)
            chosen = np.flatnonzero(chunk.op != NO_OP)
            chosen = chosen[off_chip[chunk.op[chosen]]]
            op, mask = chunk.op[chosen], chunk.mask[chosen]
            coalesced = (transactions[chosen] <= least_transactions(rules, op, mask)).astype(np.int64)
            for column, values in enumerate((None, transactions[chosen], popcounts(mask) * width[op])):
                totals[:, column] += np.bincount(coalesced, weights=values, minlength=2).astype(np.int64)
    return totals
