"""C = A + B with consecutive threads going down a column, the matrices read from global memory or through textures.

CUDAMicroBench's ReadOnlyMem in two dimensions (Yi et al., LLVM-HPC workshop 2021, section V.B). ``global``: all three
are accessed with a row between neighbouring threads. ``texture``: its ``tex2D(A, x, y)`` takes the column first, so the
reads go along a row (and the sum is that of the transposed matrices); the store is as before.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload
from memsim.sources import Texture


def add_global(t: Thread, a, b, c, n):
    x = t.block_idx.x * t.block_dim.x + t.thread_idx.x
    y = t.block_idx.y * t.block_dim.y + t.thread_idx.y
    i = x * n + y
    c[i] = a[i] + b[i]


def add_texture(t: Thread, a, b, c, n):
    x = t.block_idx.x * t.block_dim.x + t.thread_idx.x
    y = t.block_idx.y * t.block_dim.y + t.thread_idx.y
    texel = y * n + x
    c[x * n + y] = a[texel] + b[texel]


@workload
def texture_add(
    n: int = 1024, variant: Literal["global", "texture"] = "global", block: int = 16, data_seed: int = 1
) -> Launch:
    """``n`` x ``n`` float32; square blocks whose width divides ``n``."""
    if block < 1 or n < 1 or n % block:
        raise ValueError(f"blocks of {block} x {block} do not divide a matrix of {n} x {n}; give a divisor of n")
    a, b = np.random.default_rng(data_seed).random((2, n, n), np.float32)
    texture = variant == "texture"
    return Launch(
        add_texture if texture else add_global,
        grid=(n // block, n // block),
        block=(block, block),
        arguments=dict(a=Texture(a) if texture else a, b=Texture(b) if texture else b, c=np.zeros_like(a), n=n),
        registers=12,
        expected=lambda: {"c": (a + b).T if texture else a + b},
    )
