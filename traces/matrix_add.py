"""C = A + B, one element a thread, with blocks of any shape (Torres et al., HPCS 2011, section V)."""

import numpy as np

from memsim import Launch, Thread, workload


def add(t: Thread, a, b, c):
    row = t.block_idx.y * t.block_dim.y + t.thread_idx.y
    column = t.block_idx.x * t.block_dim.x + t.thread_idx.x
    c[row, column] = a[row, column] + b[row, column]


@workload
def matrix_add(n: int = 2048, rows: int = 8, columns: int = 32, data_seed: int = 1) -> Launch:
    """``n`` x ``n`` int32 (the paper has 6144); blocks of ``rows`` x ``columns`` threads that divide ``n``."""
    if rows < 1 or columns < 1 or n < 1 or n % rows or n % columns:
        raise ValueError(f"blocks of {rows} x {columns} do not divide a matrix of {n} x {n}; give divisors of n")
    a, b = np.random.default_rng(data_seed).integers(0, 1000, (2, n, n), np.int32)
    return Launch(
        add,
        grid=(n // columns, n // rows),
        block=(columns, rows),
        arguments=dict(a=a, b=b, c=np.zeros_like(a)),
        registers=12,
        expected=lambda: {"c": a + b},
    )
