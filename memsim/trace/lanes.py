"""Lanes' addresses as a matrix, a row an instruction: for what looks at lanes, or moves them, outside of loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.trace.bits import popcounts
from memsim.trace.schema import EXPLICIT, INSTRUCTION_DEFAULTS, NO_OP, Chunk

IDLE = -1  # the address of a lane that does not take part


def lanes_of(chunk: Chunk) -> int:
    """Columns of a matrix of lanes, LANES below: 32, or 64 of traces with wider warps."""
    return 8 * chunk.mask.itemsize


def no_lanes(chunk: Chunk, rows: np.ndarray) -> np.ndarray:
    """Of some instructions that make no access: i8 [rows, LANES], all IDLE."""
    return np.full((len(rows), lanes_of(chunk)), IDLE, np.int64)


def lane_addresses(chunk: Chunk, rows: np.ndarray) -> np.ndarray:
    """The addresses of some instructions' lanes, in bytes: i8 [rows, LANES], IDLE where a lane does not take part.

    Args:
        chunk: warps of a trace.
        rows: i8, of accesses in it.
    """
    lanes = np.arange(lanes_of(chunk), dtype=chunk.mask.dtype)
    active = (chunk.mask[rows, None] >> lanes & lanes[1]).astype(bool)
    rank = np.maximum(active.cumsum(axis=1) - 1, 0)
    stride = chunk.stride[rows].astype(np.int64)[:, None]
    along = lanes.astype(np.int64) - active.argmax(axis=1)[:, None]
    offset = np.where(stride == EXPLICIT, 0, stride * along)
    if len(chunk.addresses):
        first = _first_listed(chunk)[rows, None]
        listed = chunk.addresses[np.minimum(first + rank, len(chunk.addresses) - 1)].astype(np.int64)
        offset = np.where(stride == EXPLICIT, listed, offset)
    return np.where(active, chunk.base[rows].astype(np.int64)[:, None] + offset, IDLE)


def with_addresses(chunk: Chunk, rows: np.ndarray, addresses: np.ndarray) -> Chunk:
    """The chunk after lanes moved, fell idle or joined in.

    Args:
        chunk: warps of a trace.
        rows: i8, of accesses in it, ascending.
        addresses: i8 [rows, LANES], what :func:`lane_addresses` is to give for them; of an instruction of idle lanes
            alone, its compute run and what it waits for stay.
    """
    active = addresses != IDLE
    op, mask, base, stride = (getattr(chunk, name).copy() for name in ("op", "mask", "base", "stride"))
    bits = np.arange(lanes_of(chunk), dtype=mask.dtype)
    mask[rows] = (active.astype(mask.dtype) << bits).sum(axis=1, dtype=mask.dtype)
    lowest = np.where(active, addresses, np.iinfo(np.int64).max).min(axis=1)
    some = active.any(axis=1)
    op[rows[~some]] = NO_OP
    base[rows], stride[rows] = np.where(some, lowest, 0).astype(base.dtype), np.where(some, EXPLICIT, 0)
    listed = np.where(stride == EXPLICIT, popcounts(mask), 0)
    moved = np.zeros(len(mask), bool)
    moved[rows] = True
    of = np.repeat(moved, listed)
    offsets = np.zeros(int(listed.sum()), chunk.addresses.dtype)
    offsets[of] = (addresses - lowest[:, None])[active]
    offsets[~of] = chunk.addresses[~np.repeat(moved, _listed(chunk))]
    starts = np.concatenate([[0], listed.cumsum()])
    first_address = starts[chunk.first_instruction]
    return replace(chunk, op=op, mask=mask, base=base, stride=stride, addresses=offsets, first_address=first_address)


def without(chunk: Chunk, rows: np.ndarray) -> Chunk:
    """The chunk without some of its instructions: their rows are left, and cost nothing.

    Args:
        chunk: warps of a trace.
        rows: i8, ascending.
    """
    idle = with_addresses(chunk, rows, no_lanes(chunk, rows))
    inactive = {"flags": 0, "compute_run": 0, **INSTRUCTION_DEFAULTS}
    columns = {name: getattr(chunk, name).copy() for name in inactive}
    for name, values in columns.items():
        values[rows] = inactive[name]
    return replace(idle, **columns)


def _listed(chunk: Chunk) -> np.ndarray:
    """How many addresses each instruction has listed."""
    return np.where(chunk.stride == EXPLICIT, popcounts(chunk.mask), 0)


def _first_listed(chunk: Chunk) -> np.ndarray:
    counts = _listed(chunk)
    return counts.cumsum() - counts
