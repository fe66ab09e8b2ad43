"""What each static op asks for, known before any replay: how scattered, how often again, in how many passes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.compiled import loop
from memsim.trace.bits import popcount
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP, Space, StaticOp
from memsim.trace.transactions import Transactions

_SECTOR_BYTES = 32
_BANK_ROW_BYTES = 128  # what a pass of 32 banks serves
# Columns of the loop's table.
_INSTRUCTIONS, _TRANSACTIONS, _SECTORS, _FIRST, _FIRST_OF_BLOCK, _PASSES = range(6)


@dataclass(frozen=True)
class OpProfile:
    """Sums over the traced warps.

    Attributes:
        instructions: warp instructions.
        lanes: active lanes of all of them.
        transactions: that they make at L1; 0 in shared memory.
        sectors: of 32 bytes, that those ask for.
        least_sectors: that would do if each instruction's lanes were dense and aligned.
        first_sectors: sectors that nothing asked for before, in the order of the trace.
        block_sectors: the same, each block by itself.
        passes: of the load-store unit, of an access to shared or constant memory.
        least_passes: that would do without bank conflicts.
    """

    instructions: int
    lanes: int
    transactions: int
    sectors: int
    least_sectors: int
    first_sectors: int
    block_sectors: int
    passes: int
    least_passes: int


def profile(trace: Trace, transactions: Transactions) -> list[OpProfile]:
    """Count, by static op, in one walk over the transactions and one over the trace."""
    lanes, least_sectors, least_passes = _lanes(trace)
    tx, n_lines = transactions, len(transactions.line_address)
    table = np.zeros((len(trace.ops), 6), np.int64)
    seen, of_block = np.zeros((2, n_lines), np.uint8)
    _walk(tx.instructions, tx.lines, tx.masks, tx.first_instruction[tx.first_warp], seen, of_block,
          np.full(n_lines, -1, np.int32), table)  # fmt: skip
    return [
        OpProfile(
            instructions=int(row[_INSTRUCTIONS]),
            lanes=int(lanes[op]),
            transactions=int(row[_TRANSACTIONS]),
            sectors=int(row[_SECTORS]),
            least_sectors=int(least_sectors[op]),
            first_sectors=int(row[_FIRST]),
            block_sectors=int(row[_FIRST_OF_BLOCK]),
            passes=int(row[_PASSES]),
            least_passes=int(least_passes[op]),
        )
        for op, row in enumerate(table)
    ]


def _lanes(trace: Trace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Active lanes, sectors and passes at least, i8 [n_ops] each."""
    found = np.zeros((3, len(trace.ops)), np.int64)
    width = np.array([op.width for op in trace.ops], np.int64)
    on_chip = np.array([_on_chip(op) for op in trace.ops], bool)
    for chunk in trace.chunks():
        _count_lanes(chunk.op, chunk.mask, width, on_chip, found)
    return found[0], found[1], found[2]


def _on_chip(op: StaticOp) -> bool:
    return op.space in (Space.shared, Space.constant)


@loop
def _count_lanes(op, mask, width, on_chip, found):
    """Add the active lanes of every access, the sectors that they need at least, and the passes."""
    for i in range(len(op)):
        if op[i] == NO_OP:
            continue
        number = np.int64(op[i])
        active = np.int64(popcount(mask[i]))
        nbytes = active * width[number]
        found[0, number] += active
        if on_chip[number]:
            found[2, number] += (nbytes + _BANK_ROW_BYTES - 1) // _BANK_ROW_BYTES
        else:
            found[1, number] += (nbytes + _SECTOR_BYTES - 1) // _SECTOR_BYTES


@loop
def _walk(instructions, lines, masks, first_of_block, seen, of_block, block_of, table):
    """Block after block; `seen` are sectors of a line asked for by any block, `of_block` by the one in `block_of`."""
    for block in range(len(first_of_block) - 1):
        for number in range(first_of_block[block], first_of_block[block + 1]):
            instruction = instructions[number]
            op = np.int64(instruction["op"])
            if op >= len(table):
                continue  # a barrier
            table[op, _INSTRUCTIONS] += 1
            table[op, _PASSES] += np.int64(instruction["slots"])
            count = np.int64(instruction["count"])
            table[op, _TRANSACTIONS] += count
            for k in range(instruction["first"], instruction["first"] + count):
                line, mask = lines[k], np.int64(masks[k])
                if block_of[line] != block:
                    block_of[line] = block
                    of_block[line] = 0
                table[op, _SECTORS] += popcount(mask)
                table[op, _FIRST] += popcount(mask & ~np.int64(seen[line]))
                table[op, _FIRST_OF_BLOCK] += popcount(mask & ~np.int64(of_block[line]))
                seen[line] |= np.uint8(mask)
                of_block[line] |= np.uint8(mask)
