"""Arrays laid out in the order in which warps first ask for them: what a change of layout can win at best.

Every element moves once, so what was shared stays shared and no more bytes are in use than before. Elements that the
lanes of one instruction ask for first lie side by side from a sector's border on; those of instructions that bring less
than a sector are packed.
"""

from __future__ import annotations

import numpy as np

from memsim.trace.coalescing_rules import SECTOR_BYTES
from memsim.trace.lanes import IDLE, lane_addresses, with_addresses
from memsim.trace.line_numbers import LineNumbers
from memsim.trace.reader import Trace
from memsim.trace.schema import ArrayInfo, Chunk
from memsim.why.transforms.transform import Blocks, Transform, read_blocks

_ALIGNMENT = 1 << 21  # bytes: new addresses begin at a multiple, after all arrays; a page of the largest in use
_REACH = 1 << 32  # bytes: lanes of an instruction lie less than so far apart


def lay_out_array(trace: Trace, ops: tuple[int, ...], name: str) -> Transform | None:
    """The arrays of some ops, in the order in which these ask for them; None: too large for a trace's lanes, or of
    accesses whose array is not known."""
    if any(trace.ops[op].array < 0 for op in ops):
        return None
    if _room(trace, ops) + sum(array.bytes for array in _arrays(trace, ops)) > _REACH:
        return None
    return Transform(
        f"{name} laid out in the order in which lanes request it", change=lambda trace: _Layout(trace, ops)
    )


def _arrays(trace: Trace, ops: tuple[int, ...]) -> list[ArrayInfo]:
    return [trace.arrays[number] for number in sorted({trace.ops[op].array for op in ops})]


def _room(trace: Trace, ops: tuple[int, ...]) -> int:
    """Bytes that elements take at most which begin at a sector's border: less than twice their own."""
    return -(-2 * sum(array.bytes for array in _arrays(trace, ops)) // _ALIGNMENT) * _ALIGNMENT


class _Layout:
    """New addresses of elements, learned from the ops that are remapped, then used for all ops of the arrays."""

    def __init__(self, trace: Trace, ops: tuple[int, ...]) -> None:
        arrays = {trace.ops[op].array for op in ops}
        every = [op for op, of in enumerate(trace.ops) if of.array in arrays]
        self._every = tuple(every)
        self._grain = min(trace.ops[op].width for op in ops)
        ends = max((array.base + array.bytes for array in trace.arrays), default=0)
        begin = -(-ends // _ALIGNMENT) * _ALIGNMENT
        self._addresses = _NewAddresses(begin, begin + _room(trace, ops), self._grain)
        for blocks in read_blocks(trace):
            self._addresses.of(self._elements(blocks, blocks.rows_of(ops))[0])

    def __call__(self, blocks: Blocks) -> Chunk:
        rows = blocks.rows_of(self._every)
        elements, addresses = self._elements(blocks, rows)
        moved = self._addresses.of(elements) + addresses % self._grain
        return with_addresses(blocks.chunk, rows, np.where(addresses == IDLE, IDLE, moved))

    def _elements(self, blocks: Blocks, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        addresses = lane_addresses(blocks.chunk, rows)
        return np.where(addresses == IDLE, IDLE, addresses // self._grain), addresses


class _NewAddresses:
    """Addresses of elements, assigned in order of first use.

    Args:
        aligned: the first address of those that begin at a sector's border.
        packed: the first address of the others.
        grain: bytes of an element.
    """

    def __init__(self, aligned: int, packed: int, grain: int) -> None:
        self._numbers, self._given = LineNumbers(), np.zeros(0, np.int64)
        self._aligned, self._packed, self._grain = aligned, packed, grain

    def of(self, elements: np.ndarray) -> np.ndarray:
        """Byte addresses, i8 [rows, LANES], of elements, i8 [rows, LANES]; anything for idle lanes."""
        active = elements != IDLE
        active_elements, row = elements[active], np.repeat(np.arange(len(elements)), active.sum(axis=1))
        before = self._numbers.count
        numbers, _ = self._numbers.number(active_elements)
        numbers = numbers.astype(np.int64)
        latest = np.maximum.accumulate(np.concatenate([[before - 1], numbers]))
        first = latest[1:] > latest[:-1]
        self._give(row[first], len(elements))
        addresses = np.full_like(elements, IDLE)
        addresses[active] = self._given[numbers]
        return addresses

    def _give(self, row: np.ndarray, n_rows: int) -> None:
        """Addresses for new elements; `row` says which instruction brings each, ascending."""
        nbytes = np.bincount(row, minlength=n_rows) * self._grain
        aligned = nbytes >= SECTOR_BYTES
        taken = np.where(aligned, -(-nbytes // SECTOR_BYTES) * SECTOR_BYTES, 0)
        packed = np.where(aligned, 0, nbytes)
        starts = np.where(aligned, self._aligned + taken.cumsum() - taken, self._packed + packed.cumsum() - packed)
        within = np.arange(len(row)) - np.searchsorted(row, row)
        self._given = np.concatenate([self._given, starts[row] + within * self._grain])
        self._aligned += int(taken.sum())
        self._packed += int(packed.sum())
