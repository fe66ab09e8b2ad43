"""Counts in a trace what the MWP/CWP model needs of its kernel."""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU
from memsim.models.kernel_counts import TraceCounts
from memsim.support.scratch import Scratch
from memsim.trace.coalesce import coalesce
from memsim.trace.coalescing_rules import make_rules
from memsim.trace.ideal import split_by_coalescing
from memsim.trace.info import count
from memsim.trace.reader import Trace
from memsim.trace.schema import Space


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
        non_memory_insts=sizes.compute_instructions,
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
