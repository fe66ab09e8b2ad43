"""Transactions at random, for tests of what is counted in an order of theirs."""

from __future__ import annotations

import numpy as np

from memsim.trace.schema import NO_OP
from memsim.trace.transactions import INSTRUCTION, Transactions


def random_transactions(seed, n_ops=3, n_lines=40, blocks=7, longest=60):
    """Transactions of warps of random lengths, with an instruction in ten that accesses nothing."""
    rng = np.random.default_rng(seed)
    first_warp = np.concatenate([[0], np.cumsum(rng.integers(1, 4, blocks))])
    first_instruction = np.concatenate([[0], np.cumsum(rng.integers(1, longest, first_warp[-1]))])
    rows = np.zeros(first_instruction[-1], INSTRUCTION)
    rows["op"] = np.where(rng.random(len(rows)) < 0.1, NO_OP, rng.integers(0, n_ops, len(rows)))
    rows["count"] = np.where(rows["op"] == NO_OP, 0, rng.integers(0, 4, len(rows)))
    rows["first"] = np.cumsum(rows["count"]) - rows["count"]
    total = int(rows["count"].sum())
    lines, masks = rng.integers(0, n_lines, total).astype("u4"), rng.integers(1, 16, total).astype("u1")
    partial, addresses = np.zeros_like(masks), np.arange(n_lines, dtype="u8")
    return Transactions(rows, lines, masks, partial, addresses, first_instruction, first_warp, n_ops)
