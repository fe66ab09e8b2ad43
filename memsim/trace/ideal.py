"""The fewest transactions that a warp's accesses could have made, had they been dense and aligned."""

from __future__ import annotations

import numpy as np

from memsim.trace.bits import popcounts
from memsim.trace.coalescing_rules import IN_ORDER, SECTOR_BYTES
from memsim.trace.schema import NO_OP

_IN_ORDER_BYTES = 128  # the largest transaction of 1.0 and 1.1
_MOST_LANES = 32  # of a group


def least_transactions(rules: np.ndarray, op: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Count, for every access, the transactions that its active lanes need at least.

    Args:
        rules: RULE records by static instruction, of global or local memory.
        op: u2 [n], static instructions.
        mask: u4 or u8 [n], active lanes.

    Returns:
        i8 [n].
    """
    lanes = np.uint64(1) << rules["lanes"].astype(np.uint64)  # of a group that is looked at together
    in_order = rules["rule"] == IN_ORDER
    width = rules["width"].astype(np.int64)
    segment = np.where(in_order, _IN_ORDER_BYTES, SECTOR_BYTES << rules["shift"].astype(np.int64))
    active = np.arange(_MOST_LANES + 1)
    # In order, a half-warp's segment is fetched whole.
    words = np.where(in_order[:, None] & (active > 0), 16, active)
    needed = -(-words * width[:, None] // segment[:, None])  # [op, active lanes of the group]
    every = (np.uint64(1) << lanes) - np.uint64(1)
    least = np.zeros(len(op), np.int64)
    bits = np.uint64(8 * mask.itemsize)
    for group in range(8 * mask.itemsize // 8):  # groups have 8, 16 or 32 lanes
        first = np.minimum(np.uint64(group) * lanes, bits)
        if (first == bits).all():
            break
        in_group = mask.astype(np.uint64) >> first[op] & every[op]
        least += needed[op, popcounts(in_group.astype(np.uint32))]
    return least


def split_by_coalescing(rules: np.ndarray, op: np.ndarray, mask: np.ndarray, transactions: np.ndarray) -> np.ndarray:
    """Memory instructions and transactions by static instruction: those with as few as their lanes allow, and others.

    Args:
        rules: RULE records by static instruction.
        op: u2 [n], static instructions, or NO_OP.
        mask: u4 or u8 [n], active lanes.
        transactions: [n], that each makes.

    Returns:
        i8 [instructions or transactions, uncoalesced or coalesced, n_ops]; of ops in shared or constant memory it
        means nothing.
    """
    chosen = np.flatnonzero(op != NO_OP)
    op, mask, transactions = op[chosen], mask[chosen], transactions[chosen]
    coalesced = (transactions <= least_transactions(rules, op, mask)).astype(np.int64)
    cell, n = coalesced * len(rules) + op, 2 * len(rules)
    sums = [np.bincount(cell, minlength=n), np.bincount(cell, weights=transactions, minlength=n)]
    return np.array(sums).astype(np.int64).reshape(2, 2, -1)
