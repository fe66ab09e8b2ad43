"""C = alpha A B' + beta C, a row of 16 elements a thread: Parboil's sgemm (Stratton et al., IMPACT-12-01, 2012).

After Volkov and Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra" (SC 2008): A is read straight into registers,
by columns, so that lanes share lines; only B's tile of 8 x 16 is in shared memory, read by all lanes at once, and four
elements a load, as nvcc joins loads of neighbours. A fused product and sum takes two cycles of Volta's 16 lanes: it is
the two instructions that are described. The sums of a thread do not wait for each other.
"""

import numpy as np

from memsim import Launch, Thread, workload

WIDTH, DEPTH = 16, 8  # of B's tile, and threads of a block
HEIGHT = WIDTH * DEPTH  # rows of C a block


def rows_of_16(t: Thread, a, b, c, k, alpha, beta):
    """All matrices by columns, B transposed: a is [k, m], b [k, n], c [n, m]."""
    tile = t.shared((DEPTH, WIDTH), np.float32)
    x, y = t.thread_idx.x, t.thread_idx.y
    row = t.block_idx.x * HEIGHT + y * WIDTH + x
    first = t.block_idx.y * WIDTH
    sums = [t.var(0.0) for _ in range(WIDTH)]
    for start in t.range(0, k, DEPTH):
        tile[y, x] = b[start + y, first + x]
        t.sync()
        for j in range(DEPTH):
            element = a[start + j, row]
            with t.independent(WIDTH):
                for i in range(0, WIDTH, 4):
                    for across, factor in enumerate(tile.load(j * WIDTH + i, 4)):
                        sums[i + across] += element * factor
        t.sync()
    for i in range(WIDTH):
        c[first + i, row] = c[first + i, row] * beta + alpha * sums[i]


@workload
def sgemm(
    m: int = 1024, n: int = 1056, k: int = 128, alpha: float = 1.0, beta: float = 0.0, data_seed: int = 1
) -> Launch:
    """C of ``m`` x ``n`` float32, multiples of 128 and 16; ``k`` products a sum, a multiple of 8.

    The sizes are those of Parboil's medium data set, but for its ``k`` of 992.
    """
    if min(m, n, k) < 1 or m % HEIGHT or n % WIDTH or k % DEPTH:
        raise ValueError(f"m, n, k are {m}, {n}, {k}; give multiples of {HEIGHT}, {WIDTH} and {DEPTH}")
    rng = np.random.default_rng(data_seed)
    a, b, c = (rng.random(shape, np.float32) for shape in ((k, m), (k, n), (n, m)))
    before = c.copy()
    return Launch(
        rows_of_16,
        grid=(m // HEIGHT, n // WIDTH),
        block=(WIDTH, DEPTH),
        arguments=dict(a=a, b=b, c=c, k=k, alpha=alpha, beta=beta),
        registers=40,
        expected=lambda: {"c": alpha * (b.T @ a) + beta * before},
    )
