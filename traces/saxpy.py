"""y = alpha x + y: nothing but streaming. Elements go to threads in one of three ways.

``each``: one element a thread. ``block`` and ``cyclic``: few threads and a loop, in which a thread takes neighbouring
elements or every so many-th (Yi et al., CUDAMicroBench, LLVM-HPC workshop 2021, figure 8). With an ``offset`` a warp's
elements do not begin where a line does (its figure 10).
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def axpy(t: Thread, x, y, alpha, n, offset):
    i = t.global_id + offset
    with t.where(i < n):
        y[i] = alpha * x[i] + y[i]


def axpy_block(t: Thread, x, y, alpha, n):
    share = n // (t.grid_dim.x * t.block_dim.x)
    first = t.global_id * share
    for k in t.range(share):
        y[first + k] = alpha * x[first + k] + y[first + k]


def axpy_cyclic(t: Thread, x, y, alpha, n):
    for j in t.range(t.global_id, n, t.grid_dim.x * t.block_dim.x):
        y[j] = alpha * x[j] + y[j]


@workload
def saxpy(
    n: int = 1 << 20,
    alpha: float = 2.5,
    block: int = 256,
    variant: Literal["each", "block", "cyclic"] = "each",
    grid: int = 1024,
    offset: int = 0,
    dtype: Literal["float32", "float64"] = "float32",
    data_seed: int = 1,
) -> Launch:
    """Vectors of ``n`` random numbers; ``grid`` blocks where threads loop, ``block`` without the last uneven share."""
    rng = np.random.default_rng(data_seed)
    x, y = rng.random((2, n), np.dtype(dtype).type)
    arguments = dict(x=x, y=y, alpha=alpha, n=n)
    if variant == "each":
        arguments["offset"] = offset
    done = slice(offset, n - n % (grid * block) if variant == "block" else n)
    result = y.copy()
    result[done] += x.dtype.type(alpha) * x[done]
    return Launch(
        dict(each=axpy, block=axpy_block, cyclic=axpy_cyclic)[variant],
        grid=-(-n // block) if variant == "each" else grid,
        block=block,
        arguments=arguments,
        registers=10,
        expected=lambda: {"y": result},
    )
