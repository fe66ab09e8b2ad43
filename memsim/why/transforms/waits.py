"""Warps that wait less: for older loads, for no copy by way of registers, or for fewer shared accesses."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from memsim.trace.lanes import no_lanes, with_addresses, without
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP, NO_WAIT, Chunk, Flag, KnownWaits, LoadClass
from memsim.trace.scoreboards import waits_for_long
from memsim.why.finding import MERGED_ACCESSES
from memsim.why.transforms.merged_branches import executions
from memsim.why.transforms.transform import Blocks, Change, Transform, read_blocks

AHEAD = 4  # loads


def load_ahead() -> Transform:
    """A warp waits for loads four before those that it waits for now, as if a loop's next four were under way.

    What stands in front of an access whose address loaded data decides waits as before, and so does a warp's first
    wait: nothing was under way before it.
    """

    def made(trace: Trace) -> Change:
        by_data = _decided_by_data(trace)
        if trace.issue.dependence is KnownWaits.control_code:
            is_long = np.zeros(NO_OP + 1, bool)
            is_long[: len(trace.ops)] = [op.load_class is LoadClass.long for op in trace.ops]
            return partial(_later_scoreboards, by_data, is_long)
        by_count = trace.issue.dependence is KnownWaits.scoreboard
        return partial(_later_counts if by_count else _fewer_sequences, by_data)

    return Transform(f"{AHEAD} more loads of each warp in flight", change=made)


def _later_counts(by_data: np.ndarray, blocks: Blocks) -> Chunk:
    later, stays = _later(by_data, blocks, blocks.chunk.wait_long)
    return replace(blocks.chunk, wait_long=np.where(stays, blocks.chunk.wait_long, later))


def _later_scoreboards(by_data: np.ndarray, is_long: np.ndarray, blocks: Blocks) -> Chunk:
    """Waits for scoreboards that loads from far have set become counts of such loads."""
    chunk = blocks.chunk
    waits, bits = waits_for_long(chunk, is_long[chunk.op])
    later, stays = _later(by_data, blocks, waits)
    return replace(
        chunk,
        wait_long=np.where(stays, chunk.wait_long, later),
        scoreboard_wait=np.where(stays, chunk.scoreboard_wait, chunk.scoreboard_wait & ~bits),
    )


def _later(by_data: np.ndarray, blocks: Blocks, waits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Waits for loads four before, u1, and which rows wait as they do."""
    later = np.minimum(waits.astype(np.int64) + AHEAD, NO_WAIT - 1).astype(waits.dtype)
    stays = (waits == NO_WAIT) | by_data[blocks.chunk.op]
    rows = np.flatnonzero(~stays)
    stays[rows[executions(np.zeros(len(rows), np.int64), blocks.warp[rows]) == 0]] = True
    return later, stays


def _fewer_sequences(by_data: np.ndarray, blocks: Blocks) -> Chunk:
    """One in so many sequences' starts stays."""
    starts = np.flatnonzero((blocks.chunk.flags & Flag.sequence != 0) & ~by_data[blocks.chunk.op])
    nth = executions(np.zeros(len(starts), np.int64), blocks.warp[starts])
    flags = blocks.chunk.flags.copy()
    flags[starts[nth % (1 + AHEAD) != 0]] &= ~np.uint8(Flag.sequence)
    return replace(blocks.chunk, flags=flags)


def _decided_by_data(trace: Trace) -> np.ndarray:
    """By the number of an op, NO_OP too, whether loaded data decide its address: as its source says, or as its base
    mostly moves on by another step than before, from one execution of a warp to the next."""
    executed, irregular = np.zeros((2, NO_OP + 1), np.int64)
    for blocks in read_blocks(trace):
        chunk = blocks.chunk
        order = np.lexsort((np.arange(len(chunk.op)), chunk.op, blocks.warp))
        op, warp = chunk.op[order], blocks.warp[order]
        again = (op[1:] == op[:-1]) & (warp[1:] == warp[:-1])
        step = np.diff(chunk.base[order].astype(np.int64))
        thrice = again[1:] & again[:-1] & (op[2:] != NO_OP)
        executed += np.bincount(op[2:][thrice], minlength=NO_OP + 1)
        irregular += np.bincount(op[2:][thrice & (step[1:] != step[:-1])], minlength=NO_OP + 1)
    waits_for_data = np.zeros(NO_OP + 1, bool)
    waits_for_data[: len(trace.ops)] = [op.by_data for op in trace.ops]
    return np.asarray(waits_for_data | (irregular > executed / 2))


def widen_accesses(ops: tuple[int, ...]) -> Transform:
    """One of four shared accesses of a warp by an op is made: those of results kept four at a time in registers."""

    def change(blocks: Blocks) -> Chunk:
        rows = blocks.rows_of(ops)
        nth = executions(blocks.chunk.op[rows].astype(np.int64), blocks.warp[rows])
        saved = rows[nth % MERGED_ACCESSES != 0]
        return with_addresses(blocks.chunk, saved, no_lanes(blocks.chunk, saved))

    return Transform(f"one shared-memory access instead of {MERGED_ACCESSES}", change=lambda _: change)


def copy_asynchronously(ops: tuple[int, ...]) -> Transform:
    """Stores to shared memory of what was loaded just before are left out; the next barrier waits for the loads."""

    def change(blocks: Blocks) -> Chunk:
        chunk = blocks.chunk
        copies = blocks.rows_of(ops)
        copies = copies[(chunk.flags[copies] & Flag.data != 0) & (chunk.compute_run[copies] == 0)]
        barriers = np.flatnonzero(chunk.flags & Flag.barrier)
        after = np.searchsorted(barriers, copies)
        copied, after = copies[after < len(barriers)], after[after < len(barriers)]
        own = blocks.warp[barriers[after]] == blocks.warp[copied]  # not of a warp behind
        waits = chunk.wait_long.copy()  # of machine code, too: its scoreboards count the same loads
        waits[barriers[after[own]]] = 0
        return without(replace(chunk, wait_long=waits), copies)

    return Transform("asynchronous copies to shared memory", change=lambda _: change)
