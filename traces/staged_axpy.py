"""y = alpha x + y through shared memory: loaded and stored there, or copied past the registers.

CUDAMicroBench's GSOverlap (Yi et al., LLVM-HPC workshop 2021, section IV.D). ``async`` needs compute capability 8.0.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def staged(t: Thread, x, y, alpha):
    tid, i = t.thread_idx.x, t.global_id
    x_tile = t.shared(t.block_dim.x, x.dtype)
    y_tile = t.shared(t.block_dim.x, y.dtype)
    x_tile[tid] = x[i]
    y_tile[tid] = y[i]
    t.sync()
    y[i] = alpha * x_tile[tid] + y_tile[tid]


def copied(t: Thread, x, y, alpha):
    tid, i = t.thread_idx.x, t.global_id
    x_tile = t.shared(t.block_dim.x, x.dtype)
    y_tile = t.shared(t.block_dim.x, y.dtype)
    x_tile.copy_async(tid, x, i)
    y_tile.copy_async(tid, y, i)
    t.sync()
    y[i] = alpha * x_tile[tid] + y_tile[tid]


@workload
def staged_axpy(
    n: int = 1 << 20,
    variant: Literal["staged", "async"] = "staged",
    alpha: float = 2.5,
    block: int = 256,
    dtype: Literal["float32", "float64"] = "float32",
    data_seed: int = 1,
) -> Launch:
    """Vectors of ``n`` random numbers, a multiple of ``block``."""
    if n % block:
        raise ValueError(f"n is {n}; give a multiple of block, {block}")
    x, y = np.random.default_rng(data_seed).random((2, n), np.dtype(dtype).type)
    result = x.dtype.type(alpha) * x + y
    return Launch(
        staged if variant == "staged" else copied,
        grid=n // block,
        block=block,
        arguments=dict(x=x, y=y, alpha=alpha),
        registers=12,
        expected=lambda: {"y": result},
    )
