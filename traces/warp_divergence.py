"""Two branches of equal work, taken by alternate lanes or by alternate warps (CUDAMicroBench 2021, figure 2)."""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def divergent(t: Thread, x, y, z):
    i = t.global_id
    with t.where(i % 2 == 0):
        z[i] = 2 * x[i] + 3 * y[i]
    with t.otherwise:
        z[i] = 3 * x[i] + 2 * y[i]


def uniform(t: Thread, x, y, z):
    i = t.global_id
    with t.where(i // 32 % 2 == 0):
        z[i] = 2 * x[i] + 3 * y[i]
    with t.otherwise:
        z[i] = 3 * x[i] + 2 * y[i]


@workload
def warp_divergence(
    n: int = 1 << 20, variant: Literal["lanes", "warps"] = "lanes", block: int = 256, data_seed: int = 1
) -> Launch:
    """``n`` random float32, a multiple of ``block``; branches alternate by ``lanes`` or by ``warps``."""
    if n % block:
        raise ValueError(f"n is {n}; give a multiple of block, {block}")
    x, y = np.random.default_rng(data_seed).random((2, n), np.float32)
    turn = np.arange(n) // (1 if variant == "lanes" else 32) % 2 == 0
    result = np.where(turn, 2 * x + 3 * y, 3 * x + 2 * y)
    return Launch(
        divergent if variant == "lanes" else uniform,
        grid=n // block,
        block=block,
        arguments=dict(x=x, y=y, z=np.zeros_like(x)),
        registers=10,
        expected=lambda: {"z": result},
    )
