"""b[i] = a[index[i]] or b[index[i]] = a[i]: streams with one indirect access.

The kernels and the families of index patterns of Spatter (Lavin et al., MEMSYS 2020). Every pattern is a permutation,
so that no two threads write to one place.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def gather(t: Thread, index, a, b, n):
    i = t.global_id
    with t.where(i < n):
        b[i] = a[index[i]]


def scatter(t: Thread, index, a, b, n):
    i = t.global_id
    with t.where(i < n):
        b[index[i]] = a[i]


@workload
def gather_scatter(
    n: int = 1 << 20,
    variant: Literal["gather", "scatter"] = "gather",
    pattern: Literal["random", "strided", "local"] = "random",
    span: int = 32,
    block: int = 256,
    data_seed: int = 1,
) -> Launch:
    """``n`` float32 at ``random``, ``span`` elements apart, or shuffled within windows of ``span`` elements (local)."""
    if span < 1 or n % span:
        raise ValueError(f"span is {span}; give a divisor of n, {n}")
    rng = np.random.default_rng(data_seed)
    index = np.arange(n, dtype=np.int32)
    if pattern == "random":
        index = rng.permutation(index)
    elif pattern == "strided":
        index = np.ascontiguousarray(index.reshape(-1, span).T).reshape(-1)
    else:
        index = rng.permuted(index.reshape(-1, span), axis=1).reshape(-1)
    a = rng.random(n, np.float32)
    at = index if variant == "gather" else np.argsort(index)
    return Launch(
        gather if variant == "gather" else scatter,
        grid=-(-n // block),
        block=block,
        arguments=dict(index=index, a=a, b=np.zeros_like(a), n=n),
        registers=10,
        expected=lambda: {"b": a[at]},
    )
