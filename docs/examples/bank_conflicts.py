"""Teaching: bank conflicts

Shared memory has 32 banks of 4 bytes. A transpose through a tile of 32 x 32 floats reads a column, so all lanes hit
one bank. One unused column (33 instead of 32) moves each row to another bank.
"""

import numpy as np

import memsim


def transpose(t: memsim.Thread, a, b, n, width):
    tile = t.shared((32, width))
    x, y = t.thread_idx.x, t.thread_idx.y
    column, row = t.block_idx.x * 32 + x, t.block_idx.y * 32
    for k in range(0, 32, 8):
        tile[y + k, x] = a[(row + y + k) * n + column]
    t.sync()
    column, row = t.block_idx.y * 32 + x, t.block_idx.x * 32
    for k in range(0, 32, 8):
        b[(row + y + k) * n + column] = tile[x, y + k]


@memsim.workload
def tiled(width: int = 32, n: int = 512) -> memsim.Launch:
    a, b = np.zeros(n * n, np.float32), np.zeros(n * n, np.float32)
    return memsim.Launch(transpose, grid=(n // 32, n // 32), block=(32, 8), arguments=dict(a=a, b=b, n=n, width=width))


for width in (32, 33):
    result = memsim.simulate(memsim.trace(tiled, gpu="a100", width=width), trials=4)
    print(f"tile 32 x {width}: {1000 * result.kernel_time.mean:.2f} us")
