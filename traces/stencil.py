"""Seven-point stencil on a cube: one column of points per thread, the planes above and below in registers.

After Micikevicius, "3D Finite Difference Computation on GPUs using CUDA" (GPGPU-2, 2009).
"""

import numpy as np

from memsim import Launch, Thread, workload

WIDTH, HEIGHT = 32, 8  # threads of a block


def seven_point(t: Thread, a, b, n, planes):
    x, y = t.block_idx.x * WIDTH + t.thread_idx.x, t.block_idx.y * HEIGHT + t.thread_idx.y
    with t.where((x > 0) & (x < n - 1) & (y > 0) & (y < n - 1)):
        below = t.var(a[0, y, x])
        here = t.var(a[1, y, x])
        for z in t.range(1, planes - 1):
            above = a[z + 1, y, x]
            around = a[z, y, x - 1] + a[z, y, x + 1] + a[z, y - 1, x] + a[z, y + 1, x]
            b[z, y, x] = 0.5 * here + (around + below + above) / 12
            below.set(here)
            here.set(above)


@workload
def stencil(n: int = 256, planes: int = 32, data_seed: int = 1) -> Launch:
    """``planes`` of ``n`` x ``n`` random float32, ``n`` a multiple of 32; the points at the border stay 0."""
    if n < WIDTH or n % WIDTH or planes < 3:
        raise ValueError(f"n is {n} and planes {planes}; give a multiple of {WIDTH}, and 3 planes or more")
    a = np.random.default_rng(data_seed).random((planes, n, n), np.float32)

    def expected() -> dict[str, np.ndarray]:
        b = np.zeros_like(a)
        inner = slice(1, -1)
        neighbours = [a[inner, inner, :-2], a[inner, inner, 2:], a[inner, :-2, inner], a[inner, 2:, inner]]
        neighbours += [a[:-2, inner, inner], a[2:, inner, inner]]
        b[inner, inner, inner] = 0.5 * a[inner, inner, inner] + sum(neighbours) / 12
        return {"b": b}

    return Launch(
        seven_point,
        grid=(n // WIDTH, n // HEIGHT),
        block=(WIDTH, HEIGHT),
        arguments=dict(a=a, b=np.zeros_like(a), n=n, planes=planes),
        registers=24,
        expected=expected,
    )
