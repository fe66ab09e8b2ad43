"""The loops of STREAM, one double a thread (McCalpin, IEEE TCCA Newsletter, 1995), two that only read or write,
and the vector triad of four vectors (Schönauer, Scientific Supercomputing, 2000).
"""

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


def vector_triad(t: Thread, a, b, c, d):
    a[t.global_id] = b[t.global_id] * d[t.global_id] + c[t.global_id]


def init(t: Thread, a, scalar):
    a[t.global_id] = scalar


def read(t: Thread, a, b):
    value = b[t.global_id]
    with t.where(value < 0):
        a[t.global_id] = value


@workload
def stream(
    n: int = 1 << 20,
    variant: Literal["copy", "scale", "add", "triad", "vector_triad", "init", "read"] = "triad",
    block: int = 256,
    shared_bytes: int = 0,
    data_seed: int = 1,
) -> Launch:
    """Vectors of ``n`` float64, ``n`` a multiple of ``block``; ``shared_bytes`` of a block hold occupancy down."""
    if n < block or n % block:
        raise ValueError(f"n is {n}; give a multiple of the block's {block} threads")
    a, b, c, d = np.random.default_rng(data_seed).random((4, n))
    kernel, arguments, expected = {
        "copy": (copy, dict(a=a, c=c), lambda: {"c": a}),
        "scale": (scale, dict(b=b, c=c, scalar=3.0), lambda: {"b": 3 * c}),
        "add": (add, dict(a=a, b=b, c=c), lambda: {"c": a + b}),
        "triad": (triad, dict(a=a, b=b, c=c, scalar=3.0), lambda: {"a": b + 3 * c}),
        "vector_triad": (vector_triad, dict(a=a, b=b, c=c, d=d), lambda: {"a": b * d + c}),
        "init": (init, dict(a=a, scalar=3.0), lambda: {"a": np.full(n, 3.0)}),
        "read": (read, dict(a=a, b=b), lambda: {"a": np.random.default_rng(data_seed).random(n)}),
    }[variant]
    return Launch(
        kernel,
        grid=n // block,
        block=block,
        arguments=arguments,
        registers=10,
        shared_bytes=shared_bytes,
        expected=expected,
    )
