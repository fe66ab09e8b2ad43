"""Product of two square matrices: one element a thread, from global memory (naive) or through shared tiles (tiled).

The two versions of the CUDA C++ Programming Guide, section "Shared Memory", with blocks of any shape as in
Torres et al., HPCS 2011, section V.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def naive_product(t: Thread, a, b, c, n, unroll):
    row = t.block_idx.y * t.block_dim.y + t.thread_idx.y
    column = t.block_idx.x * t.block_dim.x + t.thread_idx.x
    total = t.var(0.0)
    for first in t.range(0, n, unroll):
        factors = [(a[row, k], b[k, column]) for k in range(first, first + unroll)]
        for of_a, of_b in factors:
            total += of_a * of_b
    c[row, column] = total


def tiled_product(t: Thread, a, b, c, n, depth, unroll):
    """Tiles of A are as high as the block, those of B as wide, both ``depth`` deep: a thread fills one element."""
    rows, columns = t.block_dim.y, t.block_dim.x
    a_tile = t.shared((rows, depth), a.dtype)
    b_tile = t.shared((depth, columns), b.dtype)
    x, y = t.thread_idx.x, t.thread_idx.y
    row, column = t.block_idx.y * rows + y, t.block_idx.x * columns + x
    total = t.var(0.0)
    for start in t.range(0, n, depth):
        with t.where(x < depth):
            a_tile[y, x] = a[row, start + x]
        with t.where(y < depth):
            b_tile[y, x] = b[start + y, column]
        t.sync()
        for first in range(0, depth, unroll):
            factors = [(a_tile[y, k], b_tile[k, x]) for k in range(first, first + unroll)]
            for of_a, of_b in factors:
                total += of_a * of_b
        t.sync()
    c[row, column] = total


@workload(choices={"variant": ..., "rows": (4, 8, 16, 32), "columns": (4, 8, 16, 32)})
def matmul(
    n: int = 256,
    variant: Literal["naive", "tiled"] = "naive",
    rows: int = 16,
    columns: int = 16,
    unroll: int = 1,
    dtype: Literal["float32", "float64"] = "float32",
    data_seed: int = 1,
) -> Launch:
    """``n`` rows and columns; blocks of ``rows`` x ``columns`` threads that divide ``n``.

    The loads of ``unroll`` products are under way at a time, a divisor of what the loop goes over: ``n``, or a tile's
    depth, the lesser of ``rows`` and ``columns``. On its own nvcc unrolls the former by 4, the latter whole.
    """
    if rows < 1 or columns < 1 or n < 1 or n % rows or n % columns:
        raise ValueError(f"blocks of {rows} x {columns} do not divide a matrix of {n} x {n}; give divisors of n")
    depth = n if variant == "naive" else min(rows, columns)
    if unroll < 1 or depth % unroll:
        raise ValueError(f"unroll is {unroll}; give a divisor of {depth}")
    rng = np.random.default_rng(data_seed)
    a, b = rng.random((2, n, n), np.dtype(dtype).type)
    arguments = dict(a=a, b=b, c=np.zeros_like(a), n=n, unroll=unroll)
    if variant == "tiled":
        arguments["depth"] = depth
    return Launch(
        naive_product if variant == "naive" else tiled_product,
        grid=(n // columns, n // rows),
        block=(columns, rows),
        arguments=arguments,
        registers=22,
        expected=lambda: {"c": a @ b},
    )
