"""Matrix transpose: strided stores (naive), through shared memory (tiled), without its bank conflicts (padded), and
with tiles taken along diagonals, so that blocks that run together do not all write to one channel of memory (diagonal).

The steps of Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA" (NVIDIA, 2009).
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

TILE, ROWS = 32, 8  # a block moves a tile of 32 x 32 with 32 x 8 threads


def direct(t: Thread, a, b):
    column = t.block_idx.x * TILE + t.thread_idx.x
    row = t.block_idx.y * TILE + t.thread_idx.y
    for k in range(0, TILE, ROWS):
        b[column, row + k] = a[row + k, column]


def through_tile(t: Thread, a, b, pitch, diagonal):
    tile = t.shared((TILE, pitch), np.float32)
    x, y = t.thread_idx.x, t.thread_idx.y
    across, down = t.block_idx.x, t.block_idx.y
    if diagonal:
        across, down = (t.block_idx.x + t.block_idx.y) % t.grid_dim.x, t.block_idx.x
    for k in range(0, TILE, ROWS):
        tile[y + k, x] = a[down * TILE + y + k, across * TILE + x]
    t.sync()
    for k in range(0, TILE, ROWS):
        b[across * TILE + y + k, down * TILE + x] = tile[x, y + k]


@workload(choices={"variant": ...})
def transpose(
    n: int = 1024, variant: Literal["naive", "tiled", "padded", "diagonal"] = "naive", data_seed: int = 1
) -> Launch:
    """A square matrix of float32, ``n`` a multiple of 32."""
    if n < TILE or n % TILE:
        raise ValueError(f"n is {n}; give a multiple of {TILE}")
    a = np.random.default_rng(data_seed).random((n, n), np.float32)
    arguments = dict(a=a, b=np.zeros_like(a))
    if variant != "naive":
        arguments["pitch"] = TILE + (variant != "tiled")
        arguments["diagonal"] = variant == "diagonal"
    return Launch(
        direct if variant == "naive" else through_tile,
        grid=(n // TILE, n // TILE),
        block=(TILE, ROWS),
        arguments=arguments,
        registers=16,
        expected=lambda: {"b": a.T},
    )
