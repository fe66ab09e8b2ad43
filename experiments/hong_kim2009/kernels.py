"""Kernels of the paper that the library has not: table 2's example, table 4's loops, and three of table 5.

What they access is what counts here: their arrays are zeros, and arithmetic is a number of instructions. Those are the
paper's, a thread: table 5 for the applications, of which loops have what is left of 2000 steps.
"""

from __future__ import annotations

import numpy as np

from memsim import Launch, Thread, workload

LOOP = 2  # instructions that t.range counts for one iteration
N = 2000  # rows and columns of the matrices
NAIVE = 6  # computation instructions of a step: (12043 - 43) / 2000
TILE, ELEMENT = 37, 3  # of a tile and of a step in it: 80 + 2000 / T (37 + 3 T) is 9780 for T = 20 and 24580 for T = 4
APART = 8  # words between the lanes of an uncoalesced access: a transaction each where lanes do not coalesce


def loop(t: Thread, data, steps, loads, instructions, apart):
    first = t.global_id * apart
    span = t.grid_dim.x * t.block_dim.x * apart
    for step in t.range(steps):
        for k in range(loads):
            data[first + (step * loads + k) * span]
        t.compute(instructions - LOOP - loads)  # one a load is its address


@workload
def micro(
    steps: int = 4, loads: int = 1, instructions: int = 17, apart: int = 1, grid: int = 48, block: int = 256
) -> Launch:
    """An iteration of table 4: some loads, then arithmetic that waits for them. ``apart``: words between lanes."""
    data = np.zeros(grid * block * apart * steps * max(loads, 1), np.float32)
    arguments = dict(data=data, steps=steps, loads=loads, instructions=instructions, apart=apart)
    return Launch(loop, grid, block, arguments, registers=10)


def naive(t: Thread, a, b, c, steps):
    row = t.block_idx.y * t.block_dim.y + t.thread_idx.y
    column = t.block_idx.x * t.block_dim.x + t.thread_idx.x
    for k in t.range(steps):
        a[row * N + k]
        b[k * N + column]
        t.compute(NAIVE - LOOP - 3)  # three are the addresses
    c[row * N + column] = 0.0


@workload
def naive_product(steps: int = 8, side: int = 16) -> Launch:
    a, b, c = (np.zeros(N * N, np.float32) for _ in range(3))
    return Launch(naive, (N // side, N // side), (side, side), dict(a=a, b=b, c=c, steps=steps), 10, 88)


def tiled(t: Thread, a, b, c, steps, side):
    x, y = t.thread_idx.x, t.thread_idx.y
    a_tile, b_tile = t.shared(side * side), t.shared(side * side)
    mine = y * side + x  # what follows is unrolled, with offsets that cost nothing
    of_row, of_column = [y * side + k for k in range(side)], [x + k * side for k in range(side)]
    row, column = t.block_idx.y * side + y, t.block_idx.x * side + x
    at_a, at_b = row * N + x, y * N + column
    for step in t.range(steps):
        a_tile[mine] = a[at_a + step * side]
        b_tile[mine] = b[at_b + step * side * N]
        t.sync()
        for k in range(side):
            a_tile[of_row[k]]
            b_tile[of_column[k]]
        t.compute(side)
        t.sync()
        t.compute(TILE - LOOP - 6)  # six are two addresses, stores to shared memory and barriers
    c[row * N + column] = 0.0


@workload
def tiled_product(steps: int = 2, side: int = 16) -> Launch:
    """``steps`` tiles of ``side`` x ``side``; the two in shared memory are declared, the rest are arguments."""
    a, b, c = (np.zeros(N * N, np.float32) for _ in range(3))
    arguments = dict(a=a, b=b, c=c, steps=steps, side=side)
    return Launch(tiled, (N // side, N // side), (side, side), arguments, 18, 88)


def price(t: Thread, options, prices, extra):
    first, of_prices = 5 * t.global_id, 2 * t.global_id
    for k in range(5):
        options[first + k]
    t.compute(extra)
    for k in range(2):
        prices[of_prices + k] = 0.0


@workload
def options(n: int = 9_000_000, block: int = 256, extra: int = 0) -> Launch:
    """Black-Scholes with seven accesses per thread that do not coalesce: five parameters of an option, two prices."""
    arguments = dict(options=np.zeros(5 * n, np.float32), prices=np.zeros(2 * n, np.float32), extra=extra)
    return Launch(price, n // block, block, arguments, 11, 36)


def example(t: Thread, m, n):
    """Figure 13, three iterations: two loads, seven instructions and two barriers each."""
    for step in range(3):
        m[t.global_id, step]
        n[t.global_id, step]
        t.compute(2)
        t.sync()
        t.compute(3)
        t.sync()


@workload
def table_2() -> Launch:
    """80 blocks of 128 threads; 12 registers per thread leave five of them an SM of 8192."""
    arrays = {name: np.zeros((80 * 128, 32), np.float32) for name in "mn"}
    return Launch(example, 80, 128, arrays, 12)
