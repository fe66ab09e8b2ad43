"""y = A' (A x): ATAX of PolyBench/GPU (Grauer-Gray et al., InPar 2012).

In one kernel, one row of A a block, which is read twice, the second time perhaps from a cache (fused as in Belter et
al., "Automating the Generation of Composed Linear Algebra Kernels", SC 2009); or one of PolyBench's two: a row of A a
thread, so that a warp's loads lie a row apart, then a column a thread. Those store their sum in every iteration.
"""

from typing import Literal

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


def row_a_thread(t: Thread, a, x, product, rows, columns):
    row = t.global_id
    with t.where(row < rows):
        mine = t.var(product[row])
        for j in t.range(columns):
            mine += a[row, j] * x[j]
            product[row] = mine


def column_a_thread(t: Thread, a, product, y, rows, columns):
    column = t.global_id
    with t.where(column < columns):
        mine = t.var(y[column])
        for i in t.range(rows):
            mine += a[i, column] * product[i]
            y[column] = mine


@workload
def atax(
    rows: int = 2048,
    columns: int = 2048,
    block: int = 256,
    variant: Literal["fused", "rows", "columns"] = "fused",
    data_seed: int = 1,
) -> Launch:
    """A has ``rows`` x ``columns`` random float32; ``block`` a power of two."""
    if block < 1 or block & (block - 1):
        raise ValueError(f"block is {block}; give a power of two")
    rng = np.random.default_rng(data_seed)
    a, x = rng.random((rows, columns), np.float32), rng.random(columns, np.float32)
    product, y = np.zeros(rows, np.float32), np.zeros(columns, np.float32)
    if variant == "fused":
        kernel, grid, arguments, expected = row_a_block, rows, dict(x=x, y=y), lambda: {"y": a.T @ (a @ x)}
    elif variant == "rows":
        kernel, grid, arguments = row_a_thread, -(-rows // block), dict(x=x, product=product, rows=rows)
        expected = lambda: {"product": a @ x}  # noqa: E731
    else:
        kernel, grid, arguments = column_a_thread, -(-columns // block), dict(product=a @ x, y=y, rows=rows)
        expected = lambda: {"y": a.T @ (a @ x)}  # noqa: E731
    arguments |= dict(a=a, columns=columns)
    return Launch(kernel, grid=grid, block=block, arguments=arguments, registers=18, expected=expected)
