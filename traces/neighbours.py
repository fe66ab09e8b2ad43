"""A product of three neighbours of a row, with one of the three references filling a buffer in shared memory.

The motivating example of Kim and Shrivastava, "Memory performance estimation of CUDA programs" (ACM TECS, 2011),
section 3, figures 1 and 2: what is fetched, how the buffer is laid out and how the result is stored decide the time.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload

SIDE = 16
FILLED = 1 << 20  # elements with values; the rest are zeros, which take no memory until they are read


def plain(t: Thread, a, out, n, by_columns):
    row, column = t.block_idx.y * SIDE + t.thread_idx.y, t.block_idx.x * SIDE + t.thread_idx.x
    with t.where(column < n - 2):
        first = row * n + column
        out[column * n + row if by_columns else first] = a[first] * a[first + 1] * a[first + 2]


def buffered(t: Thread, a, out, n, by_columns, fetched, layout):
    x, y = t.thread_idx.x, t.thread_idx.y
    row, column = t.block_idx.y * SIDE + y, t.block_idx.x * SIDE + x
    tile = t.shared((SIDE, SIDE + (layout == "padded")), np.float32)

    def place(x):
        return (y, x) if layout == "rows" else (x, y)

    tile[place(x)] = a[row * n + column + fetched]
    t.sync()
    with t.where(column < n - 2):
        product = t.var(np.float32(1))
        for k in range(3):
            held = x + (k - fetched)
            if k == fetched:
                product *= tile[place(x)]
                continue
            with t.where((held >= 0) & (held < SIDE)):
                product *= tile[place(held)]
            with t.where((held < 0) | (held >= SIDE)):
                product *= a[row * n + column + k]
        out[column * n + row if by_columns else row * n + column] = product


@workload(choices={"fetched": ..., "layout": ..., "stored": ...})
def neighbours(
    n: int = 256,
    fetched: Literal["none", "0", "1", "2"] = "none",
    layout: Literal["columns", "rows", "padded"] = "rows",
    stored: Literal["rows", "columns"] = "rows",
    data_seed: int = 1,
) -> Launch:
    """A matrix of n x n float32, ``n`` a multiple of 16.

    ``fetched``: which neighbour fills the buffer. ``layout``: how the buffer is accessed, by columns, by rows, or by
    columns of rows that are padded by one element. ``stored``: the result by rows, or transposed.
    """
    if n < SIDE or n % SIDE:
        raise ValueError(f"n is {n}; give a multiple of {SIDE}")
    if fetched == "none" and layout != "rows":
        raise ValueError(f"layout is {layout}; without a buffer (fetched=none) it says nothing, give rows")
    a = np.zeros(n * n + SIDE, np.float32)  # the last block fetches a little beyond the matrix
    values = min(n * n, FILLED)
    a[:values] = np.random.default_rng(data_seed).random(values, np.float32)
    arguments = dict(a=a, out=np.zeros(n * n, np.float32), n=n, by_columns=stored == "columns")
    if fetched != "none":
        arguments |= dict(fetched=int(fetched), layout=layout)

    def expected():
        rows = a[: n * n].reshape(n, n)
        out = np.zeros_like(rows)
        out[:, : n - 2] = rows[:, :-2] * rows[:, 1:-1] * rows[:, 2:]
        return {"out": (out.T if stored == "columns" else out).ravel()}

    return Launch(
        plain if fetched == "none" else buffered,
        grid=(n // SIDE, n // SIDE),
        block=(SIDE, SIDE),
        arguments=arguments,
        registers=10,
        expected=expected,
    )
