"""Sum of a vector: in every block a tree in shared memory (Harris, Optimizing Parallel Reduction in CUDA, NVIDIA 2007).

``first_add`` (his kernel 4) and ``sequential`` (3) keep the threads that add side by side; ``interleaved`` (2) strides
through shared memory, with bank conflicts. CUDAMicroBench 2021, figure 12, sets the latter two against each other.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def neighbours(t: Thread, x, sums, n, loads):
    tid, first = t.thread_idx.x, t.block_idx.x * (loads * t.block_dim.x)
    mine = t.var(0.0)
    for k in range(loads):
        i = first + k * t.block_dim.x + tid
        with t.where(i < n):
            mine += x[i]
    partial = t.shared(t.block_dim.x, np.float32)
    partial[tid] = mine
    t.sync()
    half = t.block_dim.x // 2
    while half:
        with t.where(tid < half):
            partial[tid] = partial[tid] + partial[tid + half]
        t.sync()
        half //= 2
    with t.where(tid == 0):
        sums[t.block_idx.x] = partial[0]


def interleaved(t: Thread, x, sums, n):
    partial = t.shared(t.block_dim.x, np.float32)
    tid = t.thread_idx.x
    mine = t.var(0.0)
    with t.where(t.global_id < n):
        mine += x[t.global_id]
    partial[tid] = mine
    t.sync()
    step = 1
    while step < t.block_dim.x:
        index = 2 * step * tid
        with t.where(index < t.block_dim.x):
            partial[index] = partial[index] + partial[index + step]
        t.sync()
        step *= 2
    with t.where(tid == 0):
        sums[t.block_idx.x] = partial[0]


@workload(choices={"variant": ..., "block": (64, 128, 256, 512)})
def reduction(
    n: int = 1 << 20,
    variant: Literal["first_add", "sequential", "interleaved"] = "first_add",
    block: int = 256,
    data_seed: int = 1,
) -> Launch:
    """``n`` random float32; ``block`` a power of two. A block sums one number a thread, with ``first_add`` two."""
    if block < 1 or block & (block - 1):
        raise ValueError(f"block is {block}; give a power of two")
    x = np.random.default_rng(data_seed).random(n, np.float32)
    loads = 2 if variant == "first_add" else 1
    blocks = -(-n // (loads * block))
    arguments = dict(x=x, sums=np.zeros(blocks, np.float32), n=n)
    if variant != "interleaved":
        arguments["loads"] = loads

    def expected() -> dict[str, np.ndarray]:
        padded = np.zeros((blocks, loads * block))
        padded.flat[:n] = x
        return {"sums": padded.sum(axis=1)}

    return Launch(
        interleaved if variant == "interleaved" else neighbours,
        grid=blocks,
        block=block,
        arguments=arguments,
        registers=12,
        expected=expected,
    )
