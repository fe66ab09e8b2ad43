"""The log of one batch of blocks: instructions in the order of execution, then sorted by warp."""

from __future__ import annotations

import numpy as np

from memsim.sources.rows import ROW, WIDE_ROW, count_rows, sort_addresses, sort_rows
from memsim.trace.schema import ADDRESS_DTYPE, Chunk, instruction_columns


class BatchLog:
    """Rows and explicit addresses, growing; ``cursor`` counts both and is advanced by the compiled loops."""

    def __init__(self, warp_size: int = 32) -> None:
        self._columns = instruction_columns(warp_size)
        self.rows = np.empty(1 << 12, ROW if warp_size <= 32 else WIDE_ROW)
        self.addresses = np.empty(1 << 16, ADDRESS_DTYPE)
        self.cursor = np.zeros(2, np.int64)

    def reserve(self, rows: int, addresses: int) -> None:
        """Make room for so many more rows and addresses."""
        n_rows, n_addresses = map(int, self.cursor)
        if n_rows + rows > len(self.rows):
            self.rows = _grown(self.rows, n_rows, n_rows + rows)
        if n_addresses + addresses > len(self.addresses):
            self.addresses = _grown(self.addresses, n_addresses, n_addresses + addresses)

    @property
    def n_bytes(self) -> int:
        """Bytes that the rows and addresses logged so far take."""
        return int(self.cursor[0] * self.rows.itemsize + self.cursor[1] * self.addresses.itemsize)

    def clear(self) -> None:
        """Forget the rows and addresses; their room is kept for the next batch."""
        self.cursor[:] = 0

    def sorted_by_warp(self, n_warps: int, first_warp: int) -> Chunk:
        """The log as a chunk of a trace, whose warps are numbered from ``first_warp``."""
        n_rows, n_addresses = self.cursor
        rows = self.rows[:n_rows]
        first_instruction, first_address = np.zeros((2, n_warps + 1), np.int64)
        count_rows(rows, first_instruction, first_address)
        columns = {name: np.empty(n_rows, dtype) for name, dtype in self._columns.items()}
        sort_rows(rows, first_instruction.copy(), tuple(columns.values()))
        addresses = np.empty(n_addresses, ADDRESS_DTYPE)
        sort_addresses(rows, self.addresses, first_address.copy(), addresses)
        warps = range(first_warp, first_warp + n_warps)
        return Chunk(warps, first_instruction, first_address, addresses=addresses, **columns)


def _grown(array: np.ndarray, used: int, needed: int) -> np.ndarray:
    larger = np.empty(max(needed, 2 * len(array)), array.dtype)
    larger[:used] = array[:used]
    return larger
