"""Convolution of an image with a square filter in constant memory, one pixel a thread.

Every neighbour from global memory (direct), or from a tile with its apron in shared memory (tiled), as in
Podlozhnyuk, "Image Convolution with CUDA" (NVIDIA, 2007). 2DCONV of PolyBench/GPU is the direct one with radius 1.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload
from memsim.sources import Constant

WIDTH, HEIGHT = 32, 8  # threads of a block, and pixels of its tile


def direct(t: Thread, image, weights, out, n, radius):
    x, y = t.block_idx.x * WIDTH + t.thread_idx.x, t.block_idx.y * HEIGHT + t.thread_idx.y
    with t.where((x >= radius) & (x < n - radius) & (y >= radius) & (y < n - radius)):
        total = t.var(0.0)
        for i in range(-radius, radius + 1):
            for j in range(-radius, radius + 1):
                total += weights[i + radius, j + radius] * image[y + i, x + j]
        out[y, x] = total


def tiled(t: Thread, image, weights, out, n, radius):
    tile = t.shared((HEIGHT + 2 * radius, WIDTH + 2 * radius), np.float32)
    left, top = t.block_idx.x * WIDTH - radius, t.block_idx.y * HEIGHT - radius
    for i in t.range(t.thread_idx.y, HEIGHT + 2 * radius, HEIGHT):
        for j in t.range(t.thread_idx.x, WIDTH + 2 * radius, WIDTH):
            with t.where((left + j >= 0) & (left + j < n) & (top + i >= 0) & (top + i < n)):
                tile[i, j] = image[top + i, left + j]
    t.sync()
    x, y = left + radius + t.thread_idx.x, top + radius + t.thread_idx.y
    with t.where((x >= radius) & (x < n - radius) & (y >= radius) & (y < n - radius)):
        total = t.var(0.0)
        for i in range(2 * radius + 1):
            for j in range(2 * radius + 1):
                total += weights[i, j] * tile[t.thread_idx.y + i, t.thread_idx.x + j]
        out[y, x] = total


@workload
def conv2d(
    n: int = 1024, radius: int = 1, variant: Literal["direct", "tiled"] = "direct", data_seed: int = 1
) -> Launch:
    """An image of ``n`` x ``n`` float32, ``n`` a multiple of 32; pixels nearer to the border than ``radius`` stay 0."""
    if n < WIDTH or n % WIDTH or not 0 <= radius <= 16:
        raise ValueError(f"n is {n} and radius {radius}; give a multiple of {WIDTH}, and a radius of 0 to 16")
    rng = np.random.default_rng(data_seed)
    side = 2 * radius + 1
    image, weights = rng.random((n, n), np.float32), rng.random((side, side), np.float32)

    def expected() -> dict[str, np.ndarray]:
        out = np.zeros_like(image)
        windows = np.lib.stride_tricks.sliding_window_view(image, (side, side))
        out[radius : n - radius, radius : n - radius] = np.einsum("yxij,ij->yx", windows, weights)
        return {"out": out}

    return Launch(
        direct if variant == "direct" else tiled,
        grid=(n // WIDTH, n // HEIGHT),
        block=(WIDTH, HEIGHT),
        arguments=dict(image=image, weights=Constant(weights), out=np.zeros_like(image), n=n, radius=radius),
        registers=20,
        expected=expected,
    )
