"""Dense matrix times vector, y = A x or y = A' x, one element of y a thread (GEMV of BLAS, Dongarra et al. 1988).

A is stored by rows, so the two orders differ in what matters: with A the lanes of a warp walk down rows of their own, a
line each; with A' they walk down neighbouring columns and share every line.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def row_a_thread(t: Thread, a, x, y, rows, columns):
    row = t.global_id
    with t.where(row < rows):
        total = t.var(0.0)
        for k in t.range(columns):
            total += a[row, k] * x[k]
        y[row] = total


def column_a_thread(t: Thread, a, x, y, rows, columns):
    column = t.global_id
    with t.where(column < columns):
        total = t.var(0.0)
        for k in t.range(rows):
            total += a[k, column] * x[k]
        y[column] = total


@workload
def gemv(
    rows: int = 2048,
    columns: int = 2048,
    order: Literal["plain", "transposed"] = "plain",
    block: int = 64,
    data_seed: int = 1,
) -> Launch:
    """A has ``rows`` x ``columns`` random float32; ``transposed`` multiplies by its transpose."""
    rng = np.random.default_rng(data_seed)
    a = rng.random((rows, columns), np.float32)
    matrix = a if order == "plain" else a.T
    x = rng.random(matrix.shape[1], np.float32)
    return Launch(
        row_a_thread if order == "plain" else column_a_thread,
        grid=-(-len(matrix) // block),
        block=block,
        arguments=dict(a=a, x=x, y=np.zeros(len(matrix), np.float32), rows=rows, columns=columns),
        registers=16,
        expected=lambda: {"y": matrix @ x},
    )
