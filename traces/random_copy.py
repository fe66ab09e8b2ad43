"""Copies random elements of a matrix to the same places of another, with blocks of any shape.

The first benchmark of Torres et al., HPCS 2011, section V: each thread computes two random indexes; some elements are
copied more than once, others never.
"""

import numpy as np

from memsim import Launch, Thread, workload


def mixed(h):
    """The finalizer of MurmurHash3 (Appleby, 2011), of uint32: any bit of the argument changes each bit by chance."""
    h = (h ^ (h >> 16)) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> 13)) * np.uint32(0xC2B2AE35)
    return h ^ (h >> 16)


def copy(t: Thread, a, b, n):
    thread = t.var(t.global_id, np.uint32)
    row, column = mixed(2 * thread + 1) % n, mixed(2 * thread + 2) % n
    b[row, column] = a[row, column]


@workload
def random_copy(n: int = 2048, rows: int = 8, columns: int = 32, data_seed: int = 1) -> Launch:
    """``n`` x ``n`` int32 (the paper has 6144); blocks of ``rows`` x ``columns`` threads that divide ``n``.

    40 registers, for the paper's blocks of 1024 threads need more than the 32768 of an SM, and its blocks of 256 run
    faster than those of 512, so that three of them fit: 33 to 42.
    """
    if rows < 1 or columns < 1 or n < 1 or n % rows or n % columns:
        raise ValueError(f"blocks of {rows} x {columns} do not divide a matrix of {n} x {n}; give divisors of n")
    a = np.random.default_rng(data_seed).integers(1, 1000, (n, n), np.int32)

    def expected() -> dict[str, np.ndarray]:
        threads = np.arange(n * n, dtype=np.uint32)
        at = mixed(2 * threads + 1) % n, mixed(2 * threads + 2) % n
        b = np.zeros_like(a)
        b[at] = a[at]
        return {"b": b}

    return Launch(
        copy,
        grid=(n // columns, n // rows),
        block=(columns, rows),
        arguments=dict(a=a, b=np.zeros_like(a), n=n),
        registers=40,
        expected=expected,
    )
