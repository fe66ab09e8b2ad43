"""One set-associative, sectored cache: the mechanism that L1 and L2 share.

A cache is a record a way and a record a set; slot k of set s is way ``first_way(s) + (k << g)``. With g above 0, the
same slots of 2**g neighbouring sets lie side by side: lines looked up together then share a cache line of the host.

The ways of a set form a ring in order of use: the least recently used is ``sets[s].oldest``, the one before it in the
ring the most recently used. Replacing the oldest way and making it the newest is then just a step of ``oldest``, which
touches no way but the one replaced.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.support.compiled import inlined

# 16 bytes with one more of the level's own, four to a cache line of the host: a large L2 is looked up at random.
WAY_FIELDS = [
    ("tag", "<i4"),  # line number, or -1
    ("older", "<i4"),  # neighbours in the ring of its set
    ("newer", "<i4"),
    ("valid", "u1"),  # sector masks
    ("pending", "u1"),  # requested, not here yet: the way cannot be replaced
    ("dirty", "u1"),
]
SET = np.dtype([("oldest", "<i4"), ("draws", "<i4"), ("tree", "<i8")])  # oldest: a way
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

    ways: np.ndarray  # WAY_FIELDS, then what the level keeps of a way besides
    sets: np.ndarray  # SET
    predictions: np.ndarray  # [way] re-reference prediction, for the policies that have one
    shape: np.ndarray  # one SHAPE


def _first_way(s, n, g):
    """The way of slot 0 of set `s`; that of slot k is k << g further."""
    return ((s >> g) * n << g) + (s & ((1 << g) - 1))


_compiled_first_way = inlined(_first_way)


@inlined
def first_way(cache, s):
    """The way of slot 0 of set `s`; that of slot k is k << group_bits further."""
    return _compiled_first_way(s, cache.shape[0].ways, cache.shape[0].group_bits)


def new_cache(n_sets: int, way: np.dtype, *, ways: int, group_bits: int, policy: int, key: int) -> Cache:
    """A cache of `n_sets` empty sets.

    Args:
        way: dtype of a way, which begins with WAY_FIELDS.
        ways: of a set.
        group_bits, policy, key: see SHAPE.
    """
    all_ways, sets = np.zeros(n_sets * ways, way), np.zeros(n_sets, SET)
    all_ways["tag"] = -1
    s = np.arange(n_sets)
    rings = _first_way(s, ways, group_bits)[:, None] + (np.arange(ways) << group_bits)  # [set, slot]
    all_ways["older"][rings] = np.roll(rings, 1, axis=1)
    all_ways["newer"][rings] = np.roll(rings, -1, axis=1)
    sets["oldest"] = rings[:, 1 % ways]
    shape = np.array([(ways, group_bits, policy, key)], SHAPE)
    return Cache(all_ways, sets, np.zeros(n_sets * ways, np.uint8), shape)


def reserve(cache: Cache, n_sets: int, lines: int) -> None:
    """Take the last `lines` ways, counted set after set and then slot after slot, out of every `n_sets` sets.

    A way that is taken stands in no ring and is pending for ever: nothing finds or replaces it.

    Args:
        cache: any number of equal caches, empty, from :func:`new_cache` with group_bits = 0.
        n_sets: of each.
        lines: at most (ways of a set - 1) * n_sets.
    """
    ways, sets, n = cache.ways, cache.sets, int(cache.shape["ways"][0])
    for slot in range(n - 1, -1, -1):
        taken = min(max(lines - (n - 1 - slot) * n_sets, 0), n_sets)
        s = np.arange(len(sets)).reshape(-1, n_sets)[:, n_sets - taken :].ravel()
        way = s * n + slot
        older, newer = ways["older"][way], ways["newer"][way]
        ways["newer"][older], ways["older"][newer] = newer, older
        sets["oldest"][s] = np.where(sets["oldest"][s] == way, newer, sets["oldest"][s])
        ways["pending"][way] = 255


@inlined
def move_between(cache, way, oldest):
    """Take `way` out of its ring and put it between the oldest and the newest, neither of which it is."""
    older, newer = cache.ways[way].older, cache.ways[way].newer
    cache.ways[older].newer = newer
    cache.ways[newer].older = older
    newest = cache.ways[oldest].older
    cache.ways[newest].newer = way
    cache.ways[way].older = newest
    cache.ways[way].newer = oldest
    cache.ways[oldest].older = way


@inlined
def make_newest(cache, s, way):
    """Make `way` of set `s` the most recently used."""
    oldest = cache.sets[s].oldest
    newer = cache.ways[way].newer
    if way == oldest:
        cache.sets[s].oldest = newer
    elif newer != oldest:
        move_between(cache, way, oldest)


@inlined
def invalidate_way(cache, s, way):
    """Forget the line of `way`, which becomes the first to be replaced."""
    cache.ways[way].tag = -1
    cache.ways[way].valid = 0
    cache.ways[way].dirty = 0
    oldest = cache.sets[s].oldest
    if way == oldest:
        return
    if cache.ways[way].newer != oldest:
        move_between(cache, way, oldest)
    cache.sets[s].oldest = way
