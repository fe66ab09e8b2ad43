"""Convolution of a volume with 3 x 3 x 3 weights in constant memory: one column of voxels a thread, plane by plane.

3DCONV of PolyBench/GPU (Grauer-Gray et al., InPar 2012), with all 27 neighbours where it has 11. What a plane leaves in
the caches is read again for the next two.
"""

import numpy as np

from memsim import Launch, Thread, workload
from memsim.sources import Constant

WIDTH, HEIGHT = 32, 8  # threads of a block


def column_a_thread(t: Thread, a, weights, b, n, planes):
    x, y = t.block_idx.x * WIDTH + t.thread_idx.x, t.block_idx.y * HEIGHT + t.thread_idx.y
    with t.where((x > 0) & (x < n - 1) & (y > 0) & (y < n - 1)):
        for z in t.range(1, planes - 1):
            total = t.var(0.0)
            for i in range(3):
                for j in range(3):
                    for k in range(3):
                        total += weights[i, j, k] * a[z + i - 1, y + j - 1, x + k - 1]
            b[z, y, x] = total


@workload
def conv3d(n: int = 256, planes: int = 16, data_seed: int = 1) -> Launch:
    """``planes`` of ``n`` x ``n`` random float32, ``n`` a multiple of 32; the voxels at the border stay 0."""
    if n < WIDTH or n % WIDTH or planes < 3:
        raise ValueError(f"n is {n} and planes {planes}; give a multiple of {WIDTH}, and 3 planes or more")
    rng = np.random.default_rng(data_seed)
    a, weights = rng.random((planes, n, n), np.float32), rng.random((3, 3, 3), np.float32)

    def expected() -> dict[str, np.ndarray]:
        b = np.zeros_like(a)
        windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3, 3))
        b[1:-1, 1:-1, 1:-1] = np.einsum("zyxijk,ijk->zyx", windows, weights)
        return {"b": b}

    return Launch(
        column_a_thread,
        grid=(n // WIDTH, n // HEIGHT),
        block=(WIDTH, HEIGHT),
        arguments=dict(a=a, weights=Constant(weights), b=np.zeros_like(a), n=n, planes=planes),
        registers=30,
        expected=expected,
    )
