"""The order in which a GPU would take a trace's instructions if no access took longer than another.

A block goes to an SM as in a replay: breadth-first, then to the slot that is free. In a turn, every warp that is
resident executes one instruction. The first blocks do not begin together, but spread over the length of a warp: as in a
replay (Baghsorkhi 2012, section 3.2.1) they would otherwise all do the same thing at the same time. This is the order
of Nugteren et al., A Detailed GPU Cache Model Based on Reuse Distance Theory (HPCA 2014), without its latencies: what
is profiled in it is a property of the program and of the GPU's sizes, the same for every trial.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.jit.compiled import loop
from memsim.trace.transactions import Transactions

MOST_TRANSACTIONS = 1 << 22  # of a trace with more, so many are profiled
_LATEST = 256  # turns after which all first blocks have begun
_GOLDEN = (5**0.5 - 1) / 2  # its multiples, less their whole parts, are spread evenly


@dataclass(frozen=True)
class Order:
    """Instructions as they are taken.

    Attributes:
        instructions: u4 [n], rows of ``Transactions.instructions``.
        sms: u2 [n], the SM that executes each.
        begins: u1 [n], 1 where a turn begins.
    """

    instructions: np.ndarray
    sms: np.ndarray
    begins: np.ndarray


def interleaved(tx: Transactions, sms: int, resident: int, most: int = MOST_TRANSACTIONS) -> Order:
    """Take the instructions of a trace in turns.

    Args:
        tx: the coalesced trace.
        sms: of the GPU.
        resident: blocks that one SM holds.
        most: transactions; the order ends with the turn in which there are as many, or as many instructions.
    """
    blocks = len(tx.first_warp) - 1
    slots = min(sms * resident, blocks)
    rows = len(tx.instructions)
    n = min(rows, most + slots * tx.warps_per_block)
    spread = min(_LATEST, rows // max(1, len(tx.first_instruction) - 1))
    delay = (np.arange(slots) * _GOLDEN % 1 * spread).astype(np.int64)
    order = Order(np.empty(n, np.uint32), np.empty(n, np.uint16), np.zeros(n, np.uint8))
    taken = _interleave(
        tx.instructions, tx.first_warp, tx.first_instruction, np.array(tx.first_instruction[:-1]), np.arange(slots),
        delay, sms, most, order.instructions, order.sms, order.begins,
    )  # fmt: skip
    return Order(order.instructions[:taken], order.sms[:taken], order.begins[:taken])


@loop
def _interleave(rows, first_warp, first_instruction, position, block_in, delay, sms, most, instructions, of_sm,
                begins):  # fmt: skip
    """Fill the last three; `position` is every warp's next instruction, `block_in` the block that a slot holds,
    `delay` the turns until its first begins."""
    taken, waiting, blocks = 0, len(block_in), len(first_warp) - 1
    running, transactions = len(block_in), 0
    while running > 0 and taken < most and transactions < most:
        round_start = taken
        for slot in range(len(block_in)):
            block = block_in[slot]
            if block == blocks:
                continue
            if delay[slot] > 0:
                delay[slot] -= 1
                continue
            more = False
            for warp in range(first_warp[block], first_warp[block + 1]):
                at, end = position[warp], first_instruction[warp + 1]
                if at < end:
                    instructions[taken] = at
                    of_sm[taken] = slot % sms
                    transactions += rows[at]["count"]
                    taken += 1
                    position[warp] = at + 1
                    more |= at + 1 < end
            if not more:
                block_in[slot] = waiting
                if waiting < blocks:
                    waiting += 1
                else:
                    running -= 1
        if taken > round_start:
            begins[round_start] = 1
    return taken
