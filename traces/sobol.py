"""Sobol's quasi-random numbers, the CUDA sample sobolQRNG: a row of blocks a dimension, directions in shared memory.

After Bratley and Fox, "Algorithm 659: Implementing Sobol's quasirandom sequence generator" (ACM TOMS 1988): number i is
the exclusive or of the directions at the bits set in i's Gray code; the one 2**k further differs by two of them.
"""

import numpy as np

from memsim import Launch, Thread, workload

DIRECTIONS = 32
SCALE = np.float32(2.0**-32)


def lowest_zero(x):
    """Number of the lowest zero bit."""
    return np.log2((~x & (x + 1)) * 1.0).astype(np.int32)


def points(t: Thread, directions, output, n):
    v = t.shared(DIRECTIONS, np.uint32)
    dimension, stride = t.block_idx.y, t.block_dim.x * t.grid_dim.x
    with t.where(t.thread_idx.x < DIRECTIONS):
        v[t.thread_idx.x] = directions[dimension, t.thread_idx.x]
    t.sync()
    first = t.block_idx.x * t.block_dim.x + t.thread_idx.x
    gray = first ^ first >> 1
    x = t.var(0, np.uint32)
    for k in range(stride.bit_length() - 1):
        x ^= v[k] * (gray >> k & 1)
    with t.where(first < n):
        output[dimension, first] = x.astype(np.float32) * SCALE
    step = v[stride.bit_length() - 2]
    for i in t.range(first + stride, n, stride):
        x ^= step ^ v[lowest_zero(i - stride | stride - 1)]
        output[dimension, i] = x.astype(np.float32) * SCALE


@workload
def sobol(points_a_dimension: int = 100_000, dimensions: int = 100, row: int = 512, data_seed: int = 1) -> Launch:
    """The sample makes 100,000 points of 100 dimensions, by ``row`` blocks of 64 a dimension, a power of two."""
    if points_a_dimension < 1 or dimensions < 1 or row < 1 or row & (row - 1):
        raise ValueError(f"row is {row}; give a power of two, and positive numbers of points and dimensions")
    rng = np.random.default_rng(data_seed)
    shifts = np.arange(DIRECTIONS - 1, -1, -1, dtype=np.uint64)
    odd = rng.integers(0, 2 ** shifts[::-1], (dimensions, DIRECTIONS), np.uint64) | 1
    directions = (odd << shifts).astype(np.uint32)
    n = points_a_dimension

    def expected() -> dict[str, np.ndarray]:
        number = np.arange(n, dtype=np.uint32)
        gray = number ^ number >> np.uint32(1)
        values = np.zeros((dimensions, n), np.uint32)
        for k in range(DIRECTIONS):
            values ^= np.where(gray >> np.uint32(k) & 1, directions[:, k, None], np.uint32(0))
        return {"output": values * 2.0**-32}

    return Launch(
        points,
        grid=(row, dimensions),
        block=64,
        arguments=dict(directions=directions, output=np.zeros((dimensions, n), np.float32), n=n),
        registers=24,
        expected=expected,
    )
