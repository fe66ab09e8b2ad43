"""Merge sort of keys with values, by ranks: an element's place is its place in its run plus its rank in the other one.

After Satish, Harris and Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs" (IPDPS 2009). A block sorts
a tile of its own in shared memory (shared), or the launch is one pass that merges sorted runs in global memory
(global). Binary searches of neighbouring lanes begin at one place and part.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def tile_a_block(t: Thread, keys, values, sorted_keys, sorted_values, tile, levels):
    key = t.shared(tile, np.int32)
    value = t.shared(tile, np.int32)
    tid, half, first = t.thread_idx.x, tile // 2, t.block_idx.x * tile
    for at in (0, half):
        key[tid + at] = keys[first + tid + at]
        value[tid + at] = values[first + tid + at]
    for level in t.range(levels):
        t.sync()
        run = 1 << level
        k = tid % run
        left = 2 * (tid - k)
        right = left + run
        a, b, value_a, value_b = key[left + k], key[right + k], value[left + k], value[right + k]
        below_a, below_b = t.var(0), t.var(0)
        for halving in t.range(1, level + 1):
            step = run >> halving
            with t.where(key[right + below_a + step - 1] < a):
                below_a += step
            with t.where(key[left + below_b + step - 1] <= b):
                below_b += step
        with t.where(key[right + below_a] < a):
            below_a += 1
        with t.where(key[left + below_b] <= b):
            below_b += 1
        t.sync()
        key[left + k + below_a] = a
        value[left + k + below_a] = value_a
        key[left + k + below_b] = b
        value[left + k + below_b] = value_b
    t.sync()
    for at in (0, half):
        sorted_keys[first + tid + at] = key[tid + at]
        sorted_values[first + tid + at] = value[tid + at]


def one_pass(t: Thread, keys, values, sorted_keys, sorted_values, run, level):
    k = t.global_id % run
    left = 2 * (t.global_id - k)
    right = left + run
    a, b = keys[left + k], keys[right + k]
    below_a, below_b = t.var(0), t.var(0)
    for halving in t.range(1, level + 1):
        step = run >> halving
        with t.where(keys[right + below_a + step - 1] < a):
            below_a += step
        with t.where(keys[left + below_b + step - 1] <= b):
            below_b += step
    with t.where(keys[right + below_a] < a):
        below_a += 1
    with t.where(keys[left + below_b] <= b):
        below_b += 1
    sorted_keys[left + k + below_a] = a
    sorted_values[left + k + below_a] = values[left + k]
    sorted_keys[left + k + below_b] = b
    sorted_values[left + k + below_b] = values[right + k]


@workload
def merge_sort(
    n: int = 1 << 19,
    variant: Literal["shared", "global"] = "shared",
    tile: int = 1024,
    block: int = 256,
    data_seed: int = 1,
) -> Launch:
    """``n`` random int32. Tiles, a power of two, are sorted by tile / 2 threads (shared), or pairs of sorted tiles are
    merged, each thread placing an element of either, in blocks of ``block`` threads (global).
    """
    length = tile if variant == "shared" else 2 * tile
    threads = tile // 2 if variant == "shared" else block
    if tile < 2 or tile & (tile - 1) or n < 1 or n % length or n // 2 % threads:
        raise ValueError(f"n is {n} and tile {tile}; give a power of two as tile, and n a multiple of {length}")
    keys = np.random.default_rng(data_seed).integers(0, n, n, np.int32)
    if variant == "global":
        keys = np.sort(keys.reshape(-1, tile), axis=1).reshape(-1)
    values = np.arange(n, dtype=np.int32)

    def expected() -> dict[str, np.ndarray]:
        order = np.argsort(keys.reshape(-1, length), axis=1, kind="stable")
        order = (order + np.arange(0, n, length)[:, None]).reshape(-1)
        return {"sorted_keys": keys[order], "sorted_values": values[order]}

    arguments = dict(keys=keys, values=values, sorted_keys=np.zeros_like(keys), sorted_values=np.zeros_like(values))
    levels = tile.bit_length() - 1
    arguments |= dict(tile=tile, levels=levels) if variant == "shared" else dict(run=tile, level=levels)
    return Launch(
        tile_a_block if variant == "shared" else one_pass,
        grid=n // 2 // threads,
        block=threads,
        arguments=arguments,
        registers=18,
        expected=expected,
    )
