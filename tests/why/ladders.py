"""Ladders of kernels, each step a little faster than the one before, as lessons have them; for test_gains_of_ladders."""

from __future__ import annotations

import numpy as np
from slow_and_fast import BLOCK

from memsim import Launch, Thread, workload

WARP = 32


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
    for k in range(each):
        mine += x[first + k * BLOCK]
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
    """A row a warp: mean, spread and result, in three passes, or in two."""
    first = t.global_id // WARP * columns + t.lane_id
    mean, square = t.var(0.0), t.var(0.0)
    for k in range(0, columns, WARP):
        value = x[first + k]
        mean += value
        if step == 4:
            square += value * value
    mean += by_shuffles(t, mean + 0.0)
    if step == 3:
        for k in range(0, columns, WARP):
            square += (x[first + k] - mean) * (x[first + k] - mean)
    square += by_shuffles(t, square + 0.0)
    for k in range(0, columns, WARP):
        out[first + k] = (x[first + k] - mean) * square


def normed_by_block(t: Thread, x, out, columns):
    """A row a block, in one pass over what fits registers."""
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
    """Layer norms of a row a warp, in three passes (3) or two (4), and of a row a block (5)."""
    x = np.zeros(rows * columns, np.float32)
    arguments = dict(x=x, out=np.zeros_like(x), columns=columns)
    if step == 5:
        return Launch(normed_by_block, rows, BLOCK, arguments, registers=32)
    return Launch(normed, rows * WARP // BLOCK, BLOCK, arguments | dict(step=step), registers=32)
