"""The ten kernels, unchanged, where the reader has downloaded them, and two of them described."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from memsim import Launch, Thread, workload

SIDE = 4096  # of the product; the two factors are SIDE by k and k by SIDE
GPU = "rtx-a6000"
FOLDER = "SGEMM_CUDA"
WAVE = "1x"  # blocks: as many as are resident at once

# Tiles and blocks as the repository's runner has them for a product of 4096.
HOST = """
#include <cuda_runtime.h>
#include <cstdlib>
#include "kernels.cuh"
int main(int, char **argv) {
  const int kernel = atoi(argv[1]), k = atoi(argv[2]), n = 4096;
  float *a, *b, *c;
  cudaMalloc(&a, sizeof(float) * n * k);
  cudaMalloc(&b, sizeof(float) * k * n);
  cudaMalloc(&c, sizeof(float) * n * n);
  const dim3 small(128, 128), middle(64, 64), large(32, 32);
  const float x = 0.5f, y = 3.0f;
  if (kernel == 1) sgemm_naive<<<small, dim3(32, 32)>>>(n, n, k, x, a, b, y, c);
  if (kernel == 2) sgemm_global_mem_coalesce<32><<<small, 1024>>>(n, n, k, x, a, b, y, c);
  if (kernel == 3) sgemm_shared_mem_block<32><<<small, 1024>>>(n, n, k, x, a, b, y, c);
  if (kernel == 4) sgemm1DBlocktiling<64, 64, 8, 8><<<middle, 512>>>(n, n, k, x, a, b, y, c);
  if (kernel == 5) sgemm2DBlocktiling<128, 128, 8, 8, 8><<<large, 256>>>(n, n, k, x, a, b, y, c);
  if (kernel == 6) sgemmVectorize<128, 128, 8, 8, 8><<<large, 256>>>(n, n, k, x, a, b, y, c);
  if (kernel == 7) sgemmResolveBankConflicts<128, 128, 8, 8, 8><<<large, 256>>>(n, n, k, x, a, b, y, c);
  if (kernel == 8) sgemmResolveBankExtraCol<128, 128, 8, 8, 8><<<large, 256>>>(n, n, k, x, a, b, y, c);
  if (kernel == 9) sgemmAutotuned<128, 128, 16, 8, 8><<<large, 256>>>(n, n, k, x, a, b, y, c);
  if (kernel == 10) sgemmWarptiling<128, 128, 16, 64, 64, 4, 8, 4, 128><<<large, 128>>>(n, n, k, x, a, b, y, c);
  return cudaDeviceSynchronize();
}
"""


def captured(kernel: int, k: int, folder: Path) -> memsim.Trace:
    """Trace the blocks of a kernel that run at once; no other block runs.

    Args:
        kernel: its number, from 1.
        k: the product's inner length.
        folder: of the downloads.
    """
    with TemporaryDirectory() as place:
        host = Path(place, "sgemm_main.cu")
        host.write_text(HOST, encoding="utf-8")
        return memsim.capture(
            [host],
            arguments=[str(kernel), str(k)],
            blocks=WAVE,
            includes=[folder / FOLDER / "src"],
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
