"""Walsh-Hadamard transform by radix-4 butterflies, the two kernels of the CUDA sample fastWalshTransform.

``global`` is one pass over signals in global memory, its butterflies' elements ``stride`` apart; ``shared`` transforms
tiles in shared memory, a tile a block. In place, in the order of Hadamard's matrix: Fino and Algazi, "Unified Matrix
Treatment of the Fast Walsh-Hadamard Transform" (IEEE Trans. Computers, 1976).
"""

from typing import Literal

import numpy as np
from scipy.linalg import hadamard

from memsim import Launch, Thread, workload


def butterfly(a, b, c, d):
    """The transform of four elements."""
    a, b, c, d = a + c, b + d, a - c, b - d
    return a + b, a - b, c + d, c - d


def one_pass(t: Thread, data, stride):
    k = t.global_id % stride
    at = 4 * (t.global_id - k) + k
    values = butterfly(data[at], data[at + stride], data[at + 2 * stride], data[at + 3 * stride])
    for i in range(4):
        data[at + i * stride] = values[i]


def tile_a_block(t: Thread, data, length, levels):
    tile = t.shared(length, np.float32)
    tid, first = t.thread_idx.x, t.block_idx.x * length
    for i in range(4):
        tile[tid + i * t.block_dim.x] = data[first + tid + i * t.block_dim.x]
    for level in t.range(levels // 2):
        stride = length >> 2 * (level + 1)
        k = tid % stride
        at = 4 * (tid - k) + k
        t.sync()
        values = butterfly(tile[at], tile[at + stride], tile[at + 2 * stride], tile[at + 3 * stride])
        for i in range(4):
            tile[at + i * stride] = values[i]
    if levels % 2:
        t.sync()
        for pair in (tid, tid + t.block_dim.x):
            a, b = tile[2 * pair], tile[2 * pair + 1]
            tile[2 * pair] = a + b
            tile[2 * pair + 1] = a - b
    t.sync()
    for i in range(4):
        data[first + tid + i * t.block_dim.x] = tile[tid + i * t.block_dim.x]


@workload
def fast_walsh(
    n: int = 1 << 21,
    variant: Literal["shared", "global"] = "shared",
    length: int = 2048,
    stride: int = 1 << 19,
    block: int = 256,
    data_seed: int = 1,
) -> Launch:
    """``n`` random float32: tiles of ``length``, a power of two, by length / 4 threads (shared), or elements ``stride``
    apart, a power of two, by ``block`` threads (global). The sample has 2 ** 23, and strides from a quarter down.
    """
    shared = variant == "shared"
    extent, threads = (length, length // 4) if shared else (4 * stride, block)
    if extent < 4 or extent & (extent - 1) or n < 1 or n % extent or n // 4 % threads:
        raise ValueError(f"n is {n}, its parts {extent}; give a power of two, at least 4, and n a multiple of it")
    data = np.random.default_rng(data_seed).random(n, np.float32)
    before = data.astype(np.float64)

    def expected() -> dict[str, np.ndarray]:
        if not shared:
            quarters = before.reshape(-1, 4, stride)
            return {"data": np.einsum("ij,njk->nik", hadamard(4), quarters).reshape(-1)}
        return {"data": (before.reshape(-1, length) @ hadamard(length)).reshape(-1)}

    arguments = dict(data=data)
    arguments |= dict(length=length, levels=length.bit_length() - 1) if shared else dict(stride=stride)
    return Launch(
        tile_a_block if shared else one_pass,
        grid=n // 4 // threads,
        block=threads,
        arguments=arguments,
        registers=18,
        expected=expected,
    )
