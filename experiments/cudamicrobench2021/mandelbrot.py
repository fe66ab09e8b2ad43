"""DynParallel: the Mandelbrot set on an RTX 3080, pixel by pixel, or tile by tile with kernels launched by kernels.

The adaptive version (Mariani and Silver's) computes the border of each of 64 x 64 tiles; where it is of one colour, a
child kernel fills the tile, else one computes its pixels. Nearly nothing of it is memory: a block takes what its
instructions take, and `memsim.host` hands out the blocks.
"""

from __future__ import annotations

import numpy as np

from memsim.gpu.presets import load_gpu
from memsim.host import HostProgram, KernelWork, Nested, simulate
from memsim.jit.compiled import loop

GPU = load_gpu("rtx3080")
MOST = 2048  # iterations of a pixel
TILES = 64  # along each side
BLOCK = (64, 16)  # threads
_WARP = 32
_SCHEDULERS = GPU.sm.issue_per_cycle
# z = z z + c with |z|: four products, three with additions, two sums, two comparisons, the counter, the branch; from
# one z to the next three of them depend on each other, and the branch on three more.
ITERATION_INSTRUCTIONS = 10
ITERATION_CHAIN = 6
FILL_US = 1.0  # of a block that stores 4 KB: the order of one round trip to memory


def dwell(x: np.ndarray, y: np.ndarray, size: int) -> np.ndarray:
    """Iterations of pixels (column x, row y) of a picture of size x size, -1.5 to 0.5 and -1 to 1: i4, at most MOST."""
    c_re = (2 * x / np.float32(size) - 1.5).astype(np.float32)
    c_im = (2 * y / np.float32(size) - 1).astype(np.float32)
    found = np.empty(c_re.shape, np.int32)
    _iterate(c_re.reshape(-1), c_im.reshape(-1), found.reshape(-1))
    return found


@loop
def _iterate(c_re, c_im, found):
    """Points of the cardioid and of the disc of period two never leave (textbook formulas) and are not iterated."""
    for i in range(len(found)):
        a, b = c_re[i], c_im[i]
        quarter = (a - 0.25) * (a - 0.25) + b * b
        if quarter * (quarter + a - 0.25) < 0.25 * b * b or (a + 1) * (a + 1) + b * b < 0.0625:
            found[i] = MOST
            continue
        re, im = a, b
        count = 0
        while count < MOST and re * re + im * im < 4:
            re, im = re * re - im * im + a, re * im + re * im + b
            count += 1
        found[i] = count


def block_us(iterations: np.ndarray) -> np.ndarray:
    """Microseconds of blocks whose warps iterate so often: i8 [blocks, warps].

    A block of 1024 threads has its SM alone (1536 threads): its time is that of issuing every warp's instructions, or
    that of the longest chain of them.
    """
    issued = iterations.sum(axis=1) * ITERATION_INSTRUCTIONS / _SCHEDULERS
    chain = iterations.max(axis=1) * ITERATION_CHAIN * GPU.sm.instruction_cycles
    return np.maximum(issued, chain) / GPU.sm.clock_mhz


def everywhere(size: int, sample: int, seed: int = 1) -> float:
    """Microseconds for every pixel by itself, from `sample` of the blocks."""
    rng = np.random.default_rng(seed)
    across, down = -(-size // BLOCK[0]), -(-size // BLOCK[1])
    chosen = rng.choice(across * down, min(sample, across * down), replace=False)
    end = np.full(len(chosen), size)
    times = _pixel_blocks(chosen % across * BLOCK[0], chosen // across * BLOCK[1], end, end, size)
    program = HostProgram()
    program.kernel("pixels", KernelWork(across * down, GPU.sm.count, float(times.mean())))
    program.synchronize()
    return simulate(program, GPU).microseconds


def adaptive(size: int, sample: int, seed: int = 1) -> float:
    """Microseconds tile by tile; of a tile that is computed pixel by pixel `sample` of the blocks are looked at."""
    rng, side = np.random.default_rng(seed), size // TILES
    x0, y0 = (side * tile.reshape(-1) for tile in np.meshgrid(np.arange(TILES), np.arange(TILES)))
    border = np.stack([dwell(*ends, size) for ends in _borders(x0, y0, side)], axis=1)  # [tiles, 4, side]
    uniform = (border == border[:, :1, :1]).all(axis=(1, 2))
    warps = np.pad(border, ((0, 0), (0, 0), (0, -side % _WARP))).reshape(len(x0), 4, -1, _WARP)
    parents = block_us(warps.max(axis=3).sum(axis=1))
    across, down = -(-side // BLOCK[0]), -(-side // BLOCK[1])
    mean = np.full(len(x0), FILL_US)
    tile = np.repeat(np.flatnonzero(~uniform), min(sample, across * down))
    chosen = rng.integers(across * down, size=len(tile))
    x, y = x0[tile] + chosen % across * BLOCK[0], y0[tile] + chosen // across * BLOCK[1]
    sampled = _pixel_blocks(x, y, x0[tile] + side, y0[tile] + side, size)
    mean[~uniform] = sampled.reshape(-1, min(sample, across * down)).mean(axis=1)
    children = tuple(KernelWork(across * down, GPU.sm.count, each) for each in mean.tolist())
    program = HostProgram()
    program.kernel("tiles", Nested(GPU.sm.count, tuple(parents.tolist()), children))
    program.synchronize()
    return simulate(program, GPU).microseconds


def _borders(x0: np.ndarray, y0: np.ndarray, side: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """East, north, west and south of tiles: columns and rows, [tiles, side] each."""
    along, none = np.arange(side), np.zeros(side, np.int64)
    ways = ((none + side - 1, along), (along, none + side - 1), (none, along), (along, none))
    return [(x0[:, None] + dx, y0[:, None] + dy) for dx, dy in ways]


def _pixel_blocks(x0: np.ndarray, y0: np.ndarray, end_x: np.ndarray, end_y: np.ndarray, size: int) -> np.ndarray:
    """Microseconds of blocks at (x0, y0) of which each thread computes one pixel, left of end_x and above end_y."""
    x = x0[:, None, None] + np.arange(BLOCK[0])
    y = y0[:, None, None] + np.arange(BLOCK[1])[:, None]
    x, y = np.broadcast_arrays(x, y)
    within = (x < end_x[:, None, None]) & (y < end_y[:, None, None])
    iterations = np.where(within, dwell(x, y, size), 0)
    return block_us(iterations.reshape(len(x0), -1, _WARP).max(axis=2))
