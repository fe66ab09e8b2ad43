"""What static ops ask for, against sets of sectors kept in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import memsim
from memsim.presets import load_gpu
from memsim.trace.coalesce import coalesce
from memsim.trace.profile import profile

GPU = load_gpu("tesla-v100")


def _by_sets(trace, tx):
    """first_sectors and block_sectors by op, from sets."""
    ops = len(trace.ops)
    ever, first, of_block = set(), [0] * ops, [0] * ops
    for block in range(trace.n_blocks):
        here = set()
        begin, end = tx.first_instruction[tx.first_warp[block : block + 2]]
        for row in tx.instructions[begin:end]:
            for k in range(row["first"], row["first"] + row["count"]):
                for sector in range(8):
                    if tx.masks[k] >> sector & 1:
                        place = int(tx.lines[k]), sector
                        first[row["op"]] += place not in ever
                        of_block[row["op"]] += place not in here
                        ever.add(place)
                        here.add(place)
    return first, of_block


@pytest.mark.parametrize(
    "name, parameters", [("spmv", dict(rows=512, nnz_per_row=7)), ("matmul", dict(n=32, variant="tiled"))]
)
def test_first_uses_are_those_of_sets(name, parameters):
    trace = memsim.trace(name, blocks="all", **parameters)
    transactions = coalesce(trace, GPU)
    found = profile(trace, transactions)
    first, of_block = _by_sets(trace, transactions)
    assert [op.first_sectors for op in found] == first
    assert [op.block_sectors for op in found] == of_block
    assert sum(op.transactions for op in found) == len(transactions.lines)
    assert sum(op.sectors for op in found) == int(np.unpackbits(transactions.masks).sum())
    assert sum(op.instructions for op in found) == trace.n_instructions - np.count_nonzero(
        transactions.instructions["op"] >= len(trace.ops)
    )


def test_scattered_lanes_conflicts_and_reuse_by_hand():
    def of(name, **parameters):
        trace = memsim.trace(name, blocks="all", **parameters)
        return {op.text: found for op, found in zip(trace.ops, profile(trace, coalesce(trace, GPU)), strict=True)}

    copy = of("saxpy", n=4096)["x[i]"]
    assert (copy.instructions, copy.lanes, copy.sectors, copy.least_sectors) == (128, 4096, 512, 512)
    apart = of("saxpy", n=1 << 18, variant="block", grid=64, block=128)["x[first + k]"]  # 32 floats a thread
    assert apart.sectors == 8 * apart.least_sectors and apart.block_sectors == apart.least_sectors
    transposed = of("transpose", n=64, variant="tiled")
    read = next(op for text, op in transposed.items() if text.startswith("tile[") and op.passes > op.instructions)
    assert read.passes == 32 * read.least_passes  # the textbook's 32-way conflict
