"""The four loops of STREAM: copy, scale, add and triad, one double a thread (McCalpin, IEEE TCCA Newsletter, 1995)."""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def copy(t: Thread, a, c):
    c[t.global_id] = a[t.global_id]


def scale(t: Thread, b, c, scalar):
    b[t.global_id] = scalar * c[t.global_id]


def add(t: Thread, a, b, c):
    c[t.global_id] = a[t.global_id] + b[t.global_id]


def triad(t: Thread, a, b, c, scalar):
    a[t.global_id] = b[t.global_id] + scalar * c[t.global_id]


@workload
def stream(
    n: int = 1 << 20,
    variant: Literal["copy", "scale", "add", "triad"] = "triad",
    block: int = 256,
    data_seed: int = 1,
) -> Launch:
    """Vectors of ``n`` float64, ``n`` a multiple of ``block``; the scalar is 3, as in STREAM."""
    if n < block or n % block:
        raise ValueError(f"n is {n}; give a multiple of the block's {block} threads")
    a, b, c = np.random.default_rng(data_seed).random((3, n))
    kernel, arguments, expected = {
        "copy": (copy, dict(a=a, c=c), {"c": a.copy()}),
        "scale": (scale, dict(b=b, c=c, scalar=3.0), {"b": 3 * c}),
        "add": (add, dict(a=a, b=b, c=c), {"c": a + b}),
        "triad": (triad, dict(a=a, b=b, c=c, scalar=3.0), {"a": b + 3 * c}),
    }[variant]
    return Launch(kernel, grid=n // block, block=block, arguments=arguments, registers=10, expected=lambda: expected)
