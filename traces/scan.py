"""Exclusive prefix sums, a tile a block in shared memory, and the tiles' sums.

By doubling distances (Hillis and Steele, CACM 1986): n log n additions; or up and down a tree (Blelloch, 1990): 2 n,
but strides that are powers of two, which conflict in the banks unless indices are padded. Both as in Harris, Sengupta
and Owens, "Parallel Prefix Sum (Scan) with CUDA" (GPU Gems 3, chapter 39, 2007).
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

BANKS = 32


def doubling(t: Thread, x, out, sums, levels):
    tid, i = t.thread_idx.x, t.global_id
    buffers = t.shared((2, t.block_dim.x), np.float32)
    before = t.var(0.0)
    with t.where(tid > 0):
        before.set(x[i - 1])
    buffers[0, tid] = before
    t.sync()
    for level in t.range(levels):
        source, target, distance = level % 2, 1 - level % 2, 1 << level
        total = t.var(buffers[source, tid])
        with t.where(tid >= distance):
            total += buffers[source, tid - distance]
        buffers[target, tid] = total
        t.sync()
    out[i] = buffers[levels % 2, tid]
    with t.where(tid == t.block_dim.x - 1):
        sums[t.block_idx.x] = buffers[levels % 2, tid] + x[i]


def place(i, padded):
    return i + i // BANKS if padded else i


def tree(t: Thread, x, out, sums, levels, padded):
    tid, half, width = t.thread_idx.x, t.block_dim.x, 2 * t.block_dim.x
    first = t.block_idx.x * width
    tile = t.shared(width + width // BANKS, np.float32)
    tile[place(tid, padded)] = x[first + tid]
    tile[place(tid + half, padded)] = x[first + tid + half]
    for level in t.range(levels):
        t.sync()
        with t.where(tid < half >> level):
            left = place((2 * tid + 1 << level) - 1, padded)
            right = place((2 * tid + 2 << level) - 1, padded)
            tile[right] = tile[right] + tile[left]
    t.sync()
    with t.where(tid == 0):
        sums[t.block_idx.x] = tile[place(width - 1, padded)]
        tile[place(width - 1, padded)] = 0.0
    for level in t.range(levels - 1, -1, -1):
        t.sync()
        with t.where(tid < half >> level):
            left = place((2 * tid + 1 << level) - 1, padded)
            right = place((2 * tid + 2 << level) - 1, padded)
            before = tile[left]
            tile[left] = tile[right]
            tile[right] = tile[right] + before
    t.sync()
    out[first + tid] = tile[place(tid, padded)]
    out[first + tid + half] = tile[place(tid + half, padded)]


@workload
def scan(
    tiles: int = 1024,
    block: int = 256,
    variant: Literal["doubling", "tree", "padded"] = "tree",
    data_seed: int = 1,
) -> Launch:
    """Random float32. A block of a power of two threads scans as many (doubling) or twice as many (tree, padded)."""
    if block < 2 or block & (block - 1):
        raise ValueError(f"block is {block}; give a power of two, at least 2")
    width = block if variant == "doubling" else 2 * block
    x = np.random.default_rng(data_seed).random(tiles * width, np.float32)

    def expected() -> dict[str, np.ndarray]:
        inclusive = np.cumsum(x.reshape(tiles, width), axis=1, dtype=np.float64)
        return {"out": (inclusive - x.reshape(tiles, width)).reshape(-1), "sums": inclusive[:, -1]}

    arguments = dict(x=x, out=np.zeros_like(x), sums=np.zeros(tiles, np.float32), levels=width.bit_length() - 1)
    if variant != "doubling":
        arguments["padded"] = variant == "padded"
    return Launch(
        doubling if variant == "doubling" else tree,
        grid=tiles,
        block=block,
        arguments=arguments,
        registers=16,
        expected=expected,
    )
