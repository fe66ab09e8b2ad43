"""The kernels as descriptions of ours, for readers who have not downloaded the programs."""

from __future__ import annotations

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload
from memsim.sources import Constant

TILE_X, TILE_Y = 32, 16
SIDE = 16  # of a block's tile of the convolution


def _offset_add(t: Thread, a, b, c, n, offset):
    i = t.global_id
    with t.where(i + offset < n):
        c[i] = a[i + offset] + b[i + offset]


@workload
def offset_add(n: int = 1 << 24, offset: int = 0) -> Launch:
    """Two vectors summed from an offset on, one element a thread."""
    a, b, c = np.zeros((3, n), np.float32)
    return Launch(
        _offset_add, grid=n // 512, block=512, arguments=dict(a=a, b=b, c=c, n=n, offset=offset), registers=20
    )


def _direct(t: Thread, a, out, transposed):
    x, y = t.block_idx.x * TILE_X + t.thread_idx.x, t.block_idx.y * TILE_Y + t.thread_idx.y
    if transposed:
        out[x, y] = a[y, x]
    else:
        out[y, x] = a[y, x]


def _by_tile(t: Thread, a, out, pitch, tiles):
    """A thread moves an element of each of `tiles` adjacent tiles."""
    tile = t.shared((TILE_Y, pitch), np.float32)
    x, y = t.thread_idx.x, t.thread_idx.y
    left, top = t.block_idx.x * (tiles * TILE_X), t.block_idx.y * TILE_Y
    for k in range(tiles):
        tile[y, x + k * TILE_X] = a[top + y, left + x + k * TILE_X]
    t.sync()
    number = y * TILE_X + x
    down, across = number % TILE_Y, number // TILE_Y
    for k in range(tiles):
        out[left + across + k * TILE_X, top + down] = tile[down, across + k * TILE_X]


@workload
def tile_copy(n: int = 4096, variant: Literal["copy", "naive", "shared", "padded", "unrolled"] = "naive") -> Launch:
    """A matrix copied or transposed by blocks of 32 x 16 threads."""
    a = np.zeros((n, n), np.float32)
    tiles = 2 if variant == "unrolled" else 1
    arguments: dict = dict(a=a, out=np.zeros_like(a))
    if variant in ("copy", "naive"):
        arguments["transposed"] = variant == "naive"
    else:
        arguments |= dict(pitch=tiles * TILE_X + (0 if variant == "shared" else 2), tiles=tiles)
    kernel = _direct if variant in ("copy", "naive") else _by_tile
    grid = n // (tiles * TILE_X), n // TILE_Y
    return Launch(kernel, grid=grid, block=(TILE_X, TILE_Y), arguments=arguments, registers=16 + 4 * (tiles - 1))


def _convolution(t: Thread, image, weights, out, size, columns):
    """Zero beyond the border; `columns`: neighbouring threads take neighbouring rows."""
    x, y = (t.thread_idx.y, t.thread_idx.x) if columns else (t.thread_idx.x, t.thread_idx.y)
    row, column, radius = t.block_idx.y * SIDE + y, t.block_idx.x * SIDE + x, size // 2
    total = t.var(0.0)
    for k in range(size):
        with t.where((row + (k - radius) >= 0) & (row + (k - radius) < image.shape[1])):
            for j in range(size):
                with t.where((column + (j - radius) >= 0) & (column + (j - radius) < image.shape[2])):
                    pixel = image[t.block_idx.z, row + (k - radius), column + (j - radius)]
                    total += pixel * weights[k * size + j]
    out[t.block_idx.z, row, column] = total


def _convolution_by_tile(t: Thread, image, weights, out, size):
    radius, width = size // 2, SIDE + size - 1
    tile = t.shared(width * width, np.float32)
    number = t.thread_idx.y * SIDE + t.thread_idx.x
    top, left = t.block_idx.y * SIDE - radius, t.block_idx.x * SIDE - radius
    for i in t.range(number, width * width, SIDE * SIDE):
        row, column = top + i // width, left + i % width
        pixel = t.var(0.0)
        with t.where((row >= 0) & (row < image.shape[1]) & (column >= 0) & (column < image.shape[2])):
            pixel.set(image[t.block_idx.z, row, column])
        tile[i] = pixel
    t.sync()
    total = t.var(0.0)
    for k in range(size):
        for j in range(size):
            t.compute(3, while_loading=True)  # the counter, its comparison and branch: the loops are not unrolled
            total += tile[(t.thread_idx.y + k) * width + t.thread_idx.x + j] * weights[k * size + j]
    out[t.block_idx.z, top + radius + t.thread_idx.y, left + radius + t.thread_idx.x] = total


@workload
def convolution(
    n: int = 2048, images: int = 16, size: int = 11, variant: Literal["columns", "rows", "shared"] = "rows"
) -> Launch:
    """Images convolved with ``size`` x ``size`` weights, one pixel a thread."""
    image, weights = np.zeros((images, n, n), np.float32), np.zeros(size * size, np.float32)
    arguments: dict = dict(image=image, weights=weights, out=np.zeros_like(image), size=size)
    if variant == "shared":
        arguments["weights"] = Constant(weights)
    else:
        arguments["columns"] = variant == "columns"
    kernel = _convolution_by_tile if variant == "shared" else _convolution
    return Launch(kernel, grid=(n // SIDE, n // SIDE, images), block=(SIDE, SIDE), arguments=arguments, registers=32)


def _silu(t: Thread, a, out, n):
    for column in t.range(t.thread_idx.x, n, t.block_dim.x):
        value = a[t.block_idx.x, column]
        t.compute(20)  # an exponential and a division
        out[t.block_idx.x, column] = value


@workload
def silu(n: int = 8192) -> Launch:
    """x / (1 + exp(-x)) of a matrix, a row per block."""
    a = np.zeros((n, n), np.float32)
    return Launch(_silu, grid=n, block=256, arguments=dict(a=a, out=np.zeros_like(a), n=n), registers=21)


DESCRIBED = {"offset_add": offset_add, "tile_copy": tile_copy, "convolution": convolution, "silu": silu}
