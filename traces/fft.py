"""Fourier transforms of complex signals by Stockham's algorithm, radix 2: no bit reversal, two points per thread.

A block transforms a signal in shared memory (shared), or the launch is one of the log n passes over signals in global
memory (global): those of Govindaraju et al., "High Performance Discrete Fourier Transforms on Graphics Processors"
(SC 2008). Real and imaginary parts lie side by side and are loaded as a float2.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def in_shared(t: Thread, source, target, n, passes):
    re = t.shared(n, np.float32)
    im = t.shared(n, np.float32)
    j, half, first = t.thread_idx.x, n // 2, t.block_idx.x * n
    for at in (j, j + half):
        real, imaginary = source.load(2 * (first + at), 2)
        re[at] = real
        im[at] = imaginary
    for level in t.range(passes):
        t.sync()
        k = j % (1 << level)
        cos, sin = rotation(k, 1 << level)
        a_re, a_im, b_re, b_im = re[j], im[j], re[j + half], im[j + half]
        b_re, b_im = b_re * cos - b_im * sin, b_re * sin + b_im * cos
        t.sync()
        at, other = 2 * j - k, 2 * j - k + (1 << level)
        re[at] = a_re + b_re
        im[at] = a_im + b_im
        re[other] = a_re - b_re
        im[other] = a_im - b_im
    t.sync()
    for at in (j, j + half):
        target.store(2 * (first + at), (re[at], im[at]))


def one_pass(t: Thread, source, target, n, span):
    j, first = t.block_idx.x * t.block_dim.x + t.thread_idx.x, t.block_idx.y * n
    a_re, a_im = source.load(2 * (first + j), 2)
    b_re, b_im = source.load(2 * (first + j + n // 2), 2)
    k = j % span
    cos, sin = rotation(k, span)
    b_re, b_im = b_re * cos - b_im * sin, b_re * sin + b_im * cos
    at = first + 2 * j - k
    target.store(2 * at, (a_re + b_re, a_im + b_im))
    target.store(2 * (at + span), (a_re - b_re, a_im - b_im))


def rotation(k, span):
    """Cosine and sine of the twiddle factor of element ``k`` when transforms of ``span`` points are joined."""
    angle = k * np.float32(-np.pi / span)
    return np.cos(angle), np.sin(angle)


@workload
def fft(
    n: int = 512,
    signals: int = 1024,
    variant: Literal["shared", "global"] = "shared",
    span: int = 1,
    block: int = 256,
    data_seed: int = 1,
) -> Launch:
    """``signals`` of ``n`` random points, a power of two.

    ``shared`` has blocks of n / 2 threads; ``global`` has ``block``, and joins transforms of ``span`` points to such of
    twice as many.
    """
    if n < 2 or n & (n - 1) or span < 1 or n % (2 * span):
        raise ValueError(f"n is {n} and span {span}; give powers of two, span at most n / 2")
    threads = n // 2 if variant == "shared" else min(block, n // 2)
    if n // 2 % threads:
        raise ValueError(f"block is {block}; give a divisor of n / 2, {n // 2}")
    source = np.random.default_rng(data_seed).random((signals, 2 * n), np.float32)

    def expected() -> dict[str, np.ndarray]:
        points = source.astype(np.float64).view(np.complex128)
        if variant == "shared":
            spectrum = np.fft.fft(points)
        else:
            halves = points.reshape(signals, 2, n // 2 // span, span)
            twiddles = np.exp(-1j * np.pi * np.outer([0, 1], np.arange(span)) / span)
            spectrum = np.fft.fft(halves * twiddles[:, None, :], axis=1).transpose(0, 2, 1, 3)
        return {"target": np.ascontiguousarray(spectrum).reshape(signals, n).view(np.float64)}

    arguments = dict(source=source, target=np.zeros_like(source), n=n)
    arguments |= dict(passes=n.bit_length() - 1) if variant == "shared" else dict(span=span)
    return Launch(
        in_shared if variant == "shared" else one_pass,
        grid=signals if variant == "shared" else (n // 2 // threads, signals),
        block=threads,
        arguments=arguments,
        registers=20,
        expected=expected,
    )
