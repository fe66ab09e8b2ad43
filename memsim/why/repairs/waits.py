"""Warps that wait less: for older loads, for no copy by way of registers, or for fewer shared accesses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.gpu.config import Dependence
from memsim.trace.lanes import IDLE, LANES, with_addresses, without
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP, NO_WAIT, Chunk, Flag
from memsim.why.repairs.compact import executions
from memsim.why.repairs.repair import Blocks, Change, Repair

AHEAD = 4  # loads
TOGETHER = 4  # shared accesses of which one is left


def loads_ahead() -> Repair:
    """A warp waits for loads four before those that it waits for now, as if a loop's next four were under way.

    What stands in front of an access whose address loaded data decides waits as before.
    """

    def made(trace: Trace) -> Change:
        by_count = trace.issue.dependence is Dependence.scoreboard
        return _later_counts if by_count else _fewer_sequences

    return Repair(f"{AHEAD} more loads of each warp under way", change=made)


def _later_counts(blocks: Blocks) -> Chunk:
    waits = blocks.chunk.wait_long
    later = np.minimum(waits.astype(np.int64) + AHEAD, NO_WAIT - 1)
    stays = (waits == NO_WAIT) | _decided_by_data(blocks)
    return replace(blocks.chunk, wait_long=np.where(stays, waits, later).astype(waits.dtype))


def _fewer_sequences(blocks: Blocks) -> Chunk:
    """One in so many sequences' starts stays."""
    starts = np.flatnonzero((blocks.chunk.flags & Flag.sequence != 0) & ~_decided_by_data(blocks))
    nth = executions(np.zeros(len(starts), np.int64), blocks.warp[starts])
    flags = blocks.chunk.flags.copy()
    flags[starts[nth % (1 + AHEAD) != 0]] &= ~np.uint8(Flag.sequence)
    return replace(blocks.chunk, flags=flags)


def _decided_by_data(blocks: Blocks) -> np.ndarray:
    """Whether each row is of an op whose base mostly moves on by another step than before, from one execution of a warp
    to the next: [rows]."""
    chunk = blocks.chunk
    order = np.lexsort((np.arange(len(chunk.op)), chunk.op, blocks.warp))
    op, warp = chunk.op[order], blocks.warp[order]
    again = (op[1:] == op[:-1]) & (warp[1:] == warp[:-1])
    step = np.diff(chunk.base[order].astype(np.int64))
    thrice = again[1:] & again[:-1] & (op[2:] != NO_OP)
    other = thrice & (step[1:] != step[:-1])
    counts = [np.bincount(op[2:][some], minlength=1 << 16) for some in (thrice, other)]
    return np.asarray((counts[1] > counts[0] / 2)[chunk.op])


def joined(ops: tuple[int, ...]) -> Repair:
    """One of four shared accesses of a warp by an op is made: those of results kept four at a time in registers."""

    def change(blocks: Blocks) -> Chunk:
        rows = blocks.rows_of(ops)
        nth = executions(blocks.chunk.op[rows].astype(np.int64), blocks.warp[rows])
        saved = rows[nth % TOGETHER != 0]
        return with_addresses(blocks.chunk, saved, np.full((len(saved), LANES), IDLE, np.int64))

    return Repair(f"one access to shared memory in the place of {TOGETHER}", change=lambda _: change)


def copied_directly(ops: tuple[int, ...]) -> Repair:
    """Stores to shared memory of what was loaded just before are left out; the next barrier waits for the loads."""

    def change(blocks: Blocks) -> Chunk:
        chunk = blocks.chunk
        copies = blocks.rows_of(ops)
        copies = copies[(chunk.flags[copies] & Flag.data != 0) & (chunk.gap[copies] == 0)]
        barriers = np.flatnonzero(chunk.flags & Flag.barrier)
        after = np.searchsorted(barriers, copies)
        waiting = barriers[np.unique(after[after < len(barriers)])]
        waits = chunk.wait_long.copy()
        waits[waiting] = 0
        return without(replace(chunk, wait_long=waits), copies)

    return Repair("copies to shared memory past the registers", change=lambda _: change)
