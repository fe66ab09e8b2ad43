"""Histogram of 64 bins without atomics: every thread counts in 64 bytes of its own in shared memory.

After Podlozhnyuk, "Histogram Calculation in CUDA" (NVIDIA, 2007), the first kernel of the CUDA sample histogram: data
come 16 bytes a load, and a thread stops before a byte overflows. Each block leaves a histogram.
"""

import numpy as np

from memsim import Launch, Thread, workload

BINS = THREADS = 64
LOADS = 15  # of a thread: 15 x 16 bytes fit a counter of 8 bits


def own_bytes(t: Thread, data, partial, vectors):
    counts = t.shared((BINS, THREADS), np.uint8)
    x = t.thread_idx.x
    for k in t.range(BINS // 4):
        counts.store(4 * (x + k * THREADS), (0, 0, 0, 0))
    t.sync()
    mine = (x & 15) << 2 | x >> 4  # the lanes of half a warp count in banks of their own
    for i in t.range(t.global_id, vectors, THREADS * t.grid_dim.x):
        for word in data.load(4 * i, 4):
            for shift in (2, 10, 18, 26):  # the upper six bits of each byte
                bin = word >> shift & 63
                counts[bin, mine] = counts[bin, mine] + 1
    t.sync()
    total = t.var(0)
    for k in t.range(THREADS):
        total += counts[x, (x + k) % THREADS]
    partial[t.block_idx.x, x] = total


@workload
def histogram64(n: int = 1 << 24, data_seed: int = 1) -> Launch:
    """``n`` random bytes, a multiple of 16 (the sample has 2 ** 26)."""
    if n < 16 or n % 16:
        raise ValueError(f"n is {n}; give a multiple of 16")
    data = np.random.default_rng(data_seed).integers(0, 2**32, n // 4, np.uint32)
    vectors = n // 16
    blocks = -(-vectors // (THREADS * LOADS))

    def expected() -> dict[str, np.ndarray]:
        block = np.arange(vectors) % (THREADS * blocks) // THREADS
        bins = np.repeat(block, 16) * BINS + (data.view(np.uint8) >> 2)
        return {"partial": np.bincount(bins, minlength=blocks * BINS).reshape(blocks, BINS)}

    return Launch(
        own_bytes,
        grid=blocks,
        block=THREADS,
        arguments=dict(data=data, partial=np.zeros((blocks, BINS), np.uint32), vectors=vectors),
        registers=20,
        expected=expected,
    )
