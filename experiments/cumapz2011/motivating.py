"""The motivating example of the paper (its section 3): a product of three neighbours, with one of them buffered."""

from __future__ import annotations

import numpy as np

from memsim.models.cumapz import Buffer, BufferFetch, CumapzProgram, Reference, Threads
from memsim.models.cumapz.program import Index

SIDE = 16  # of a block
MAX = 16384


def program(fetched: int | None, *, shared: str = "columns", stored: str = "rows", size: int = MAX) -> CumapzProgram:
    """One version.

    Args:
        fetched: what fills the buffer: ``row*MAX + col`` and so much; None: there is no buffer.
        shared: how the buffer is accessed: by "columns", by "rows", or by columns "padded" by one element a row.
        stored: how the result is stored: by "rows" or by "columns".
        size: MAX.
    """

    def at(offset: int, by_columns: bool = False) -> Index:
        def index(t: Threads) -> np.ndarray:
            row, column = t.by * SIDE + t.y, t.bx * SIDE + t.x
            return column * size + row if by_columns else row * size + column + offset

        return index

    def inside(t: Threads) -> np.ndarray:
        return t.bx * SIDE + t.x < size - 2

    def place(t: Threads) -> np.ndarray:
        return {"rows": t.y * SIDE + t.x, "columns": t.x * SIDE + t.y, "padded": t.x * (SIDE + 1) + t.y}[shared]

    # The buffer is filled before the bounds are looked at: the published counts of reuse are those of whole blocks.
    buffers = () if fetched is None else (Buffer("in", (BufferFetch(at(fetched), place),)),)
    return CumapzProgram(
        grid=(size // SIDE, size // SIDE),
        block=(SIDE, SIDE),
        references=(
            *(Reference("in", at(offset), inside) for offset in range(3)),
            Reference("out", at(0, stored == "columns"), inside, stored=True),
        ),
        buffers=buffers,
        registers=10,
        shared_bytes=4 * SIDE * (SIDE + (shared == "padded")) if buffers else 0,
        alike=size // SIDE,
    )
