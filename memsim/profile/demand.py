"""What each static instruction asks for: how scattered, how often again, in how many passes."""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU
from memsim.jit.compiled import loop
from memsim.trace.bits import popcount
from memsim.trace.coalescing_rules import SECTOR_BYTES, make_rules
from memsim.trace.ideal import split_by_coalescing
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP, Space, StaticInstruction
from memsim.trace.transactions import Transactions

_BANK_BYTES = 4
# Columns of the loop's table.
_INSTRUCTIONS, _TRANSACTIONS, _SECTORS, _FIRST, _FIRST_OF_BLOCK, _PASSES, _WAVEFRONTS, _PARTIAL = range(8)

Columns = dict[str, np.ndarray]


def demand(trace: Trace, tx: Transactions, gpu: GPU) -> Columns:
    """Count by static instruction: i8 [n_ops] by name of a field of OpProfile.

    It walks once over the transactions and once over the trace.
    """
    return requested(tx) | _of_lanes(trace, tx, gpu)


def requested(tx: Transactions) -> Columns:
    """What follows from the transactions alone, in one walk over them: i8 [n_ops] by name of a field of OpProfile."""
    table = np.zeros((tx.n_ops, 8), np.int64)
    seen, of_block = np.zeros((2, len(tx.line_address)), np.uint8)
    _walk(tx.instructions, tx.lines, tx.masks, tx.partial, tx.first_instruction[tx.first_warp], seen, of_block,
          np.full(len(seen), -1, np.int32), table)  # fmt: skip
    return {
        "instructions": table[:, _INSTRUCTIONS],
        "transactions": table[:, _TRANSACTIONS],
        "sectors": table[:, _SECTORS],
        "first_sectors": table[:, _FIRST],
        "block_sectors": table[:, _FIRST_OF_BLOCK],
        "passes": table[:, _PASSES],
        "wavefronts": table[:, _WAVEFRONTS],
        "partial_sectors": table[:, _PARTIAL],
    }


def _of_lanes(trace: Trace, tx: Transactions, gpu: GPU) -> Columns:
    """What follows only from the lanes."""
    n_ops = len(trace.ops)
    found, split = np.zeros((3, n_ops), np.int64), np.zeros((2, n_ops), np.int64)
    width = np.array([op.width for op in trace.ops], np.int64)
    on_chip = np.array([_on_chip(op) for op in trace.ops], bool)
    rules, done = make_rules(trace.ops, gpu, trace.arrays), 0
    for chunk in trace.chunks():
        _count_lanes(chunk.op, chunk.mask, width, on_chip, gpu.architecture.shared_banks * _BANK_BYTES, found)
        counts = tx.instructions["count"][done : done + len(chunk.op)]
        done += len(chunk.op)
        split += split_by_coalescing(rules, chunk.op, chunk.mask, counts)[:, 1]
    return {
        "lanes": found[0],
        "least_sectors": found[1],
        "least_passes": found[2],
        "coalesced": np.where(on_chip, 0, split[0]),
        "coalesced_transactions": np.where(on_chip, 0, split[1]),
    }


def _on_chip(op: StaticInstruction) -> bool:
    return op.space in (Space.shared, Space.constant)


@loop
def _count_lanes(op, mask, width, on_chip, row_bytes, found):
    """Add the active lanes of every access, the sectors that they need at least, and the passes."""
    for i in range(len(op)):
        if op[i] == NO_OP:
            continue
        number = np.int64(op[i])
        active = np.int64(popcount(mask[i]))
        nbytes = active * width[number]
        found[0, number] += active
        if on_chip[number]:
            found[2, number] += (nbytes + row_bytes - 1) // row_bytes
        else:
            found[1, number] += (nbytes + SECTOR_BYTES - 1) // SECTOR_BYTES


@loop
def _walk(instructions, lines, masks, partial, first_of_block, seen, of_block, block_of, table):
    """Block after block; `seen` are sectors of a line asked for by any block, `of_block` by the one in `block_of`."""
    for block in range(len(first_of_block) - 1):
        for number in range(first_of_block[block], first_of_block[block + 1]):
            instruction = instructions[number]
            op = np.int64(instruction["op"])
            if op >= len(table):
                continue  # a barrier
            table[op, _INSTRUCTIONS] += 1
            table[op, _PASSES] += np.int64(instruction["slots"])
            table[op, _WAVEFRONTS] += np.int64(instruction["wavefronts"])
            count = np.int64(instruction["count"])
            table[op, _TRANSACTIONS] += count
            for k in range(instruction["first"], instruction["first"] + count):
                line, mask = lines[k], np.int64(masks[k])
                if block_of[line] != block:
                    block_of[line] = block
                    of_block[line] = 0
                table[op, _SECTORS] += popcount(mask)
                table[op, _PARTIAL] += popcount(partial[k])
                table[op, _FIRST] += popcount(mask & ~np.int64(seen[line]))
                table[op, _FIRST_OF_BLOCK] += popcount(mask & ~np.int64(of_block[line]))
                seen[line] |= np.uint8(mask)
                of_block[line] |= np.uint8(mask)
