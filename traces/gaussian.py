"""Gaussian elimination, one column a step: the two kernels of Rodinia's (Che et al., IISWC 2009).

``multipliers`` divides a column by the pivot, ``eliminate`` subtracts the pivot's row from all below. Its threads
number rows first, so a warp touches 16 rows, two neighbours of each.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

BLOCK, SIDE = 128, 16  # threads of a block of multipliers; of one of eliminate, each way


def multipliers(t: Thread, m, a, n, step):
    row = t.global_id + step + 1
    with t.where(row < n):
        m[row, step] = a[row, step] / a[step, step]


def eliminate(t: Thread, m, a, b, n, step):
    row = t.block_idx.x * SIDE + t.thread_idx.x + step + 1
    beyond = t.block_idx.y * SIDE + t.thread_idx.y
    column = beyond + step
    with t.where((row < n) & (column < n)):
        a[row, column] = a[row, column] - m[row, step] * a[step, column]
        with t.where(beyond == 0):
            b[row] = b[row] - m[row, column] * b[step]


@workload
def gaussian(
    n: int = 256, step: int = 0, variant: Literal["multipliers", "eliminate"] = "eliminate", data_seed: int = 1
) -> Launch:
    """A system of ``n`` equations in float32, at its ``step``-th column, from 0 on."""
    if n < 2 or not 0 <= step < n - 1:
        raise ValueError(f"n is {n} and step {step}; give two equations or more, and a step from 0 to n - 2")
    rng = np.random.default_rng(data_seed)
    a = rng.random((n, n), np.float32) + 2 * np.eye(n, dtype=np.float32)
    b, m = rng.random(n, np.float32), np.zeros((n, n), np.float32)
    divided = m.copy()
    divided[step + 1 :, step] = a[step + 1 :, step] / a[step, step]
    common = dict(a=a, n=n, step=step)
    if variant == "multipliers":
        kernel, arguments, expected = multipliers, dict(m=m), {"m": divided}
        grid, block = -(-n // BLOCK), BLOCK
    else:
        factors = divided[:, step].astype(np.float64)
        left = a.astype(np.float64)
        left[:, step:] -= np.outer(factors, left[step, step:])
        kernel, arguments, expected = eliminate, dict(m=divided, b=b), {"a": left, "b": b - factors * b[step]}
        grid, block = (-(-n // SIDE), -(-n // SIDE)), (SIDE, SIDE)
    return Launch(kernel, grid=grid, block=block, arguments=arguments | common, registers=16, expected=lambda: expected)
