"""Sparse matrix times vector in CSR format, one row per thread (Baghsorkhi et al., PPoPP 2012, listings 2 and 3)."""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def csr(t: Thread, row_ptr, indices, val, y, x, rows):
    """x = A y, with the paper's names and order of loads: `indices` ends a sequence, `y` and `val` share the next."""
    row = t.global_id
    with t.where(row < rows):
        acc = t.var(0.0)
        for j in t.range(row_ptr[row], row_ptr[row + 1]):
            ind = indices[j]
            acc += y[ind] * val[j]
        x[row] = acc


def csr_vectorized(t: Thread, row_ptr, indices, val, y, x, rows):
    """Indices and values four at a time, but for those before and after multiples of four."""
    row = t.global_id
    with t.where(row < rows):
        acc = t.var(0.0)
        begin, end = row_ptr[row], row_ptr[row + 1]
        first = np.minimum((begin + 3) // 4 * 4, end)
        last = np.maximum(end // 4 * 4, first)
        for j in t.range(begin, first):
            acc += y[indices[j]] * val[j]
        for j in t.range(first, last, 4):
            i0, i1, i2, i3 = indices.load(j, 4)
            v0, v1, v2, v3 = val.load(j, 4)
            acc += v0 * y[i0]
            acc += v1 * y[i1]
            acc += v2 * y[i2]
            acc += v3 * y[i3]
        for j in t.range(last, end):
            acc += y[indices[j]] * val[j]
        x[row] = acc


def csr_masked(t: Thread, row_ptr, indices, val, y, x, rows):
    """Indices and values four at a time from first to last; what of the outer fours is not the row's is left out."""
    row = t.global_id
    with t.where(row < rows):
        acc = t.var(0.0)
        begin, end = row_ptr[row], row_ptr[row + 1]
        for j in t.range(begin // 4 * 4, end, 4):
            i0, i1, i2, i3 = indices.load(j, 4)
            v0, v1, v2, v3 = val.load(j, 4)
            with t.where(j >= begin):
                acc += v0 * y[i0]
            with t.where((j + 1 >= begin) & (j + 1 < end)):
                acc += v1 * y[i1]
            with t.where((j + 2 >= begin) & (j + 2 < end)):
                acc += v2 * y[i2]
            with t.where(j + 3 < end):
                acc += v3 * y[i3]
        x[row] = acc


def hashed(n: np.ndarray) -> np.ndarray:
    """SplitMix64's n-th numbers (Steele, Lea and Flood, OOPSLA 2014): the same in every language."""
    z = n.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@workload
def spmv(
    rows: int = 86016,
    nnz_per_row: int = 51,
    distribution: Literal["poisson", "fixed", "spread"] = "poisson",
    structure: Literal["random", "block_diagonal", "dense_blocks", "hashed"] = "random",
    variant: Literal["scalar", "vectorized", "masked"] = "scalar",
    block: int = 256,
    data_seed: int = 1,
) -> Launch:
    """A square matrix with ``nnz_per_row`` nonzeros a row on average.

    The nonzeros of a row lie anywhere (``random``) or within a square block on the diagonal four times as wide as the
    row is full (``block_diagonal``); sorted by column, as CSR usually is. Row lengths are Poisson-distributed, as when
    nonzeros are thrown at random, or all the same (``fixed``). ``dense_blocks`` has full blocks on the diagonal, so
    every row begins at a multiple of its length. ``spread`` lengths, from 0 to twice the average, and ``hashed``
    columns, anywhere, are those of ``cuda/spmv.cu``.

    The paper's matrices: u and U are random with 32 and 128 nonzeros a row, b and B block diagonal with as many. Its
    listing 3 leaves out how a row's begin and end, not at multiples of four, are handled: one element at a time
    (``vectorized``) or with the elements outside the row masked (``masked``).
    """
    rng = np.random.default_rng(data_seed)
    if structure == "dense_blocks":
        start = np.minimum(np.arange(rows) // nnz_per_row * nnz_per_row, max(rows - nnz_per_row, 0))
        lengths = np.full(rows, min(nnz_per_row, rows))
    elif distribution == "spread":
        lengths = (hashed(np.arange(rows)) % np.uint64(2 * nnz_per_row + 1)).astype(np.int64)
    else:
        lengths = np.full(rows, nnz_per_row) if distribution == "fixed" else rng.poisson(nnz_per_row, rows)
    row_ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    owner = np.repeat(np.arange(rows), lengths)
    if structure == "dense_blocks":
        indices = (start[:, None] + np.arange(lengths[0])).reshape(-1)
    elif structure == "random":
        indices = rng.integers(0, rows, owner.size)
    elif structure == "hashed":
        indices = (hashed(rows + np.arange(owner.size)) % np.uint64(rows)).astype(np.int64)
    else:
        width = min(4 * nnz_per_row, rows)
        start = np.minimum(owner // width * width, rows - width)
        indices = start + rng.integers(0, width, owner.size)
    indices = (np.sort(owner * rows + indices) % rows).astype(np.int32)
    val = rng.random(owner.size, np.float32)
    y = rng.random(rows, np.float32)

    if variant == "masked":  # the last four may reach beyond the last row
        indices, val = (np.concatenate([whole, np.zeros(-whole.size % 4, whole.dtype)]) for whole in (indices, val))

    def expected() -> dict[str, np.ndarray]:
        products = val[: owner.size].astype(np.float64) * y[indices[: owner.size]]
        return {"x": np.bincount(owner, weights=products, minlength=rows).astype(np.float32)}

    return Launch(
        {"scalar": csr, "vectorized": csr_vectorized, "masked": csr_masked}[variant],
        grid=-(-rows // block),
        block=block,
        arguments=dict(row_ptr=row_ptr, indices=indices, val=val, y=y, x=np.zeros(rows, np.float32), rows=rows),
        registers=20,
        residencies=4,
        expected=expected,
    )
