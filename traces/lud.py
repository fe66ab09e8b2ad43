"""LU decomposition of a matrix in place, by blocks of 16 x 16: one step of the LUD of Rodinia (Che et al., IISWC 2009).

``diagonal`` factors the block on the diagonal, ``perimeter`` those right of it and below, and ``internal`` updates the
rest. All three load tiles of half a line a row, and rows lie far apart.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

SIDE = 16  # of a block of the matrix


def diagonal(t: Thread, m):
    tile = t.shared((SIDE, SIDE), np.float32)
    x = t.thread_idx.x
    for i in range(SIDE):
        tile[i, x] = m[i, x]
    t.sync()
    for i in t.range(SIDE - 1):
        with t.where(x > i):
            for j in t.range(i):
                tile[x, i] = tile[x, i] - tile[x, j] * tile[j, i]
            tile[x, i] = tile[x, i] / tile[i, i]
        t.sync()
        with t.where(x > i):
            for j in t.range(i + 1):
                tile[i + 1, x] = tile[i + 1, x] - tile[i + 1, j] * tile[j, x]
        t.sync()
    for i in range(1, SIDE):
        m[i, x] = tile[i, x]


def perimeter(t: Thread, m):
    factors = t.shared((SIDE, SIDE), np.float32)
    right = t.shared((SIDE, SIDE), np.float32)
    below = t.shared((SIDE, SIDE), np.float32)
    x, first = t.thread_idx.x % SIDE, (t.block_idx.x + 1) * SIDE
    of_row = t.thread_idx.x < SIDE
    with t.where(of_row):
        for i in range(SIDE // 2):
            factors[i, x] = m[i, x]
        for i in range(SIDE):
            right[i, x] = m[i, first + x]
    with t.where(~of_row):
        for i in range(SIDE // 2, SIDE):
            factors[i, x] = m[i, x]
        for i in range(SIDE):
            below[i, x] = m[first + i, x]
    t.sync()
    with t.where(of_row):
        for i in t.range(1, SIDE):
            for j in t.range(i):
                right[i, x] = right[i, x] - factors[i, j] * right[j, x]
    with t.where(~of_row):
        for i in t.range(SIDE):
            for j in t.range(i):
                below[x, i] = below[x, i] - below[x, j] * factors[j, i]
            below[x, i] = below[x, i] / factors[i, i]
    t.sync()
    with t.where(of_row):
        for i in range(1, SIDE):
            m[i, first + x] = right[i, x]
    with t.where(~of_row):
        for i in range(SIDE):
            m[first + i, x] = below[i, x]


def internal(t: Thread, m):
    right = t.shared((SIDE, SIDE), np.float32)
    below = t.shared((SIDE, SIDE), np.float32)
    x, y = t.thread_idx.x, t.thread_idx.y
    row, column = (t.block_idx.y + 1) * SIDE + y, (t.block_idx.x + 1) * SIDE + x
    right[y, x] = m[y, column]
    below[y, x] = m[row, x]
    t.sync()
    total = t.var(0.0)
    for i in range(SIDE):
        total += below[y, i] * right[i, x]
    m[row, column] = m[row, column] - total


def step(a: np.ndarray) -> dict[str, np.ndarray]:
    """The matrix after each kernel of the first step, by name."""
    now = a.astype(np.float64)
    for i in range(SIDE - 1):
        now[i + 1 : SIDE, i] /= now[i, i]
        now[i + 1 : SIDE, i + 1 : SIDE] -= np.outer(now[i + 1 : SIDE, i], now[i, i + 1 : SIDE])
    after = {"diagonal": now.copy()}
    corner = now[:SIDE, :SIDE]
    lower, upper = np.tril(corner, -1) + np.eye(SIDE), np.triu(corner)
    now[:SIDE, SIDE:] = np.linalg.solve(lower, now[:SIDE, SIDE:])
    now[SIDE:, :SIDE] = np.linalg.solve(upper.T, now[SIDE:, :SIDE].T).T
    after["perimeter"] = now.copy()
    now[SIDE:, SIDE:] -= now[SIDE:, :SIDE] @ now[:SIDE, SIDE:]
    return after | {"internal": now}


@workload
def lud(n: int = 256, variant: Literal["diagonal", "perimeter", "internal"] = "internal", data_seed: int = 1) -> Launch:
    """A matrix of ``n`` x ``n`` float32, ``n`` a multiple of 16 from 32 on; the first launch of each kernel."""
    if n < 2 * SIDE or n % SIDE:
        raise ValueError(f"n is {n}; give a multiple of {SIDE} from {2 * SIDE} on")
    a = np.random.default_rng(data_seed).random((n, n), np.float32) + 2 * SIDE * np.eye(n, dtype=np.float32)
    after = step(a)
    before = {"diagonal": a, "perimeter": after["diagonal"], "internal": after["perimeter"]}[variant]
    others = n // SIDE - 1
    grid, block = {
        "diagonal": (1, SIDE),
        "perimeter": (others, 2 * SIDE),
        "internal": ((others, others), (SIDE, SIDE)),
    }[variant]
    return Launch(
        {"diagonal": diagonal, "perimeter": perimeter, "internal": internal}[variant],
        grid=grid,
        block=block,
        arguments=dict(m=before.astype(np.float32)),
        registers=32,
        expected=lambda: {"m": after[variant]},
    )
