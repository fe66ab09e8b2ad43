"""Data that a block hands to itself: through global memory, or from there into shared memory by way of registers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memsim.jit.compiled import loop
from memsim.profile.order import Order
from memsim.trace.bits import popcount
from memsim.trace.schema import Flag, OpKind, Space, StaticInstruction
from memsim.trace.transactions import Transactions


def read_back(tx: Transactions, order: Order) -> np.ndarray:
    """Sectors that loads ask for and whose first use, by anyone, was a store of the same block: i8 [n_ops]."""
    n_lines = len(tx.line_address)
    warps = np.searchsorted(tx.first_instruction, order.instructions, "right") - 1
    blocks = np.searchsorted(tx.first_warp, warps, "right") - 1
    found = np.zeros(tx.n_ops, np.int64)
    _read_back(tx.instructions, tx.lines, tx.masks, order.instructions, blocks, np.full(n_lines, -1, np.int64),
               *np.zeros((2, n_lines), np.uint8), found)  # fmt: skip
    return found


@loop
def _read_back(instructions, lines, masks, order, blocks, maker, made, seen, found):
    """`made` are the sectors of a line that block `maker` stored before anyone used them, `seen` those in use."""
    for k in range(len(order)):
        i = instructions[order[k]]
        op = np.int64(i["op"])
        if op >= len(found):
            continue
        for t in range(i["first"], i["first"] + i["count"]):
            line, mask = np.int64(lines[t]), np.int64(masks[t])
            if i["kind"] == OpKind.load and maker[line] == blocks[k]:
                found[op] += popcount(mask & made[line])
            elif i["kind"] == OpKind.store:
                if maker[line] != blocks[k]:
                    maker[line] = blocks[k]
                    made[line] = 0
                made[line] |= np.uint8(mask & ~np.int64(seen[line]))
            seen[line] |= np.uint8(mask)


def copied(ops: Sequence[StaticInstruction], tx: Transactions) -> np.ndarray:
    """Stores to shared memory of what was loaded just before, with no instruction between: i8 [n_ops]."""
    rows = tx.instructions
    shared = np.array([op.space is Space.shared and op.kind is OpKind.store for op in ops] + [False])
    of = np.minimum(rows["op"], len(ops))
    chosen = shared[of] & (rows["flags"] & Flag.data != 0) & (rows["compute_run"] == 0)
    return np.bincount(of[chosen], minlength=len(ops) + 1)[: len(ops)]
