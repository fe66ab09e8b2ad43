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
    begins = chunk.first_instruction[warps.start : warps.stop + 1].astype(np.int64)
    rows = np.arange(begins[0], begins[-1])
    flags = chunk.flags[rows]
    if (flags & (Flag.arrives | Flag.awaits)).any():
        return None
    passed = np.cumsum((flags & Flag.barrier) != 0)
    before = np.concatenate([[0], passed])[begins - begins[0]]
    if len(np.unique(np.diff(before))) > 1:
        return None
    warp = np.repeat(np.arange(len(warps)), np.diff(begins))
    access = chunk.op[rows] != NO_OP
    access[access] = kinds[chunk.op[rows[access]]] >= 0
    if not access.any():
        return set()
    interval = passed - before[warp]
    return _pairs(_bytes(chunk, rows[access], interval[access], warp[access], widths), kinds)


def _bytes(chunk: Chunk, rows: np.ndarray, interval: np.ndarray, warp: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """A row for each byte that accesses touch, once per warp and op, ascending: interval, byte, warp, op."""
    addresses, ops = lane_addresses(chunk, rows), chunk.op[rows].astype(np.int64)
    active = addresses != IDLE
    touched = addresses[active]
    if not len(touched):
        return np.empty((0, 4), np.int64)
    low, warps, per_warp = touched.min(), warp.max() + 1, len(widths)  # one number holds all four: quick to sort
    span = touched.max() + widths.max() - low
    of_row = (interval * span * warps + warp) * per_warp + ops
    found = []
    for width in np.unique(widths[ops]):
        chosen = active & (widths[ops] == width)[:, None]
        first = of_row[chosen.nonzero()[0]] + (addresses[chosen] - low) * warps * per_warp
        found.append((first[:, None] + np.arange(width) * warps * per_warp).reshape(-1))
    rest, op = np.divmod(np.unique(np.concatenate(found)), per_warp)
    rest, its_warp = np.divmod(rest, warps)
    return np.stack([*np.divmod(rest, span), its_warp, op], axis=1)


def _pairs(rows: np.ndarray, kinds: np.ndarray) -> set[tuple[int, int]]:
    """Pairs of ops that touch a byte in the same interval from different warps, at least one as a store.

    Args:
        rows: of :func:`_bytes`.
        kinds: of the ops.
    """
    if not len(rows):
        return set()
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
