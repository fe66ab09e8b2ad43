"""Sum of a vector of int32, in blocks of two numbers a thread: partial sums go through memory, or from lane to lane.

The two versions of CUDAMicroBench's Shuffle (Yi et al., LLVM-HPC workshop 2021, section IV.E): a tree of additions in
an array in global memory, and one of warp shuffles with one number a warp in shared memory.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def through_memory(t: Thread, x, partial, sums):
    tid, i = t.thread_idx.x, t.block_idx.x * (2 * t.block_dim.x) + t.thread_idx.x
    mine = t.var(x[i] + x[i + t.block_dim.x])
    partial[i] = mine
    t.sync()
    half = t.block_dim.x // 2
    while half:
        with t.where(tid < half):
            mine += partial[i + half]
            partial[i] = mine
        t.sync()
        half //= 2
    with t.where(tid == 0):
        sums[t.block_idx.x] = mine


def shuffled(t: Thread, x, sums):
    i = t.block_idx.x * (2 * t.block_dim.x) + t.thread_idx.x
    of_warp = t.shared(32, x.dtype)
    mine = warp_total(t, x[i] + x[i + t.block_dim.x])
    with t.where(t.lane_id == 0):
        of_warp[t.warp_id] = mine
    t.sync()
    with t.where(t.warp_id == 0):
        total = t.var(0)
        with t.where(t.lane_id < t.block_dim.x // 32):
            total.set(of_warp[t.lane_id])
        whole = warp_total(t, total)
        with t.where(t.lane_id == 0):
            sums[t.block_idx.x] = whole


def warp_total(t: Thread, value):
    """Lane 0 gets the sum over the warp."""
    delta = 16
    while delta:
        value = value + t.shuffle_down(value, delta)
        delta //= 2
    return value


@workload
def warp_sum(
    n: int = 1 << 20, variant: Literal["memory", "shuffle"] = "shuffle", block: int = 256, data_seed: int = 1
) -> Launch:
    """``n`` random int32, a multiple of two blocks; ``block`` a power of two, 64 to 1024.

    As published, ``memory`` writes a block's sum among the partial sums of another, which may still be at work; here
    they have an array of their own.
    """
    if not 64 <= block <= 1024 or block & (block - 1) or n % (2 * block):
        raise ValueError(f"n is {n}, block {block}; give a power of two from 64 to 1024, and a multiple of its double")
    x = np.random.default_rng(data_seed).integers(0, 256, n, np.int32)
    shuffle = variant == "shuffle"
    blocks = n // (2 * block)
    arguments = dict(x=x) if shuffle else dict(x=x, partial=np.zeros(n, np.int32))
    return Launch(
        shuffled if shuffle else through_memory,
        grid=blocks,
        block=block,
        arguments=arguments | dict(sums=np.zeros(blocks, np.int32)),
        registers=16,
        expected=lambda: {"sums": x.reshape(blocks, -1).sum(axis=1)},
    )
