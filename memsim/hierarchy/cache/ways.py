"""One set-associative, sectored cache: the mechanism that L1 and L2 share.

What is touched together lies together, for the host's memory is the limit: a lookup compares the tags of a set, which
lie side by side; what a miss, a fill or a hit changes of a way is one small record next to those of its set; which way
is the oldest of each set is a dense array of its own, small enough to stay in the host's caches.

Slot k of set s is way ``first_way(s) + (k << g)``. With g above 0, the same slots of 2**g neighbouring sets lie side by
side: lines looked up together then share a cache line of the host.

The slots of a set form a ring in order of use: the least recently used is ``oldest[s]``, the one before it in the ring
the most recently used. Replacing the oldest slot and making it the newest is then just a step of ``oldest``, which
touches no way but the one replaced.

A line is found by comparing the tags of its set all at once (``find``): the host does so in a few nanoseconds at 4 ways
and at 64. L2, one and large, has a table of all lines (``recall``): the way each was last put into, whether or not it
is there still.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.jit.compiled import inlined
from memsim.jit.host_lines import line_aligned
from memsim.jit.vector_compare import FEW, MANY, equal_few, equal_many, lowest_bit

# Eight bytes with one more of the level's own.
WAY_FIELDS = [
    ("older", "<u2"),  # neighbours in the ring of its set: slots
    ("newer", "<u2"),
    ("valid", "u1"),  # sector masks
    ("pending", "u1"),  # requested, not here yet: the way cannot be replaced
    ("dirty", "u1"),
]
SET = np.dtype([("draws", "<i8"), ("tree", "<i8")])  # for the policies that draw or keep a tree
SHAPE = np.dtype(
    [
        ("ways", "<i8"),  # of a set
        ("group_bits", "<i8"),  # log2 of the sets whose ways lie interleaved
        ("policy", "<i8"),  # a code of replacement.py
        ("key", "<i8"),  # of the trial's hashed draws
    ]
)


class Cache(NamedTuple):
    """The sets of a level: those of all L1s, or those of all slices of L2."""

    tags: np.ndarray  # [way] line number, or -1
    ways: np.ndarray  # WAY_FIELDS, then what the level keeps of a way besides
    oldest: np.ndarray  # [set] slot
    sets: np.ndarray  # SET
    predictions: np.ndarray  # [way] re-reference prediction, for the policies that have one
    shape: np.ndarray  # one SHAPE


def first_way_of(s, n, g):
    """The way of slot 0 of set `s`, of `n` ways a set and `g` group bits; that of slot k is k << g further."""
    return ((s >> g) * n << g) + (s & ((1 << g) - 1))


_compiled_first_way = inlined(first_way_of)


@inlined
def first_way(cache, s):
    """The way of slot 0 of set `s`; that of slot k is k << group_bits further."""
    return _compiled_first_way(s, cache.shape[0].ways, cache.shape[0].group_bits)


@inlined
def way_of_slot(cache, s, slot):
    """The way of a slot of set `s`."""
    return first_way(cache, s) + (np.int64(slot) << cache.shape[0].group_bits)


@inlined
def slot_of_way(cache, s, way):
    """The slot of a way of set `s`."""
    return (way - first_way(cache, s)) >> cache.shape[0].group_bits


@inlined
def oldest_way(cache, s):
    """The least recently used way of set `s`."""
    return way_of_slot(cache, s, cache.oldest[s])


@inlined
def recall(way_of, cache, tag):
    """Way that holds `tag`, or -1."""
    way = np.int64(way_of[tag])
    return way if way >= 0 and cache.tags[way] == tag else -1


@inlined
def find(cache, s, tag):
    """Way of set `s` that holds `tag`, or -1; of a cache whose sets lie one after the other.

    No branch depends on where the match is, because the host would mispredict it. What lies behind a set's ways is
    looked at, too; a match there comes after any in the set.
    """
    first, n = first_way(cache, s), cache.shape[0].ways
    start = 0
    found = equal_few(cache.tags, first, tag) if n <= FEW else equal_many(cache.tags, first, tag)
    while found == 0 and start + MANY < n:
        start += MANY
        found = equal_many(cache.tags, first + start, tag)
    if found == 0:
        return np.int64(-1)
    slot = start + lowest_bit(found)
    return first + slot if slot < n else np.int64(-1)


def new_cache(n_sets: int, way: np.dtype, *, ways: int, group_bits: int, policy: int, key: int) -> Cache:
    """A cache of `n_sets` empty sets.

    Args:
        way: dtype of a way, which begins with WAY_FIELDS.
        ways: of a set.
        group_bits, policy, key: see SHAPE.
    """
    all_ways, slots = line_aligned(n_sets * ways, way), np.arange(ways)
    by_group = all_ways.reshape(n_sets >> group_bits, ways, 1 << group_bits)
    by_group["older"], by_group["newer"] = np.roll(slots, 1)[:, None], np.roll(slots, -1)[:, None]
    tags = line_aligned(n_sets * ways + MANY, np.dtype(np.int32))[:-MANY]  # a lookup reads on behind the last set
    tags[:] = -1
    return Cache(
        tags=tags,
        ways=all_ways,
        oldest=np.full(n_sets, 1 % ways, np.uint16),
        sets=np.zeros(n_sets, SET),
        predictions=np.zeros(n_sets * ways, np.uint8),
        shape=np.array([(ways, group_bits, policy, key)], SHAPE),
    )


def reserve(cache: Cache, n_sets: int, lines: int) -> None:
    """Take the last `lines` ways, counted set after set and then slot after slot, out of every `n_sets` sets.

    A way that is taken stands in no ring and is pending for ever: nothing finds or replaces it.

    Args:
        cache: any number of equal caches, empty, from :func:`new_cache` with group_bits = 0.
        n_sets: of each.
        lines: at most (ways of a set - 1) * n_sets.
    """
    ways, n = cache.ways, int(cache.shape["ways"][0])
    for slot in range(n - 1, -1, -1):
        taken = min(max(lines - (n - 1 - slot) * n_sets, 0), n_sets)
        s = np.arange(len(cache.sets)).reshape(-1, n_sets)[:, n_sets - taken :].ravel()
        way = s * n + slot
        older, newer = ways["older"][way], ways["newer"][way]
        ways["newer"][s * n + older], ways["older"][s * n + newer] = newer, older
        cache.oldest[s] = np.where(cache.oldest[s] == slot, newer, cache.oldest[s])
        ways["pending"][way] = 255


@inlined
def move_between(cache, s, way, oldest):
    """Take `way` out of its ring and put it between the oldest slot and the newest, neither of which it is."""
    slot, last = slot_of_way(cache, s, way), way_of_slot(cache, s, oldest)
    older, newer = cache.ways[way].older, cache.ways[way].newer
    cache.ways[way_of_slot(cache, s, older)].newer = newer
    cache.ways[way_of_slot(cache, s, newer)].older = older
    newest = cache.ways[last].older
    cache.ways[way_of_slot(cache, s, newest)].newer = slot
    cache.ways[way].older = newest
    cache.ways[way].newer = oldest
    cache.ways[last].older = slot


@inlined
def make_newest(cache, s, way):
    """Make `way` of set `s` the most recently used."""
    oldest = cache.oldest[s]
    newer = cache.ways[way].newer
    if slot_of_way(cache, s, way) == oldest:
        cache.oldest[s] = newer
    elif newer != oldest:
        move_between(cache, s, way, oldest)


@inlined
def invalidate_way(cache, s, way):
    """Forget the line of `way`, which becomes the first to be replaced."""
    cache.tags[way] = -1
    cache.ways[way].valid = 0
    cache.ways[way].dirty = 0
    oldest = cache.oldest[s]
    slot = slot_of_way(cache, s, way)
    if slot == oldest:
        return
    if cache.ways[way].newer != oldest:
        move_between(cache, s, way, oldest)
    cache.oldest[s] = slot
