"""Kernels in a slow version and in the one that people write when they know better; for test_gains."""

from __future__ import annotations

import numpy as np

from memsim import Launch, Thread, workload

BLOCK, TILE = 256, 16


def strided_copy(t: Thread, a, b, stride):
    b[t.global_id * stride] = a[t.global_id * stride]


@workload
def stride(n: int = 1 << 17, fast: bool = False) -> Launch:
    """Every eighth float, or as many side by side."""
    step = 1 if fast else 8
    a = np.zeros(n * step, np.float32)
    return Launch(strided_copy, n // BLOCK, BLOCK, dict(a=a, b=np.zeros_like(a), stride=step), registers=16)


def lengths(t: Thread, points, out, n, fast):
    i = t.global_id
    x, y, z = (points[k * n + i if fast else 4 * i + k] for k in range(3))
    out[i] = x * x + y * y + z * z


@workload
def points(n: int = 1 << 17, fast: bool = False) -> Launch:
    """Three of four fields of a structure: an array of structures, or a structure of arrays."""
    arguments = dict(points=np.zeros(4 * n, np.float32), out=np.zeros(n, np.float32), n=n, fast=fast)
    return Launch(lengths, n // BLOCK, BLOCK, arguments, registers=16)


def row_sums(t: Thread, a, sums, rows, columns, fast):
    row, total = t.global_id, t.var(0.0)
    for k in range(0, columns, 4):
        for value in [a[(k + j) * rows + row if fast else row * columns + k + j] for j in range(4)]:
            total += value
    sums[row] = total


@workload
def sums(rows: int = 1 << 15, columns: int = 64, fast: bool = False) -> Launch:
    """A row per thread, stored by rows or by columns."""
    arguments = dict(
        a=np.zeros(rows * columns, np.float32), sums=np.zeros(rows, np.float32), rows=rows, columns=columns
    )
    return Launch(row_sums, rows // BLOCK, BLOCK, arguments | dict(fast=fast), registers=20)


def product(t: Thread, a, b, c, n, fast):
    x, y = t.block_idx.x * TILE + t.thread_idx.x, t.block_idx.y * TILE + t.thread_idx.y
    row, column = (y, x) if fast else (x, y)
    total = t.var(0.0)
    for k in range(n):
        total += a[row, k] * b[k, column]
    c[row, column] = total


@workload
def gemm(n: int = 256, fast: bool = False) -> Launch:
    """Lanes along columns of C, or along rows: the second step of a well-known ladder of matrix products."""
    a = np.zeros((n, n), np.float32)
    arguments = dict(a=a, b=np.zeros_like(a), c=np.zeros_like(a), n=n, fast=fast)
    return Launch(product, (n // TILE, n // TILE), (TILE, TILE), arguments, registers=24)


def tiled(t: Thread, a, b, c, depth, results):
    """Tiles of 32 x 32 in shared memory; a thread computes `results` rows of a column."""
    mine, other = t.shared((32, 32), np.float32), t.shared((32, 32), np.float32)
    x, y = t.thread_idx.x, t.thread_idx.y * results
    row, column = t.block_idx.y * 32 + y, t.block_idx.x * 32 + x
    totals = [t.var(0.0) for _ in range(results)]
    for start in range(0, depth, 32):
        rows = [(a[row + r, start + x], b[start + y + r, column]) for r in range(results)]
        for r, (of_a, of_b) in enumerate(rows):
            mine[y + r, x], other[y + r, x] = of_a, of_b
        t.sync()
        for first in range(0, 32, 4):
            factors = [(other[k, x], [mine[y + r, k] for r in range(results)]) for k in range(first, first + 4)]
            for factor, column_of_mine in factors:
                for r, value in enumerate(column_of_mine):
                    totals[r] += value * factor
        t.sync()
    for r in range(results):
        c[row + r, column] = totals[r]


@workload
def tiles(n: int = 512, depth: int = 64, fast: bool = False) -> Launch:
    """A result a thread, or eight: from the third step of that ladder to the fourth."""
    results = 8 if fast else 1
    a, b, c = (np.zeros(shape, np.float32) for shape in ((n, depth), (depth, n), (n, n)))
    arguments = dict(a=a, b=b, c=c, depth=depth, results=results)
    return Launch(tiled, (n // 32, n // 32), (32, 32 // results), arguments, registers=32)


def norm_by_thread(t: Thread, x, out, columns):
    row = t.global_id
    mean, square = t.var(0.0), t.var(0.0)
    for k in range(0, columns, 4):
        for value in [x[row * columns + k + j] for j in range(4)]:
            mean += value
            square += value * value
    for k in range(0, columns, 4):
        for j, value in enumerate([x[row * columns + k + j] for j in range(4)]):
            out[row * columns + k + j] = (value - mean) * square


def norm_by_warp(t: Thread, x, out, columns):
    row, lane = t.global_id // 32, t.lane_id
    mean, square = t.var(0.0), t.var(0.0)
    values = [x[row * columns + k + lane] for k in range(0, columns, 32)]
    for value in values:
        mean += value
        square += value * value
    for bits in (16, 8, 4, 2, 1):
        mean += t.shuffle_xor(mean + 0.0, bits)
        square += t.shuffle_xor(square + 0.0, bits)
    for k, value in enumerate(values):
        out[row * columns + 32 * k + lane] = (value - mean) * square


@workload
def layer_norm(rows: int = 1 << 13, columns: int = 256, fast: bool = False) -> Launch:
    """A row per thread, or a row per warp."""
    x = np.zeros(rows * columns, np.float32)
    threads = rows * (32 if fast else 1)
    arguments = dict(x=x, out=np.zeros_like(x), columns=columns)
    return Launch(norm_by_warp if fast else norm_by_thread, threads // BLOCK, BLOCK, arguments, registers=32)


def total(t: Thread, x, sum, fast):
    value = x[t.global_id]
    if not fast:
        sum.atomic_add(0, value)
        return
    for delta in (16, 8, 4, 2, 1):
        value = value + t.shuffle_down(value, delta)
    with t.where(t.lane_id == 0):
        sum.atomic_add(0, value)


@workload
def one_sum(n: int = 1 << 16, fast: bool = False) -> Launch:
    """Every lane adds to one address, or a warp's sum does."""
    arguments = dict(x=np.zeros(n, np.float32), sum=np.zeros(1, np.float32), fast=fast)
    return Launch(total, n // BLOCK, BLOCK, arguments, registers=16)


def tree(t: Thread, x, sums, fast):
    partial = t.shared(BLOCK, np.float32)
    tid = t.thread_idx.x
    partial[tid] = x[t.global_id]
    t.sync()
    step = 1
    while step < BLOCK:
        if fast:
            with t.where(tid < BLOCK // (2 * step)):
                partial[tid] = partial[tid] + partial[tid + BLOCK // (2 * step)]
        else:
            with t.where(tid % (2 * step) == 0):
                partial[tid] = partial[tid] + partial[tid + step]
        t.sync()
        step *= 2
    with t.where(tid == 0):
        sums[t.block_idx.x] = partial[0]


@workload
def reduce(n: int = 1 << 19, fast: bool = False) -> Launch:
    """A tree in shared memory whose lanes are chosen by remainder, or side by side."""
    arguments = dict(x=np.zeros(n, np.float32), sums=np.zeros(n // BLOCK, np.float32), fast=fast)
    return Launch(tree, n // BLOCK, BLOCK, arguments, registers=12)


def through_columns(t: Thread, a, b, pitch):
    tile = t.shared((32, pitch), np.float32)
    lane, first = t.lane_id, t.global_id // 32 * 32
    warp = t.warp_id
    for step in range(8):
        tile[lane, (warp + step) % 32] = a[first + lane]
        t.sync()
        b[first + lane] = tile[lane, (warp + step) % 32]


@workload
def padded(n: int = 1 << 18, fast: bool = False) -> Launch:
    """A warp goes down a column of a tile of 32 columns, or of 33."""
    a = np.zeros(n, np.float32)
    return Launch(
        through_columns, n // BLOCK, BLOCK, dict(a=a, b=np.zeros_like(a), pitch=33 if fast else 32), registers=16
    )


def polynomial(t: Thread, a, b, n, together):
    threads = t.grid_dim.x * t.block_dim.x
    mine = t.var(0.0)
    for first in t.range(0, n, together):
        for value in [a[(first + k) * threads + t.global_id] for k in range(together)]:
            mine += value
    b[t.global_id] = mine


@workload
def unrolled(n: int = 64, fast: bool = False) -> Launch:
    """One load of a warp under way at a time, or four, by few warps."""
    threads = 80 * 8
    arguments = dict(a=np.zeros(n * threads, np.float32), b=np.zeros(threads, np.float32), n=n)
    return Launch(polynomial, threads // 32, 32, arguments | dict(together=4 if fast else 1), registers=16)
