"""Discrete cosine transform of an image in squares of 8 x 8: two kernels of the CUDA sample dct8x8.

Obukhov and Kharlamov, "Discrete Cosine Transform for 8x8 Blocks with CUDA" (NVIDIA, 2008). ``lines``: a block has
32 x 16 pixels in shared memory; each thread transforms a row of 8, then a column, in registers. ``pixels``: a block is
a square, read through a texture; each thread makes one element of both products with the matrix of cosines, which is in
constant memory.
"""

from typing import Literal

import numpy as np
from scipy.fft import dctn

from memsim import Launch, Thread, workload
from memsim.sources import Texture
from memsim.sources.describe import Constant

WIDTH, HEIGHT = 32, 16  # pixels of a block; its threads are 8 x (WIDTH / 8) x (HEIGHT / 8)
COSINES = [[np.cos(np.pi * (2 * j + 1) * k / 16) / (2 if k else np.sqrt(8)) for j in range(4)] for k in range(8)]


def transformed(values):
    """The transform of eight values; sums and differences of what lies symmetric halve the products."""
    even = [values[j] + values[7 - j] for j in range(4)]
    odd = [values[j] - values[7 - j] for j in range(4)]
    return [sum(float(COSINES[k][j]) * (odd if k % 2 else even)[j] for j in range(4)) for k in range(8)]


def squares(t: Thread, image, spectrum):
    tile = t.shared((HEIGHT, WIDTH + 1), np.float32)
    k, left, top = t.thread_idx.x, t.thread_idx.y * 8, t.thread_idx.z * 8
    x, y = t.block_idx.x * WIDTH + left + k, t.block_idx.y * HEIGHT + top
    for i in range(8):
        tile[top + i, left + k] = image[y + i, x]
    t.sync()
    row = transformed([tile[top + k, left + i] for i in range(8)])
    for i in range(8):
        tile[top + k, left + i] = row[i]
    t.sync()
    column = transformed([tile[top + i, left + k] for i in range(8)])
    for i in range(8):
        spectrum[y + i, x] = column[i]


def pixels(t: Thread, image, cosines, spectrum):
    """`cosines` is [sample, frequency]."""
    first = t.shared((8, 8), np.float32)
    second = t.shared((8, 8), np.float32)
    tx, ty = t.thread_idx.x, t.thread_idx.y
    x, y = t.block_idx.x * 8 + tx, t.block_idx.y * 8 + ty
    first[ty, tx] = image[y, x]
    t.sync()
    down = t.var(0.0)
    for i in range(8):
        down += cosines[i, ty] * first[i, tx]
    second[ty, tx] = down
    t.sync()
    both = t.var(0.0)
    for i in range(8):
        both += second[ty, i] * cosines[i, tx]
    first[ty, tx] = both
    t.sync()
    spectrum[y, x] = first[ty, tx]


@workload
def dct8x8(n: int = 512, variant: Literal["lines", "pixels"] = "lines", data_seed: int = 1) -> Launch:
    """An image of ``n`` x ``n`` random float32, ``n`` a multiple of 32."""
    if n < WIDTH or n % WIDTH:
        raise ValueError(f"n is {n}; give a multiple of {WIDTH}")
    image = np.random.default_rng(data_seed).uniform(-128, 128, (n, n)).astype(np.float32)

    def expected() -> dict[str, np.ndarray]:
        parts = image.astype(np.float64).reshape(n // 8, 8, n // 8, 8)
        return {"spectrum": dctn(parts, axes=(1, 3), norm="ortho").reshape(n, n)}

    spectrum = np.zeros_like(image)
    if variant == "pixels":
        sample, frequency = np.meshgrid(np.arange(8), np.arange(8), indexing="ij")
        cosines = np.cos(np.pi * (2 * sample + 1) * frequency / 16) / np.where(frequency, 2, np.sqrt(8))
        arguments = dict(image=Texture(image), cosines=Constant(cosines.astype(np.float32)), spectrum=spectrum)
        return Launch(pixels, grid=(n // 8, n // 8), block=(8, 8), arguments=arguments, registers=16, expected=expected)
    return Launch(
        squares,
        grid=(n // WIDTH, n // HEIGHT),
        block=(8, WIDTH // 8, HEIGHT // 8),
        arguments=dict(image=image, spectrum=spectrum),
        registers=32,
        expected=expected,
    )
