"""y = A' (A x) in one kernel, one row of A a block: the row is read twice, the second time perhaps from a cache.

ATAX of PolyBench/GPU (Grauer-Gray et al., InPar 2012), its two passes fused as in Belter et al., "Automating the
Generation of Composed Linear Algebra Kernels" (SC 2009).
"""

import numpy as np

from memsim import Launch, Thread, workload


def row_a_block(t: Thread, a, x, y, columns):
    row, tid = t.block_idx.x, t.thread_idx.x
    partial = t.shared(t.block_dim.x, np.float32)
    mine = t.var(0.0)
    for j in t.range(tid, columns, t.block_dim.x):
        mine += a[row, j] * x[j]
    partial[tid] = mine
    t.sync()
    half = t.block_dim.x // 2
    while half:
        with t.where(tid < half):
            partial[tid] = partial[tid] + partial[tid + half]
        t.sync()
        half //= 2
    product = partial[0]
    for j in t.range(tid, columns, t.block_dim.x):
        y.atomic_add(j, a[row, j] * product)


@workload
def atax(rows: int = 2048, columns: int = 2048, block: int = 256, data_seed: int = 1) -> Launch:
    """A has ``rows`` x ``columns`` random float32; ``block`` a power of two."""
    if block < 1 or block & (block - 1):
        raise ValueError(f"block is {block}; give a power of two")
    rng = np.random.default_rng(data_seed)
    a, x = rng.random((rows, columns), np.float32), rng.random(columns, np.float32)
    return Launch(
        row_a_block,
        grid=rows,
        block=block,
        arguments=dict(a=a, x=x, y=np.zeros(columns, np.float32), columns=columns),
        registers=18,
        expected=lambda: {"y": a.T @ (a @ x)},
    )
