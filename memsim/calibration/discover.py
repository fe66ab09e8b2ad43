"""A GPU's caches from latencies alone, by walks through linked lists (Baghsorkhi et al., PPoPP 2012, section 2.1).

Each function answers one question. The walks know a :class:`WalkedGPU`, which can switch its L1 off; they see no
configuration. None assumes how addresses are mapped to sets, nor which line a full set gives
up. The argument is always the same: where no set is asked for more lines than it has ways, everything hits from the
second time on (empty ways are filled first); where one is, one of its lines at least is gone when they are asked for
again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from memsim.calibration.walks import ManySMs, WalkedGPU, laps

STRIDES = [4 << k for k in range(8)]  # bytes, 4 to 512
PAGE = 4096  # bytes; starts a line, and an eighth of it is no shorter than one
GROUPS = 2048  # accesses that one walk tells apart
MOST_LAPS = 256
ROUNDS, REPEATS = 12, 8  # of lines and of their rivals, for an L2 that may spare a line for a while


@dataclass(frozen=True)
class DiscoveredCache:
    """What walks find of a cache.

    Attributes:
        hit_cycles: load to use, on a hit.
        fetch_bytes: what a miss brings.
        line_bytes: what one tag stands for.
        ways: lines of a set.
        size_bytes: the longest stretch of memory that fits.
        overfull: i8, a list that does not fit, and does without its last element.
        rivals: i8 [ways + 1], the members of its one set that overflows.
    """

    hit_cycles: float
    fetch_bytes: int
    line_bytes: int
    ways: int
    size_bytes: int
    overfull: np.ndarray
    rivals: np.ndarray


def nearest_cache(device: WalkedGPU, stride: int = PAGE) -> DiscoveredCache:
    """Explore the nearest cache that is on.

    Args:
        stride: of the list that overfills one set; at least a line, and a multiple of it.
    """
    hit = hit_latency(device)
    fetch = fetch_bytes(device, hit)
    fitting = longest(device, stride, hit)
    overfull = np.arange(fitting + 1) * stride
    rivals = crowded(device, overfull, hit)
    line = line_bytes(device, rivals, fetch, hit)
    size = longest(device, line, hit, start=fitting) * line
    return DiscoveredCache(hit, fetch, line, len(rivals) - 1, size, overfull, rivals)


def included_cache(device: WalkedGPU, outer: DiscoveredCache) -> DiscoveredCache:
    """Explore an L1 whose lines go when those of L2, `outer`, do.

    What overfills a set of L1 must not overfill one of L2, which would show instead. At a shorter stride a list reaches
    more sets of L2, and maybe no more of L1.

    Raises:
        RuntimeError: there is no such list.
    """
    for stride in (PAGE, PAGE // 2, PAGE // 4, PAGE // 8):
        cache = nearest_cache(device, stride)
        fetched = cache.overfull[:, None] + np.arange(0, cache.fetch_bytes, outer.fetch_bytes)
        if fits(device.without_l1(), fetched.ravel(), outer.hit_cycles):
            return cache
    raise RuntimeError("every list tried that overfills a set of L1 overfills one of L2, which takes lines from L1")


def hit_latency(device: WalkedGPU) -> float:
    """Of the nearest cache that is on: one element, walked in circles."""
    return laps(device, [0])[-1].mean


def fetch_bytes(device: WalkedGPU, hit: float) -> int:
    """What a miss of the nearest cache brings: the smallest stride at which a first walk never hits."""
    return next(s for s in STRIDES if not laps(device, np.arange(64) * s, 1)[0].within(hit))


def held(device: WalkedGPU, addresses: np.ndarray, hit: float) -> int:
    """Elements of a list that are hits on the way back, when it is walked there and back.

    A list that does not fit leaves as many as an LRU cache has places in the sets it uses.
    """
    groups = np.repeat([0, 1], len(addresses))
    return device.walk(np.concatenate([addresses, addresses[::-1]]), groups)[1].within(hit)


def fits(device: WalkedGPU, addresses: np.ndarray, hit: float) -> bool:
    """Whether a list finds all its elements in the cache on the way back."""
    return held(device, addresses, hit) == len(addresses)


def longest(device: WalkedGPU, stride: int, hit: float, start: int = 1) -> int:
    """Elements of the longest list of a stride that fits: it does, and one element more does not.

    Args:
        start: length to try first; longer lists follow, at steps that double.
    """

    def left(length: int) -> int:
        return held(device, np.arange(length) * stride, hit)

    low, high, step = 0, start, 1
    while (estimate := left(high)) == high:
        low, high, step = high, high + step, 2 * step
    for length in (estimate, estimate + 1):  # exact for LRU where the list fills all sets alike
        if low < length < high:
            low, high = (length, high) if left(length) == length else (low, length)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if left(middle) == middle else (low, middle)
    return low


def crowded(device: WalkedGPU, addresses: np.ndarray, hit: float) -> np.ndarray:
    """The members of the one set that overflows, of a list that fits without its last element: ways + 1 lines.

    Walked in circles, they and no others are ever gone. Some may be spared for a while, when a set does not give up
    the line used longest ago; then those found still fit, and more laps follow.
    """
    laps = 2
    while laps <= MOST_LAPS:
        found = addresses[_missed(device, addresses, hit, laps)]
        if not fits(device, found, hit):
            return found
        laps *= 2
    raise RuntimeError(f"no set overflows in {MOST_LAPS} laps of {len(addresses)} elements")


def _missed(device: WalkedGPU, addresses: np.ndarray, hit: float, laps: int) -> np.ndarray:
    """Positions of the elements that a lap after the first misses (the fine-grained walk of Mei and Chu, TPDS 2017).

    One walk tells only GROUPS elements apart, so a long list is walked again, in groups of those that may have missed.
    """
    suspects = np.arange(len(addresses))
    while True:
        share = -(-len(suspects) // GROUPS)
        group = np.zeros(len(addresses), np.int64)
        group[suspects] = 1 + np.arange(len(suspects)) // share
        first, others = np.zeros_like(group), np.tile(group, laps - 1)
        found = device.walk(np.tile(addresses, laps), np.concatenate([first, others]))
        missed = np.array([not latencies.all_within(hit) for latencies in found])
        suspects = suspects[missed[group[suspects]]]
        if share == 1:
            return suspects


def line_bytes(device: WalkedGPU, rivals: np.ndarray, fetch: int, hit: float) -> int:
    """The distance from the start of a line at which another line begins.

    An element is in the line of a rival if it takes the rival's place, so that the set still overflows, and if it needs
    no place of its own, so that both of them fit when another rival leaves.
    """
    start, others = rivals[-1], rivals[:-1]
    distance = 0
    same_line = True
    while same_line:
        distance += fetch
        near = start + distance
        overflows = not fits(device, np.append(others, near), hit)
        same_line = overflows and fits(device, np.append(others[1:], [start, near]), hit)
    return distance


def latency_behind(device: WalkedGPU, list_bytes: int, stride: int, hit: float) -> float:
    """Mean latency of what the first cache misses, in a list that the second one holds, walked in circles.

    Args:
        hit: the first cache's latency.
    """
    lap = laps(device, np.arange(list_bytes // stride) * stride, 2)[-1]
    hits, total = lap.within(hit), int(lap.counts.sum())
    return (total * lap.mean - hits * hit) / (total - hits)


def second_reader(device: ManySMs, list_bytes: int, stride: int, hit: float) -> tuple[float, float]:
    """The paper's test: one block more than SMs, each with a list that fits in L1, all of them together in L2.

    Returns:
        Mean latency of the last block when its list was read before by another SM, and when it is its own.
    """
    elements = np.arange(list_bytes // stride) * stride
    n = device.sms

    def last(number: int) -> float:
        lists = [elements + k * len(elements) * stride for k in [*range(n), number]]
        groups = [np.full(len(elements), k == n) for k in range(n + 1)]
        return device.blocks(lists, groups)[1].mean

    other = next(mean for number in range(n) if (mean := last(number)) > 1.5 * hit)  # not from its own L1
    return other, last(n)


def back_invalidated(device: ManySMs, rivals: np.ndarray, hit: float) -> int:
    """How many of ROUNDS lines L1 loses because L2 replaces them.

    One SM does nothing but read one line again and again, which leaves its L1 no reason to give it up, and L2 does not
    see these hits. Meanwhile another SM reads the line's rivals for a set of L2, so that L2 replaces the line. If the
    first SM then misses once, as its L1 was made to drop the line.

    Args:
        rivals: lines that share a set of L2, one more than its ways; they take turns at being the line.
        hit: L1's latency.
    """
    cold = laps(device, rivals[:1], 1)[0].mean
    lost = 0
    for line in np.resize(rivals, ROUNDS):
        others = np.tile(rivals[rivals != line], REPEATS)
        reads = np.full(2 * math.ceil(cold / hit) * len(others), line)  # enough to outlast the other SM
        groups = [np.minimum(np.arange(len(reads)), 1), np.full(len(others), 2)]
        _, again, _ = device.blocks([reads, others], groups)
        lost += not again.all_within(hit)
    return lost
