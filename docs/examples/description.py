"""A kernel that does not exist yet

A histogram with atomics, described in Python on real data. Skewed data hit few bins, and their atomics queue up in
one L2 slice; `distinct` bins spread them.
"""

import numpy as np

import memsim


def histogram(t: memsim.Thread, data, bins):
    bins.atomic_add(data[t.global_id], 1)


@memsim.workload
def counts(distinct: int = 1024, n: int = 1 << 16) -> memsim.Launch:
    data = np.random.default_rng(1).integers(0, distinct, n).astype(np.int32)
    return memsim.Launch(histogram, grid=n // 256, block=256, arguments=dict(data=data, bins=np.zeros(1024, np.int32)))


for distinct in (1024, 32, 1):
    result = memsim.simulate(memsim.trace(counts, gpu="h100", distinct=distinct), trials=4)
    print(f"{distinct:4} distinct values: {1000 * result.kernel_time.mean:8.2f} us")
