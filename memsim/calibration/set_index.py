"""Which of the known index functions a cache's sets follow: lines that one of them puts into one set are walked.

A list of one line more than a set has ways does not fit if the function is the cache's; one that spreads the lines over
sets leaves them all there. So every list speaks for or against a function, whatever the replacement, and none has to be
judged by eye (the idea of eviction sets: Vila, Köpf and Morales, IEEE S&P 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product

import numpy as np

from memsim.calibration.discover import DiscoveredCache, fits
from memsim.calibration.walks import WalkedGPU
from memsim.gpu.choices import IndexHash
from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.hierarchy.mapping import tables
from memsim.support.errors import InputError

LISTS = 8  # for each function: a wrong one has all lines of all lists in one set by a chance that does not count
SPAN = 4  # times the cache, and no less than LEAST_SPAN: where lines lie
LEAST_SPAN = 4 << 20  # bytes; published functions take bits up to the 19th

Choice = Mapping[str, str]  # fields of the model -> an index function
Placed = Callable[[np.ndarray], np.ndarray]  # byte addresses of lines -> their sets


def l1_index(device: WalkedGPU, gpu: GPU, found: DiscoveredCache, behind: DiscoveredCache) -> Choice:
    """The function of L1's sets.

    Args:
        gpu: what is known of it.
        found, behind: what walks found of L1 and of L2, which must hold each list.

    Raises:
        RuntimeError: none of the known functions is the cache's, or several may be.
    """

    def held_behind(lines: np.ndarray) -> bool:
        return fits(device.without_l1(), lines, behind.hit_cycles)

    seen = {"l1.size_bytes": found.size_bytes, "l1.ways": found.ways, "l1.reserved_bytes": 0, "l1.carve_outs": []}
    choices = ({"l1.set_hash": hash_.value} for hash_ in IndexHash)
    return _only(device, override(gpu, seen), found, choices, _l1_sets, held_behind)


def l2_index(device: WalkedGPU, gpu: GPU, found: DiscoveredCache) -> Choice:
    """The functions of L2's slices and of their sets, with as many slices as `gpu` has.

    Args:
        device: with its L1 off.

    Raises:
        RuntimeError: no pair of the known functions is the cache's, or several may be.
    """
    pairs = product((hash_ for hash_ in IndexHash if hash_ is not IndexHash.fermi_l1), repeat=2)
    choices = ({"l2.slice_hash": of_slices.value, "l2.set_hash": of_sets.value} for of_slices, of_sets in pairs)
    return _only(device, gpu, found, choices, _l2_sets, lambda lines: True)


def _only(
    device: WalkedGPU,
    gpu: GPU,
    found: DiscoveredCache,
    choices: Iterator[Choice],
    sets_of: Callable[[GPU], Placed],
    usable: Callable[[np.ndarray], bool],
) -> Choice:
    """The choice that no list refutes; the first, where those that are left put all lines into the same sets."""
    lines = _lines(found)
    left: list[tuple[Choice, np.ndarray]] = []
    for choice in choices:
        try:
            sets = sets_of(override(gpu, choice))(lines)
        except InputError:  # not for this number of sets
            continue
        crowds = (crowd for crowd in _crowds(lines, sets, found.ways + 1) if usable(crowd))
        if _overflow(device, islice(crowds, LISTS), found.hit_cycles):
            left.append((choice, _partition(sets)))
    if not left:
        raise RuntimeError("no known set index puts the competing lines into one set")
    if any(not np.array_equal(partition, left[0][1]) for _, partition in left[1:]):
        raise RuntimeError(
            f"measurements do not distinguish {' from '.join(', '.join(one.values()) for one, _ in left)}"
        )
    return left[0][0]


def _overflow(device: WalkedGPU, crowds: Iterator[np.ndarray], hit: float) -> bool:
    """Whether there are lists, and none of them fits."""
    found = False
    for crowd in crowds:
        if fits(device, crowd, hit):
            return False
        found = True
    return found


def _lines(found: DiscoveredCache) -> np.ndarray:
    """Byte addresses of lines in no order, SPAN times as many as the cache holds."""
    reach = max(SPAN * found.size_bytes, LEAST_SPAN) // found.line_bytes
    number = SPAN * found.size_bytes // found.line_bytes
    return np.random.default_rng(0).choice(reach, number, replace=False) * found.line_bytes


def _crowds(lines: np.ndarray, sets: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Lists of so many lines of one set, a list from every set before a second one."""
    order = np.argsort(sets, kind="stable")
    ends = np.flatnonzero(np.diff(sets[order], append=-1)) + 1
    groups = np.split(lines[order], ends[:-1])
    for begin in range(0, max(map(len, groups)), size):
        yield from (group[begin : begin + size] for group in groups if len(group) >= begin + size)


def _partition(sets: np.ndarray) -> np.ndarray:
    """Which lines share a set, whatever the sets are called: each line's first companion."""
    _, first, set_ = np.unique(sets, return_index=True, return_inverse=True)
    return np.asarray(first[set_])


def _l1_sets(gpu: GPU) -> Placed:
    return lambda lines: tables(lines, gpu)[0]["l1_set"].astype(np.int64)


def _l2_sets(gpu: GPU) -> Placed:
    """Of L2 lines, which may be shorter than the lines of L1 that tables go by."""

    def placed(lines: np.ndarray) -> np.ndarray:
        of_l1, within = np.divmod(lines, gpu.l1.line_bytes)
        sets = tables(of_l1 * gpu.l1.line_bytes, gpu)[1]
        return sets.reshape(len(lines), -1)[np.arange(len(lines)), within // gpu.l2.line_bytes].astype(np.int64)

    return placed
