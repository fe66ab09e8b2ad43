"""D = alpha A B + beta C of half-precision A and B on tensor cores, tiles of A and B staged in shared memory.

``persistent`` is the CUDA sample cudaTensorCoreGemm: one block per SM, each taking tile after tile; A by rows, B by
columns, C and D by rows. ``tiled`` is the WMMA kernel of CUTLASS 1.x: a tile a block, A, B and D by columns, beta 0;
the next part of A and B is on its way to registers while the last is multiplied.
What tensor cores do inside a tile is described as scalar products from shared memory, or, as no address depends on it,
only charged as instructions (``multiply=false``: large matrices in seconds).
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

DEPTH = 64  # of a tile, in halves
WORDS = DEPTH // 2  # of 32 bits, two halves each: 128 bytes
PADDING = 4  # words, so that lines of a tile begin in different banks
WARPS = 8
# Of a warp for 16 halves of depth: 12 shared loads of fragments (16 bytes per lane), and 8 products of 16 x 16 x 16 in
# four steps of four instructions each (Jia et al., arXiv 1804.06826, section 4.4). Each of these takes two cycles, as a
# quarter of an SM has two tensor cores of 64 products a cycle (NVIDIA Tesla V100 whitepaper, WP-08608-001). The 8
# products have sums of their own; the steps of one follow each other.
FRAGMENT_INSTRUCTIONS, FRAGMENT_CHAIN = 12 + 8 * 16 * 2, 16


def half(word, odd):
    """One of the two halves of a word, a small whole number (`packed`), as float32."""
    return (word >> 16 * odd & 0xFFFF).astype(np.float32)


def persistent(t: Thread, a, b, c, d, n, k, side, alpha, beta, multiply):
    """A [m, k] and B transposed, [n, k], in words; C and D [m, n]."""
    a_tile = t.shared((side, WORDS + PADDING), np.uint32)
    b_tile = t.shared((side, WORDS + PADDING), np.uint32)
    rows, column, across = range(0, side, WARPS), 4 * t.lane_id, n // side
    for number in t.range(t.block_idx.x, len(c) // side**2, t.grid_dim.x):
        top, left = number // across * side, number % across * side
        at = [(top + t.warp_id + y) * n + left + column for y in rows]
        sums = [t.var(0.0) for _ in range(4 * len(rows))]
        with t.where(column < side):
            for i, element in enumerate(at):
                values = c.load(element, 4)
                for j in range(4):
                    sums[4 * i + j] += values[j] * (beta / alpha)
        for start in t.range(0, k // 2, WORDS):
            for half_of_warps, tile, source, first in ((0, a_tile, a, top), (1, b_tile, b, left)):
                with t.where(t.warp_id // 4 == half_of_warps):
                    lines = [t.warp_id % 4 * (side // 4) + y + t.lane_id // 8 for y in range(0, side // 4, 4)]
                    copied = [source.load((first + y) * (k // 2) + start + t.lane_id % 8 * 4, 4) for y in lines]
                    for y, words in zip(lines, copied, strict=True):  # nvcc unrolls the loop and loads first
                        tile.store(y * (WORDS + PADDING) + t.lane_id % 8 * 4, words)
            t.sync()
            if not multiply:
                t.compute(DEPTH // 16 * FRAGMENT_INSTRUCTIONS, chain=DEPTH // 16 * FRAGMENT_CHAIN)
            for i, y in enumerate(rows if multiply else ()):
                with t.where(column < side):
                    for word in range(WORDS):
                        x = a_tile[t.warp_id + y, word]
                        for j in range(4):
                            z = b_tile[column + j, word]
                            sums[4 * i + j] += half(x, 0) * half(z, 0) + half(x, 1) * half(z, 1)
            t.sync()
        with t.where(column < side):
            for i, element in enumerate(at):
                d.store(element, tuple(alpha * total for total in sums[4 * i : 4 * i + 4]))


def tiled(t: Thread, a, b, d, m, n, k, side, alpha, multiply):
    """A by columns, [k, m / 2] words; B by columns, [n, k / 2] words; D by columns, [n, m]."""
    a_tile = t.shared((DEPTH, side // 2 + PADDING), np.uint32)
    b_tile = t.shared((side, WORDS + PADDING), np.uint32)
    top, left = t.block_idx.x * side, t.block_idx.y * side
    thread, lanes = t.warp_id * 32 + t.lane_id, side // 8  # lanes that copy a column of A's tile
    columns, row = range(0, side, WARPS), 4 * t.lane_id
    sums = [t.var(0.0) for _ in range(4 * len(columns))]
    a_rows = [y + thread // lanes for y in range(0, DEPTH, 32 * WARPS // lanes)]
    b_columns = [y + thread // 8 for y in range(0, side, 32)]
    a_word, b_word = thread % lanes * 4, thread % 8 * 4
    of_b = [[t.var(0, np.uint32) for _ in range(4)] for _ in b_columns]

    def loaded(start):
        for column, words in zip(b_columns, of_b, strict=True):
            with t.where(left + column < n):
                for word, value in zip(words, b.load((left + column) * (k // 2) + start // 2 + b_word, 4), strict=True):
                    word.set(value)
        return [a.load((start + x) * (m // 2) + top // 2 + a_word, 4) for x in a_rows]

    of_a = loaded(0)
    for start in t.range(0, k, DEPTH):
        for x, words in zip(a_rows, of_a, strict=True):
            a_tile.store(x * (side // 2 + PADDING) + a_word, words)
        for column, words in zip(b_columns, of_b, strict=True):
            b_tile.store(column * (WORDS + PADDING) + b_word, tuple(words))
        t.sync()
        if start + DEPTH < k:
            of_a = loaded(start + DEPTH)
        if not multiply:
            chain = DEPTH // 16 * FRAGMENT_CHAIN
            t.compute(DEPTH // 16 * FRAGMENT_INSTRUCTIONS, while_loading=True, chain=chain)
        for i, y in enumerate(columns if multiply else ()):
            with t.where(row < side):
                for x in range(DEPTH):
                    z = half(b_tile[t.warp_id + y, x // 2], x % 2)
                    for j in range(0, 4, 2):
                        pair = a_tile[x, (row + j) // 2]
                        sums[4 * i + j] += half(pair, 0) * z
                        sums[4 * i + j + 1] += half(pair, 1) * z
        t.sync()
    for i, y in enumerate(columns):
        with t.where((row < side) & (left + y + t.warp_id < n)):
            values = tuple(alpha * total for total in sums[4 * i : 4 * i + 4])
            d.store((left + y + t.warp_id) * m + top + row, values)


def packed(values: np.ndarray) -> np.ndarray:
    """Small whole numbers, two neighbours a 32-bit word."""
    low, high = values.reshape(-1, 2).astype(np.uint32).T
    return low | high << np.uint32(16)


@workload
def tensor_gemm(
    m: int = 2560,
    n: int = 512,
    k: int = 2560,
    variant: Literal["tiled", "persistent"] = "tiled",
    multiply: bool = False,
    side: int = 128,
    grid: int = 80,
    alpha: float = 1.0,
    beta: float = 1.0,
    data_seed: int = 1,
) -> Launch:
    """A [m, k] times B [k, n] in tiles of ``side``, 32 to 128: m is a multiple of it, n too if persistent, k of 64.

    ``grid`` blocks persist, one an SM.
    """
    persists = variant == "persistent"
    if side not in (32, 64, 128) or min(m, n, k) < 1 or m % side or k % DEPTH or (persists and n % side):
        raise ValueError(f"m, n, k are {m}, {n}, {k} and side {side}; give multiples of side, and of 64 as k")
    rng = np.random.default_rng(data_seed)
    a, b, c = (rng.integers(0, 4, shape) for shape in ((m, k), (n, k), (m, n)))
    common = dict(b=packed(b), d=np.zeros(m * n, np.float32), n=n, k=k, side=side, alpha=alpha, multiply=multiply)
    if persists:
        arguments = common | dict(a=packed(a), c=c.reshape(-1).astype(np.float32), beta=beta)
        blocks: int | tuple[int, int] = grid
    else:
        arguments = common | dict(a=packed(np.ascontiguousarray(a.T)), m=m)
        blocks = (m // side, -(-n // side))

    def expected() -> dict[str, np.ndarray]:
        product = alpha * (a @ b.T) + (beta * c if persists else 0)
        return {"d": (product if persists else product.T).reshape(-1)} if multiply else {}

    return Launch(
        persistent if persists else tiled,
        grid=blocks,
        block=32 * WARPS,
        arguments=arguments,
        registers=128,
        # The sample passes C and D through shared memory, in the place of the tiles of A and B.
        shared_bytes=max(0, 4 * side**2 - 8 * side * (WORDS + PADDING)) if persists else 0,
        expected=expected,
    )
