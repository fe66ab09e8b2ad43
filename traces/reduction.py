"""Sum of a vector: in every block a tree in shared memory, sequential addressing (Harris, NVIDIA 2007, kernel 4)."""

import numpy as np

from memsim import Launch, Thread, workload


def block_sums(t: Thread, x, sums, n):
    partial = t.shared(t.block_dim.x, np.float32)
    i, tid = t.block_idx.x * (2 * t.block_dim.x) + t.thread_idx.x, t.thread_idx.x
    mine = t.var(0.0)
    with t.where(i < n):
        mine += x[i]
    with t.where(i + t.block_dim.x < n):
        mine += x[i + t.block_dim.x]
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


@workload
def reduction(n: int = 1 << 20, block: int = 256, data_seed: int = 1) -> Launch:
    """``n`` random float32; ``block`` a power of two. Every block sums twice its threads and leaves one number."""
    if block < 1 or block & (block - 1):
        raise ValueError(f"block is {block}; give a power of two")
    x = np.random.default_rng(data_seed).random(n, np.float32)
    blocks = -(-n // (2 * block))

    def expected() -> dict[str, np.ndarray]:
        padded = np.zeros((blocks, 2 * block))
        padded.flat[:n] = x
        return {"sums": padded.sum(axis=1)}

    return Launch(
        block_sums,
        grid=blocks,
        block=block,
        arguments=dict(x=x, sums=np.zeros(blocks, np.float32), n=n),
        registers=12,
        expected=expected,
    )
