"""Product of two square matrices: one element a thread, from global memory (naive) or through shared tiles (tiled).

The two versions of the CUDA C++ Programming Guide, section "Shared Memory".
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

TILE = 16


def naive_product(t: Thread, a, b, c, n):
    row = t.block_idx.y * TILE + t.thread_idx.y
    column = t.block_idx.x * TILE + t.thread_idx.x
    total = t.var(0.0)
    for k in t.range(n):
        total += a[row, k] * b[k, column]
    c[row, column] = total


def tiled_product(t: Thread, a, b, c, n):
    a_tile = t.shared((TILE, TILE))
    b_tile = t.shared((TILE, TILE))
    x, y = t.thread_idx.x, t.thread_idx.y
    row, column = t.block_idx.y * TILE + y, t.block_idx.x * TILE + x
    total = t.var(0.0)
    for start in t.range(0, n, TILE):
        a_tile[y, x] = a[row, start + x]
        b_tile[y, x] = b[start + y, column]
        t.sync()
        for k in range(TILE):
            total += a_tile[y, k] * b_tile[k, x]
        t.sync()
    c[row, column] = total


@workload
def matmul(n: int = 256, variant: Literal["naive", "tiled"] = "naive", data_seed: int = 1) -> Launch:
    """``n`` rows and columns of float32, a multiple of 16."""
    if n < TILE or n % TILE:
        raise ValueError(f"n is {n}; give a multiple of {TILE}")
    rng = np.random.default_rng(data_seed)
    a, b = rng.random((2, n, n), np.float32)
    return Launch(
        naive_product if variant == "naive" else tiled_product,
        grid=(n // TILE, n // TILE),
        block=(TILE, TILE),
        arguments=dict(a=a, b=b, c=np.zeros_like(a), n=n),
        registers=22,
        expected=lambda: {"c": a @ b},
    )
