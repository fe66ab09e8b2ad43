"""Ladders of kernels, each step a little faster than the one before, as lessons have them; for their tests."""

from __future__ import annotations

import numpy as np
from slow_and_fast import BLOCK

from memsim import Launch, Thread, workload

WARP = 32
HEIGHT = 8  # rows of C that a thread of `sgemm` computes


def halved(t: Thread, partial, last):
    """Add up what a block's threads hold, side by side, down to sums `last` apart."""
    tid, half = t.thread_idx.x, BLOCK // 2
    while half >= last:
        with t.where(tid < half):
            partial[tid] = partial[tid] + partial[tid + half]
        t.sync()
        half //= 2


def tree(t: Thread, partial, by_remainder):
    """The same between neighbours: the lanes that are multiples of the distance, or those side by side."""
    tid, step = t.thread_idx.x, 1
    while step < BLOCK:
        index = tid if by_remainder else 2 * step * tid
        with t.where(tid % (2 * step) == 0 if by_remainder else index < BLOCK):
            partial[index] = partial[index] + partial[index + step]
        t.sync()
        step *= 2


def last_warp(t: Thread, partial):
    """The last 64 sums, by one warp that waits for nobody."""
    tid, half = t.thread_idx.x, WARP
    with t.where(tid < WARP):
        while half:
            partial[tid] = partial[tid] + partial[tid + half]
            half //= 2


def by_shuffles(t: Thread, mine, lanes=WARP):
    """The sum of a warp's first lanes, in the first one."""
    while lanes := lanes // 2:
        mine = mine + t.shuffle_down(mine, lanes)
    return mine


def reduced(t: Thread, x, sums, step, each):
    tid, mine = t.thread_idx.x, t.var(0.0)
    first = t.block_idx.x * BLOCK * each + tid
    for value in [x[first + k * BLOCK] for k in range(each)]:  # loads first, as a compiler has them
        mine += value
    if step == 7:
        partial = t.shared(BLOCK // WARP, np.float32)
        mine = by_shuffles(t, mine)
        with t.where(t.lane_id == 0):
            partial[t.warp_id] = mine
        t.sync()
        total = by_shuffles(t, partial[tid % (BLOCK // WARP)], BLOCK // WARP)
        with t.where(tid == 0):
            sums[t.block_idx.x] = total
        return
    partial = t.shared(BLOCK + WARP, np.float32)
    partial[tid] = mine
    t.sync()
    if step < 2:
        tree(t, partial, by_remainder=step == 0)
    else:
        halved(t, partial, 1 if step < 4 else 2 * WARP)
        if step >= 4:
            last_warp(t, partial)
    with t.where(tid == 0):
        sums[t.block_idx.x] = partial[0]


EACH = {3: 2, 4: 2, 6: 8, 7: 8}  # numbers that a thread adds before the tree


@workload
def reduction(n: int = 1 << 20, step: int = 0) -> Launch:
    """Harris' reductions: by remainder (0), conflicts (1), side by side (2), two numbers a thread (3), the last warp
    alone (4), eight numbers a thread (6), shuffles (7). The fifth unrolls, which descriptions do anyway."""
    each = EACH.get(step, 1)
    blocks = n // (BLOCK * each)
    arguments = dict(x=np.zeros(n, np.float32), sums=np.zeros(blocks, np.float32), step=step, each=each)
    return Launch(reduced, blocks, BLOCK, arguments, registers=16)


def normed(t: Thread, x, out, columns, step):
    """A row per warp: mean, spread and result, in three passes, or in two."""
    first = t.global_id // WARP * columns + t.lane_id
    mean, square = t.var(0.0), t.var(0.0)
    for k in range(0, columns, WARP):
        value = x[first + k]
        mean += value
        if step == 4:
            square += value * value
    mean = by_shuffles(t, mean + 0.0)
    if step == 3:
        for k in range(0, columns, WARP):
            square += (x[first + k] - mean) * (x[first + k] - mean)
    square = by_shuffles(t, square + 0.0)
    for k in range(0, columns, WARP):
        out[first + k] = (x[first + k] - mean) * square


def normed_by_thread(t: Thread, x, out, columns):
    """A row per thread, in three passes."""
    first = t.global_id * columns
    mean, square = t.var(0.0), t.var(0.0)
    for k in range(0, columns, 4):
        for value in [x[first + k + j] for j in range(4)]:
            mean += value
    for k in range(0, columns, 4):
        for value in [x[first + k + j] for j in range(4)]:
            square += (value - mean) * (value - mean)
    for k in range(0, columns, 4):
        for j, value in enumerate([x[first + k + j] for j in range(4)]):
            out[first + k + j] = (value - mean) * square


def row_sums(t: Thread, x, means, sums, columns, squares):
    """Of a row per block: its mean, or, with that, its spread."""
    partial, tid, mine = t.shared(BLOCK, np.float32), t.thread_idx.x, t.var(0.0)
    mean = means[t.block_idx.x] if squares else 0.0
    for k in range(0, columns, BLOCK):
        value = x[t.block_idx.x * columns + k + tid]
        mine += (value - mean) * (value - mean) if squares else value
    partial[tid] = mine
    t.sync()
    halved(t, partial, BLOCK // 2)
    with t.where(tid == 0):
        sums[t.block_idx.x] = partial[0]


def normed_elements(t: Thread, x, means, sums, out, columns):
    """An element a thread, with its row's mean and spread."""
    row = t.global_id // columns
    out[t.global_id] = (x[t.global_id] - means[row]) * sums[row]


def normed_by_block(t: Thread, x, out, columns):
    """A row per block, in one pass over what fits registers."""
    partial = t.shared(2 * BLOCK // WARP, np.float32)
    first = t.block_idx.x * columns + t.thread_idx.x
    values = [x[first + k] for k in range(0, columns, BLOCK)]
    mean, square = t.var(0.0), t.var(0.0)
    for value in values:
        mean += value
        square += value * value
    mean, square = by_shuffles(t, mean + 0.0), by_shuffles(t, square + 0.0)
    with t.where(t.lane_id == 0):
        partial[t.warp_id] = mean
        partial[t.warp_id + BLOCK // WARP] = square
    t.sync()
    lane = t.thread_idx.x % (BLOCK // WARP)
    mean, square = by_shuffles(t, partial[lane] + 0.0), by_shuffles(t, partial[lane + BLOCK // WARP] + 0.0)
    for k, value in enumerate(values):
        out[first + k * BLOCK] = (value - mean) * square


@workload
def layer_norm(rows: int = 1 << 12, columns: int = 768, step: int = 3) -> Launch:
    """Layer norms: a row per thread (1); a row per warp in three passes (3) or two (4); a row per block (5)."""
    x = np.zeros(rows * columns, np.float32)
    arguments = dict(x=x, out=np.zeros_like(x), columns=columns)
    if step == 1:
        return Launch(normed_by_thread, rows // BLOCK, BLOCK, arguments, registers=32)
    if step == 5:
        return Launch(normed_by_block, rows, BLOCK, arguments, registers=32)
    return Launch(normed, rows * WARP // BLOCK, BLOCK, arguments | dict(step=step), registers=32)


@workload
def layer_norm_part(rows: int = 1 << 12, columns: int = 768, part: int = 0) -> Launch:
    """The second step's three kernels: means (0) and spreads (1) of a row per block, then the elements (2)."""
    x, means, sums = np.zeros(rows * columns, np.float32), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    arguments = dict(x=x, means=means, sums=sums, columns=columns)
    if part == 2:
        return Launch(normed_elements, len(x) // BLOCK, BLOCK, arguments | dict(out=np.zeros_like(x)), registers=16)
    return Launch(row_sums, rows, BLOCK, arguments | dict(squares=part == 1), registers=16)


def pieces(t: Thread, threads, height, width, wide):
    """Row and column of the pieces of a tile that a thread copies."""
    own = (t.thread_idx.x + n * threads for n in range(height * width // (threads * wide)))
    return [(piece * wide // width, piece * wide % width) for piece in own]


def place(step, tile, y, x):
    """Where an element of B's tile lies: by rows, shuffled so that lanes fall into different banks (7), or with five
    columns more (8)."""
    if step == 7:
        return (y * 8 + x % 8) * (tile // 8) + x // 8
    return y * (tile + 5 * (step == 8)) + x


def copied(t: Thread, a, b, mine, other, start, step, tile, depth):
    """A tile of A's rows, stored by columns from the sixth step on, and one of B, for the next `depth` products."""
    threads, wide = t.block_dim.x, 1 if step < 6 else 4
    of_a, of_b = pieces(t, threads, tile, depth, wide), pieces(t, threads, depth, tile, wide)
    k, n = a.shape[1], b.shape[1]
    rows = [a.load((t.block_idx.y * tile + y) * k + start + x, wide) for y, x in of_a]
    columns = [b.load((start + y) * n + t.block_idx.x * tile + x, wide) for y, x in of_b]
    for (y, x), values in zip(of_a, rows, strict=True):
        for i, value in enumerate(values):
            mine[(x + i) * tile + y if step >= 6 else y * depth + x + i] = value
    for (y, x), values in zip(of_b, columns, strict=True):
        if step in (7, 8):
            for i, value in enumerate(values):
                other[place(step, tile, y, x + i)] = value
        else:
            other.store(place(step, tile, y, x), values)


def factors(mine, other, row, columns, first, step, tile, depth):
    """Of four steps: what a thread needs of both tiles; neighbours in one load, as the assembler joins them."""
    steps = range(first, first + 4)
    if step >= 6:
        of_a = [[v for i in (0, 4) for v in mine.load(k * tile + row + i, 4)] for k in steps]
    else:
        of_a = list(zip(*(mine.load((row + i) * depth + first, 4) for i in range(HEIGHT)), strict=True))
    if step in (4, 7, 8):
        of_b = [[other[place(step, tile, k, x + i)] for x, width in columns for i in range(width)] for k in steps]
    else:
        of_b = [[v for x, _ in columns for v in other.load(place(step, tile, k, x), 4)] for k in steps]
    return zip(of_a, of_b, strict=True)


def mine_of(t: Thread, step, tile):
    """The first row of a tile that a thread computes, and its pieces of columns: first column and width."""
    tid = t.thread_idx.x
    if step == 4:
        return tid // tile * HEIGHT, [(tid % tile, 1)]
    if step == 10:
        row, column = t.warp_id // 2 * 64 + t.lane_id // 4 * HEIGHT, t.warp_id % 2 * 64 + t.lane_id % 4 * 4
        return row, [(column + 16 * j, 4) for j in range(4)]
    return tid // (tile // 8) * HEIGHT, [(tid % (tile // 8) * 8 + 4 * j, 4) for j in range(2)]


def multiplied(t: Thread, a, b, c, step, tile, depth):
    """A tile of C a block."""
    mine, other = t.shared(tile * depth, np.float32), t.shared(depth * (tile + 5), np.float32)
    row, columns = mine_of(t, step, tile)
    columns_per_thread = sum(width for _, width in columns)
    sums = [t.var(0.0) for _ in range(HEIGHT * columns_per_thread)]
    for start in range(0, a.shape[1], depth):
        copied(t, a, b, mine, other, start, step, tile, depth)
        t.sync()
        for first in range(0, depth, 4):
            for of_a, of_b in factors(mine, other, row, columns, first, step, tile, depth):
                with t.independent(len(sums)):
                    for i, left in enumerate(of_a):
                        for j, right in enumerate(of_b):
                            sums[i * columns_per_thread + j] += left * right
        t.sync()
    for i in range(HEIGHT):
        line = (t.block_idx.y * tile + row + i) * c.shape[1] + t.block_idx.x * tile
        for x, width in columns:
            values, sums = sums[:width], sums[width:]
            for j in range(0, width, 1 if step < 6 else 4):
                c.store(line + x + j, tuple(values[j : j + (1 if step < 6 else 4)]))


@workload
def sgemm(m: int = 2560, n: int = 1024, k: int = 32, step: int = 4) -> Launch:
    """Boehm's products: eight results of a column a thread (4), eight by eight (5), four words an access (6), other
    columns in shared memory (7, 8), deeper tiles (9), tiles of a warp (10)."""
    tile, depth = 64 if step == 4 else 128, 16 if step > 8 else 8
    threads, registers = {4: (512, 44), 10: (128, 168)}.get(step, (256, 112))
    a, b, c = (np.zeros(shape, np.float32) for shape in ((m, k), (k, n), (m, n)))
    arguments = dict(a=a, b=b, c=c, step=step, tile=tile, depth=depth)
    return Launch(multiplied, (n // tile, m // tile), threads, arguments, registers=registers)
