"""Histogram by atomics: in global memory, or privatized in shared memory and merged at the end."""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def in_global(t: Thread, data, counts, n):
    for i in t.range(t.global_id, n, t.block_dim.x * t.grid_dim.x):
        counts.atomic_add(data[i], 1)


def in_shared(t: Thread, data, counts, n, bins):
    mine = t.shared(bins, np.int32)
    for b in t.range(t.thread_idx.x, bins, t.block_dim.x):
        mine[b] = 0
    t.sync()
    for i in t.range(t.global_id, n, t.block_dim.x * t.grid_dim.x):
        mine.atomic_add(data[i], 1)
    t.sync()
    for b in t.range(t.thread_idx.x, bins, t.block_dim.x):
        counts.atomic_add(b, mine[b])


@workload
def histogram(
    n: int = 1 << 20,
    bins: int = 256,
    variant: Literal["global", "shared"] = "global",
    skew: float = 0.0,
    grid: int = 112,
    block: int = 256,
    data_seed: int = 1,
) -> Launch:
    """``n`` values in ``bins`` bins, by a grid-stride loop. ``skew`` 0: uniform; s: bin k has weight (k + 1) ** -s."""
    rng = np.random.default_rng(data_seed)
    weights = np.arange(1, bins + 1, dtype=float) ** -skew
    data = rng.choice(bins, n, p=weights / weights.sum()).astype(np.int32)
    arguments = dict(data=data, counts=np.zeros(bins, np.int32), n=n)
    if variant == "shared":
        arguments["bins"] = bins
    return Launch(
        in_global if variant == "global" else in_shared,
        grid=grid,
        block=block,
        arguments=arguments,
        registers=14,
        expected=lambda: {"counts": np.bincount(data, minlength=bins)},
    )
