"""y = alpha x + y, one element a thread: nothing but streaming."""

import numpy as np

from memsim import Launch, Thread, workload


def axpy(t: Thread, x, y, alpha, n):
    i = t.global_id
    with t.where(i < n):
        y[i] = alpha * x[i] + y[i]


@workload
def saxpy(n: int = 1 << 20, alpha: float = 2.5, block: int = 256, data_seed: int = 1) -> Launch:
    """Vectors of ``n`` random float32."""
    rng = np.random.default_rng(data_seed)
    x, y = rng.random((2, n), np.float32)
    result = np.float32(alpha) * x + y
    return Launch(
        axpy,
        grid=-(-n // block),
        block=block,
        arguments=dict(x=x, y=y, alpha=alpha, n=n),
        registers=10,
        expected=lambda: {"y": result},
    )
