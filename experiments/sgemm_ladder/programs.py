"""The ten kernels, unchanged, where the reader has downloaded them, and two of them described."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import memsim
from memsim import Launch, Thread, workload

SIDE = 4096  # of the product; the two factors are SIDE by k and k by SIDE
GPU = "rtx-a6000"
FOLDER = "SGEMM_CUDA"
WAVE = "1x"  # blocks: as many as are resident at once

HOST = Path(__file__).parents[1] / "silicon" / "cuda" / "sgemm.cu"
_CUBLAS = Path(__file__).with_name("include")  # a header in the place of cuBLAS's


def captured(kernel: int, k: int, folder: Path) -> memsim.Trace:
    """Trace the blocks of a kernel that run at once; no other block runs.

    Args:
        kernel: its number, from 1.
        k: the product's inner length.
        folder: of the downloads.
    """
    return memsim.capture(
        [HOST],
        arguments=["launches", str(k), str(kernel)],
        blocks=WAVE,
        includes=[folder / FOLDER / "src", _CUBLAS],
        gpu=GPU,
        snapshot_only=True,
    ).trace


def _naive(t: Thread, a, b, c, k):
    row, column = t.block_idx.x * 32 + t.thread_idx.x, t.block_idx.y * 32 + t.thread_idx.y
    _product(t, a, b, c, k, row, column)


def _coalesced(t: Thread, a, b, c, k):
    row, column = t.block_idx.x * 32 + t.thread_idx.x // 32, t.block_idx.y * 32 + t.thread_idx.x % 32
    _product(t, a, b, c, k, row, column)


def _product(t: Thread, a, b, c, k, row, column):
    total = t.var(0.0)
    for i in t.range(0, k):
        total += a[row, i] * b[i, column]
    c[row, column] = 0.5 * total + 3.0 * c[row, column]


DESCRIBED = {1: (_naive, (32, 32)), 2: (_coalesced, 1024)}


@workload(choices={"kernel": tuple(DESCRIBED)})
def product(kernel: int = 1, k: int = 256) -> Launch:
    """One of DESCRIBED, of an inner length; values do not matter."""
    function, block = DESCRIBED[kernel]
    shapes = dict(a=(SIDE, k), b=(k, SIDE), c=(SIDE, SIDE))
    arguments = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    return Launch(function, grid=(SIDE // 32, SIDE // 32), block=block, registers=40, arguments=arguments | dict(k=k))


def described(kernel: int, k: int) -> memsim.Trace:
    """Trace the blocks of one of DESCRIBED that run at once."""
    return memsim.trace(product, kernel=kernel, k=k, gpu=GPU, blocks=WAVE)
