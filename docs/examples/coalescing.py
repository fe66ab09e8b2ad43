"""Teaching: coalescing

A warp reads 32 floats. If they lie next to each other, four sectors of 32 bytes are enough. With a stride of 32
floats, each lane needs a sector of its own, and the same copy takes many times as long.
"""

import numpy as np

import memsim


def copy(t: memsim.Thread, a, b, stride):
    i = t.global_id
    b[i] = a[i * stride]


@memsim.workload
def strided(stride: int = 1, n: int = 1 << 16) -> memsim.Launch:
    a, b = np.zeros(n * stride, np.float32), np.zeros(n, np.float32)
    return memsim.Launch(copy, grid=n // 256, block=256, arguments=dict(a=a, b=b, stride=stride))


for stride in (1, 2, 8, 32):
    result = memsim.simulate(memsim.trace(strided, gpu="a100", stride=stride), trials=4)
    load = result.loads[0]
    print(f"stride {stride:2}: {1000 * result.kernel_time.mean:6.2f} us, latency {load.latency.mean:5.0f} cycles")
