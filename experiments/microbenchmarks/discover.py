"""A GPU's caches from latencies alone, by walks through linked lists (Baghsorkhi et al., PPoPP 2012, section 2.1).

Each function answers one question and uses no field of the configuration but the number of SMs and the switch of L1.
"""

from __future__ import annotations

import numpy as np

from experiments.microbenchmarks.chase import laps, walks, within
from memsim.config import GPU
from memsim.presets import override

STRIDES = [4 << k for k in range(8)]  # bytes, 4 to 512


def hit_latency(gpu: GPU) -> float:
    """Of the nearest cache that is on: one element, walked in circles."""
    return laps(gpu, [0])[-1].mean


def fetch_bytes(gpu: GPU) -> int:
    """What a miss of the nearest cache brings: the smallest stride at which a first walk never hits."""
    hit = hit_latency(gpu)
    return next(s for s in STRIDES if not within(laps(gpu, np.arange(64) * s, 1)[0].fastest, hit))


def fits(gpu: GPU, addresses: np.ndarray, latency: float) -> bool:
    """Whether a list that is walked in circles comes to be all answered within `latency`."""
    return within(laps(gpu, addresses)[-1].slowest, latency)


def capacity(gpu: GPU, stride: int, latency: float, step: int = 1) -> int:
    """Elements of the longest list of a stride that fits, to `step` elements."""
    low, high = 0, 1
    while fits(gpu, np.arange(high * step) * stride, latency):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if fits(gpu, np.arange(middle * step) * stride, latency):
            low = middle
        else:
            high = middle
    return low * step


def ways(gpu: GPU, pool: np.ndarray, latency: float) -> int | None:
    """One less than the lines of a smallest list that does not fit: they share a set, whatever the hash.

    None when even the whole `pool` fits.
    """
    if fits(gpu, pool, latency):
        return None
    chunk = len(pool) // 2
    while chunk:
        at = 0
        while at < len(pool):
            rest = np.concatenate([pool[:at], pool[at + chunk :]])
            if len(rest) and not fits(gpu, rest, latency):
                pool = rest
            else:
                at += chunk
        chunk //= 2
    return len(pool) - 1


def second_reader(gpu: GPU, list_bytes: int, stride: int) -> tuple[float, float]:
    """The paper's test: one block more than SMs, each with a list as large as L1.

    Returns:
        Mean latency of the last block when its list was read before by another SM, and when it is its own.
    """
    hit = hit_latency(gpu)
    elements = np.arange(list_bytes // stride) * stride
    n = gpu.sm.count

    def last(number: int) -> float:
        lists = [elements + k * list_bytes for k in [*range(n), number]]
        groups = [np.full(len(elements), k == n) for k in range(n + 1)]
        return walks(gpu, lists, groups)[1].mean

    other = next(mean for number in range(n) if (mean := last(number)) > 1.5 * hit)  # not from its own L1
    return other, last(n)


def back_invalidates(gpu: GPU, l2_bytes: int, stride: int) -> bool:
    """Whether a line that L1 keeps by constant use is lost when L2, which does not see that use, replaces it.

    The line is read before every element of a list of three times L2; a GPU whose L1 is not LRU loses it by itself.
    """
    others = (1 + np.arange(3 * l2_bytes // stride)) * stride
    walk = np.stack([np.zeros_like(others), others], axis=1).ravel()
    group = np.tile([1, 2], len(others))
    group[0] = 0  # the first read misses in any case
    hot = walks(override(gpu, {"sm.count": 1}), [walk], [group])[1]
    return not within(hot.slowest, hit_latency(gpu))
