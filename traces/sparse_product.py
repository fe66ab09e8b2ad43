"""C = A B of sparse matrices, one row of C a thread: B by rows, searched for every column, or B by columns.

CUDAMicroBench's CoMem for sparse matrices (Yi et al., LLVM-HPC workshop 2021, section IV.B). ``csr`` goes through all
nonzeros of B for every nonzero of its row and every column; ``csc`` compares the row's nonzeros with the column's.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def csr_by_csr(t: Thread, ptr_a, indices_a, data_a, ptr_b, indices_b, data_b, c, rows, columns, nnz):
    row = t.global_id
    with t.where(row < rows):
        begin, end = ptr_a[row], ptr_a[row + 1]
        for k in t.range(columns):
            dot = t.var(0.0)
            for i in t.range(begin, end):
                for j in t.range(nnz):
                    with (
                        t.where(indices_b[j] == k),
                        t.where(j >= ptr_b[indices_a[i]]),
                        t.where(j < ptr_b[indices_a[i] + 1]),
                    ):
                        dot += data_a[i] * data_b[j]
            c[row * rows + k] = dot


def csr_by_csc(t: Thread, ptr_a, indices_a, data_a, ptr_b, indices_b, data_b, c, rows, columns):
    row = t.global_id
    with t.where(row < rows):
        begin, end = ptr_a[row], ptr_a[row + 1]
        for k in t.range(columns):
            dot = t.var(0.0)
            first, last = ptr_b[k], ptr_b[k + 1]
            for i in t.range(begin, end):
                for j in t.range(first, last):
                    with t.where(indices_a[i] == indices_b[j]):
                        dot += data_a[i] * data_b[j]
            c[row * rows + k] = dot


def compressed(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where rows begin, columns and values of the nonzeros; of the transposed matrix: CSC."""
    row, column = np.nonzero(matrix)
    begins = np.searchsorted(row, np.arange(len(matrix) + 1)).astype(np.int32)
    return begins, column.astype(np.int32), matrix[row, column]


@workload
def sparse_product(
    rows: int = 100,
    nnz: int = 1024,
    variant: Literal["csr", "csc"] = "csc",
    columns: int = 100,
    grid: int = 256,
    block: int = 256,
    data_seed: int = 1,
) -> Launch:
    """Square matrices of ``rows`` with ``nnz`` nonzeros anywhere; the first ``columns`` of the product are made."""
    if not 1 <= columns <= rows or not 0 <= nnz <= rows * rows or grid * block < rows:
        raise ValueError(f"{rows} rows, {columns} columns, {nnz} nonzeros, {grid} x {block} threads: they do not fit")
    rng = np.random.default_rng(data_seed)
    a, b = np.zeros((2, rows * rows), np.float32)
    for matrix in (a, b):
        matrix[rng.choice(rows * rows, nnz, replace=False)] = 1 + rng.random(nnz, np.float32)
    a, b = a.reshape(rows, rows), b.reshape(rows, rows)
    names = ("ptr_a", "indices_a", "data_a"), ("ptr_b", "indices_b", "data_b")
    arguments = dict(zip(names[0], compressed(a), strict=True))
    arguments |= dict(zip(names[1], compressed(b if variant == "csr" else b.T), strict=True))
    arguments |= dict(c=np.zeros((rows, rows), np.float32), rows=rows, columns=columns)
    if variant == "csr":
        arguments["nnz"] = nnz
    return Launch(
        csr_by_csr if variant == "csr" else csr_by_csc,
        grid=grid,
        block=block,
        arguments=arguments,
        registers=32,
        expected=lambda: {"c": np.where(np.arange(rows) < columns, a @ b, 0)},
    )
