"""The norm of a matrix' column by one thread: the first kernel of GRAMSCHM (PolyBench/GPU, Grauer-Gray et al., 2012).

Each load touches another line, as far from the last as a row is long; none depends on another.
"""

import numpy as np

from memsim import Launch, Thread, workload


def norm(t: Thread, a, r, rows, k):
    with t.where(t.global_id == 0):
        total = t.var(0.0)
        for i in t.range(rows):
            element = a[i, k]
            total += element * element
        r[k, k] = np.sqrt(total)


@workload
def gram_schmidt(n: int = 512, k: int = 0, data_seed: int = 1) -> Launch:
    """A matrix of ``n`` x ``n`` float32, and the norm of its column ``k``; a block of 256 threads, as PolyBench's."""
    if n < 1 or not 0 <= k < n:
        raise ValueError(f"n is {n} and k {k}; give a positive n, and a column from 0 to n - 1")
    a = np.random.default_rng(data_seed).random((n, n), np.float32)

    def expected() -> dict[str, np.ndarray]:
        r = np.zeros_like(a)
        r[k, k] = np.sqrt((a[:, k].astype(np.float64) ** 2).sum())
        return {"r": r}

    return Launch(
        norm,
        grid=1,
        block=256,
        arguments=dict(a=a, r=np.zeros_like(a), rows=n, k=k),
        registers=16,
        expected=expected,
    )
