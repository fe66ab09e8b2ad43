"""One set-associative, sectored cache: the mechanism that L1 and L2 share.

A cache is a record a way and a record a set; slot k of set s is way ``first_way(s) + (k << g)``. With g above 0, the
same slots of 2**g neighbouring sets lie side by side: lines looked up together then share a cache line of the host.

The ways of a set form a ring in order of use: the least recently used is ``sets[s].oldest``, the one before it in the
ring the most recently used. Replacing the oldest way and making it the newest is then just a step of ``oldest``, which
touches no way but the one replaced.

A line is found without looking through its set, so a lookup costs the same at 4 ways and at 64. The L1s, many and
small, have an index by chained hashing, of which each SM owns 2**bits buckets (``find``). L2, one and large, has a
table of all lines (``recall``): the way each was last put into, whether or not it is there still.
"""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import Replacement
from memsim.hierarchy.loops.compiled import loop
from memsim.hierarchy.loops.random import hash32

# 16 bytes, four to a cache line of the host: a large L2 is looked up at random.
WAY = np.dtype(
    [
        ("tag", "<i4"),  # line number, or -1
        ("older", "<i4"),  # neighbours in the ring of its set
        ("newer", "<i4"),
        ("valid", "u1"),  # sector masks
        ("pending", "u1"),  # requested, not here yet: the way cannot be replaced
        ("dirty", "u1"),
        ("activated", "u1"),  # L2: brought in or hit by a write; L1: to be dropped when it comes
    ]
)
SET = np.dtype([("oldest", "<i4"), ("draws", "<i4"), ("tree", "<i8")])  # oldest: a way

LRU, FIFO, RANDOM, TREE = range(4)
POLICY = {
    Replacement.lru: LRU,
    Replacement.fifo: FIFO,
    Replacement.random: RANDOM,
    Replacement.tree_plru: TREE,
}


def _first_way(s, n, g):
    """The way of slot 0 of set `s`; that of slot k is k << g further."""
    return ((s >> g) * n << g) + (s & ((1 << g) - 1))


first_way = loop(_first_way)


def new_cache(n_sets: int, n: int, g: int) -> tuple[np.ndarray, np.ndarray]:
    """Empty cache of `n_sets` sets of `n` ways: (ways, sets)."""
    ways, sets = np.zeros(n_sets * n, WAY), np.zeros(n_sets, SET)
    ways["tag"] = -1
    s = np.arange(n_sets)
    rings = _first_way(s, n, g)[:, None] + (np.arange(n) << g)  # [set, slot]
    ways["older"][rings] = np.roll(rings, 1, axis=1)
    ways["newer"][rings] = np.roll(rings, -1, axis=1)
    sets["oldest"] = rings[:, 1 % n]
    return ways, sets


def reserve(ways: np.ndarray, sets: np.ndarray, n_sets: int, n: int, lines: int) -> None:
    """Take the last `lines` ways, counted set after set and then slot after slot, out of each cache of `n_sets` sets.

    A way that is taken stands in no ring and is pending for ever: nothing finds or replaces it.

    Args:
        ways, sets: of any number of equal caches, empty, from :func:`new_cache` with g = 0.
        n: ways of a set.
        lines: at most (n - 1) * n_sets.
    """
    for slot in range(n - 1, -1, -1):
        taken = min(max(lines - (n - 1 - slot) * n_sets, 0), n_sets)
        s = np.arange(len(sets)).reshape(-1, n_sets)[:, n_sets - taken :].ravel()
        way = s * n + slot
        older, newer = ways["older"][way], ways["newer"][way]
        ways["newer"][older], ways["older"][newer] = newer, older
        sets["oldest"][s] = np.where(sets["oldest"][s] == way, newer, sets["oldest"][s])
        ways["pending"][way] = 255


def new_index(units: int, ways: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Index of `units` caches of so many ways each: (buckets, the way after each in its bucket, bits of one index)."""
    # Eight buckets a way: nearly every chain is of one way or none, so the host predicts where it ends.
    bits = max(2, int(8 * ways - 1).bit_length())
    return np.full(units << bits, -1, np.int32), np.full(units * ways, -1, np.int32), bits


@loop
def recall(way_of, ways, tag):
    """Way that holds `tag`, or -1."""
    way = np.int64(way_of[tag])
    return way if way >= 0 and ways[way].tag == tag else -1


@loop
def find(index, chains, ways, unit, bits, tag):
    """Way that holds `tag`, or -1."""
    way = np.int64(index[(unit << bits) + (tag & ((1 << bits) - 1))])
    while way >= 0 and ways[way].tag != tag:
        way = np.int64(chains[way])
    return way


@loop
def _move_between(ways, way, oldest):
    """Take `way` out of its ring and put it between the oldest and the newest, neither of which it is."""
    older, newer = ways[way].older, ways[way].newer
    ways[older].newer = newer
    ways[newer].older = older
    newest = ways[oldest].older
    ways[newest].newer = way
    ways[way].older = newest
    ways[way].newer = oldest
    ways[oldest].older = way


@loop
def _make_newest(ways, sets, s, way):
    oldest = sets[s].oldest
    newer = ways[way].newer
    if way == oldest:
        sets[s].oldest = newer
    elif newer != oldest:
        _move_between(ways, way, oldest)


@loop
def _point_tree_away(sets, s, slot, n):
    """Set the bits on the path to `slot` so that they lead to the other halves."""
    tree = np.int64(sets[s].tree)
    node = 1
    half = n >> 1
    while half:
        right = 1 if slot & half else 0
        if right:
            tree &= ~(1 << (node - 1))
        else:
            tree |= 1 << (node - 1)
        node = 2 * node + right
        half >>= 1
    sets[s].tree = tree


@loop
def touch(ways, sets, s, way, n, g, policy):
    """Tell the replacement policy that `way` of set `s` was used."""
    if policy == LRU:
        _make_newest(ways, sets, s, way)
    elif policy == TREE:
        _point_tree_away(sets, s, (way - first_way(s, n, g)) >> g, n)


@loop
def victim(ways, sets, s, n, g, policy, key):
    """Way of set `s` to replace, or -1 when every way waits for a fill. Empty ways come first, in ring order."""
    way = np.int64(sets[s].oldest)
    if policy == LRU or policy == FIFO or ways[way].tag < 0:
        for _ in range(n):
            if ways[way].pending == 0:
                return way
            way = np.int64(ways[way].newer)
        return -1
    if policy == RANDOM:
        slot = hash32(key ^ hash32((s << 12) ^ sets[s].draws)) % n
    else:
        tree = np.int64(sets[s].tree)
        node = 1
        while node < n:
            node = 2 * node + ((tree >> (node - 1)) & 1)
        slot = node - n
    first = first_way(s, n, g)
    for _ in range(n):
        if ways[first + (slot << g)].pending == 0:
            sets[s].draws += 1
            return first + (slot << g)
        slot = slot + 1 if slot + 1 < n else 0
    return -1


@loop
def _unlink(index, chains, ways, unit, bits, way):
    bucket = (unit << bits) + (ways[way].tag & ((1 << bits) - 1))
    at = index[bucket]
    if at == way:
        index[bucket] = chains[way]
        return
    while chains[at] != way:
        at = chains[at]
    chains[at] = chains[way]


@loop
def replace(ways, sets, s, way, n, g, policy, tag):
    """Give `way` of set `s` to line `tag`, with no sector valid, as the newest."""
    ways[way].tag = tag
    ways[way].valid = 0
    ways[way].pending = 0
    ways[way].dirty = 0
    ways[way].activated = 0
    _make_newest(ways, sets, s, way)
    if policy == TREE:
        _point_tree_away(sets, s, (way - first_way(s, n, g)) >> g, n)


@loop
def reindex(index, chains, ways, unit, bits, way, tag):
    """Let the index find `tag` in `way`, which is about to be given to it, and no longer the line there."""
    if ways[way].tag >= 0:
        _unlink(index, chains, ways, unit, bits, way)
    bucket = (unit << bits) + (tag & ((1 << bits) - 1))
    chains[way] = index[bucket]
    index[bucket] = way


@loop
def drop(index, chains, ways, sets, unit, bits, s, way):
    """Forget the line of `way`, which becomes the first to be replaced."""
    _unlink(index, chains, ways, unit, bits, way)
    ways[way].tag = -1
    ways[way].valid = 0
    ways[way].dirty = 0
    ways[way].activated = 0
    oldest = sets[s].oldest
    if way == oldest:
        return
    if ways[way].newer != oldest:
        _move_between(ways, way, oldest)
    sets[s].oldest = way
