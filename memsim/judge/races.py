"""Races on shared memory: two warps of a block access a byte between the same two barriers, and one of them stores.

Accesses of different warps are ordered by the block's barriers alone (happens-before; CUDA C++ Programming Guide,
"Memory Fence Functions" and "Synchronization Functions"). Atomics do not race with each other. Lanes of one warp are
not compared: what orders them (``__syncwarp``, shuffles) is not in a trace.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.trace.lanes import IDLE, lane_addresses
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP, Chunk, Flag, OpKind, Space

MOST_BLOCKS = 16  # that are looked at: blocks of a kernel synchronize alike
_READ, _WRITE, _ATOMIC = range(3)
_KINDS = {OpKind.load: _READ, OpKind.store: _WRITE, OpKind.atomic: _ATOMIC, OpKind.reduction: _ATOMIC}


@dataclass(frozen=True)
class SharedRace:
    """Two static instructions that race.

    Attributes:
        first, second: numbers of the ops, ascending; the same where an op races with itself in another warp.
        blocks: of those looked at, in which they do.
    """

    first: int
    second: int
    blocks: int


def shared_races(trace: Trace, most_blocks: int = MOST_BLOCKS) -> tuple[list[SharedRace], str]:
    """The races of a trace's first blocks, and why blocks could not be judged; empty if all were.

    Blocks whose warps pass different numbers of barriers, or that use mbarriers, asynchronous copies or several
    barriers at a time, are left out: the trace does not say which accesses those order.
    """
    shared = [number for number, op in enumerate(trace.ops) if op.space == Space.shared]
    if not shared:
        return [], ""
    if any(trace.ops[number].async_copy for number in shared) or any(op.async_copy for op in trace.ops):
        return [], "races on shared memory are not looked for in kernels with asynchronous copies"
    found: dict[tuple[int, int], int] = {}
    looked_at, warps = 0, trace.launch.warps_per_block
    for chunk in trace.chunks():
        for block in range(len(chunk.warps) // warps):
            if looked_at == most_blocks:
                return _sorted(found), ""
            pairs = _of_block(trace, chunk, range(block * warps, (block + 1) * warps))
            if pairs is None:
                return _sorted(found), "races on shared memory are not looked for: not all warps pass the same barriers"
            for pair in pairs:
                found[pair] = found.get(pair, 0) + 1
            looked_at += 1
    return _sorted(found), ""


def _sorted(found: dict[tuple[int, int], int]) -> list[SharedRace]:
    return [SharedRace(first, second, blocks) for (first, second), blocks in sorted(found.items())]


def _of_block(trace: Trace, chunk: Chunk, warps: range) -> set[tuple[int, int]] | None:
    """Pairs of ops that race in a block; None where its barriers are not understood."""
    kinds = np.array([_KINDS[op.kind] if op.space == Space.shared else -1 for op in trace.ops])
    widths = np.array([op.width for op in trace.ops])
    chunks, counts = [], set()
    for warp in warps:
        rows = np.arange(chunk.first_instruction[warp], chunk.first_instruction[warp + 1])
        flags = chunk.flags[rows]
        if (flags & (Flag.arrives | Flag.awaits)).any():
            return None
        barriers = (flags & Flag.barrier) != 0
        counts.add(int(barriers.sum()))
        interval = np.cumsum(barriers)
        access = chunk.op[rows] != NO_OP
        access[access] = kinds[chunk.op[rows[access]]] >= 0
        if access.any():
            chunks.append(_bytes(chunk, rows[access], interval[access], warp, widths))
    if len(counts) > 1:
        return None
    return _pairs(np.concatenate(chunks), kinds) if chunks else set()


def _bytes(chunk: Chunk, rows: np.ndarray, interval: np.ndarray, warp: int, widths: np.ndarray) -> np.ndarray:
    """A row for each byte that a warp's accesses touch, once per op: interval, byte, warp, op."""
    addresses, ops = lane_addresses(chunk, rows), chunk.op[rows].astype(np.int64)
    found = []
    for width in np.unique(widths[ops]):
        chosen = widths[ops] == width
        touched = addresses[chosen][:, :, None] + np.arange(width)
        active = np.repeat((addresses[chosen] != IDLE)[:, :, None], width, axis=2)
        shape = touched.shape
        columns = [
            np.broadcast_to(interval[chosen][:, None, None], shape)[active],
            touched[active],
            np.full(int(active.sum()), warp),
            np.broadcast_to(ops[chosen][:, None, None], shape)[active],
        ]
        found.append(np.unique(np.stack(columns, axis=1), axis=0))
    return np.concatenate(found)


def _pairs(rows: np.ndarray, kinds: np.ndarray) -> set[tuple[int, int]]:
    """Pairs of ops that touch a byte in the same interval from different warps, at least one as a store."""
    rows = rows[np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], rows[:, 0]))]
    change = np.flatnonzero((np.diff(rows[:, :2], axis=0) != 0).any(axis=1)) + 1
    starts, stops = np.concatenate([[0], change]), np.concatenate([change, [len(rows)]])
    several = rows[starts, 2] != rows[stops - 1, 2]  # rows of a byte are sorted by warp
    pairs: set[tuple[int, int]] = set()
    known: set[bytes] = set()
    for start, stop in zip(starts[several], stops[several], strict=True):
        group = rows[start:stop, 2:]
        of = kinds[group[:, 1]]
        if not (of == _WRITE).any() and not ((of == _ATOMIC).any() and (of == _READ).any()):
            continue
        key = (group - [group[0, 0], 0]).tobytes()
        if key not in known:  # most bytes are accessed alike
            known.add(key)
            pairs |= _racing(group, kinds)
    return pairs


def _racing(group: np.ndarray, kinds: np.ndarray) -> set[tuple[int, int]]:
    found = set()
    for warp, op in group.tolist():
        for other_warp, other in group.tolist():
            its = {int(kinds[op]), int(kinds[other])}
            if warp < other_warp and its not in ({_READ}, {_ATOMIC}):
                found.add((min(op, other), max(op, other)))
    return found
