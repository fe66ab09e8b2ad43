"""One set-associative, sectored cache: the mechanism that L1 and L2 share.

A cache is three arrays. ``ways`` holds a record a way; the ways of set s are s*n .. s*n + n - 1. ``sets`` holds a
record a set. ``index`` maps a line to its way by chained hashing, so a lookup costs the same at 4 ways and at 64.
Each unit (an SM's L1; all slices of L2 together) owns 2**bits buckets of the index.

The ways of a set form a ring in order of use: the least recently used is ``sets[s].oldest``, the one before it in the
ring the most recently used. Replacing the oldest way and making it the newest is then just a step of ``oldest``, which
touches no way but the one replaced.
"""

from __future__ import annotations

import numpy as np

from memsim.config import Replacement
from memsim.hierarchy.compiled import loop
from memsim.hierarchy.random import hash32

# 16 bytes, four to a cache line of the host: a large L2 is looked up at random.
WAY = np.dtype(
    [
        ("tag", "<i4"),  # line number, or -1
        ("chain", "<i4"),  # next way in the index bucket
        ("older", "<u2"),  # neighbours in the ring, as slots of the set
        ("newer", "<u2"),
        ("valid", "u1"),  # sector masks
        ("pending", "u1"),  # requested, not here yet: the way cannot be replaced
        ("dirty", "u1"),
        ("activated", "u1"),  # L2: brought in or hit by a write; L1: to be dropped when it comes
    ]
)
SET = np.dtype([("oldest", "<i4"), ("draws", "<i4"), ("tree", "<i8")])  # oldest: a slot

LRU, FIFO, RANDOM, TREE = range(4)
POLICY = {
    Replacement.lru: LRU,
    Replacement.fifo: FIFO,
    Replacement.random: RANDOM,
    Replacement.tree_plru: TREE,
}


def new_cache(units: int, sets_per_unit: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Empty cache: (ways, sets, index, bits of the index of one unit)."""
    n_sets = units * sets_per_unit
    ways = np.zeros(n_sets * n, WAY)
    ways["tag"] = ways["chain"] = -1
    slot = np.arange(n)
    ways["older"] = np.tile(np.roll(slot, 1), n_sets)
    ways["newer"] = np.tile(np.roll(slot, -1), n_sets)
    sets = np.zeros(n_sets, SET)
    sets["oldest"] = 1 % n
    # Eight buckets a way: nearly every chain is of one way or none, so the host predicts where it ends.
    bits = max(2, int(8 * sets_per_unit * n - 1).bit_length())
    return ways, sets, np.full(units << bits, -1, np.int32), bits


@loop
def find(index, ways, unit, bits, tag):
    """Way that holds `tag`, or -1."""
    way = index[(unit << bits) + (tag & ((1 << bits) - 1))]
    while way >= 0 and ways[way].tag != tag:
        way = ways[way].chain
    return way


@loop
def _move_between(ways, first, slot, oldest):
    """Take `slot` out of its ring and put it between the oldest and the newest way, neither of which it is."""
    older, newer = ways[first + slot].older, ways[first + slot].newer
    ways[first + older].newer = newer
    ways[first + newer].older = older
    newest = ways[first + oldest].older
    ways[first + newest].newer = slot
    ways[first + slot].older = newest
    ways[first + slot].newer = oldest
    ways[first + oldest].older = slot


@loop
def _make_newest(ways, sets, s, way, n):
    first = s * n
    slot = way - first
    oldest = sets[s].oldest
    newer = ways[way].newer
    if slot == oldest:
        sets[s].oldest = newer
    elif newer != oldest:
        _move_between(ways, first, slot, oldest)


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
def touch(ways, sets, s, way, n, policy):
    """Tell the replacement policy that `way` of set `s` was used."""
    if policy == LRU:
        _make_newest(ways, sets, s, way, n)
    elif policy == TREE:
        _point_tree_away(sets, s, way - s * n, n)


@loop
def victim(ways, sets, s, n, policy, key):
    """Way of set `s` to replace, or -1 when every way waits for a fill. Empty ways come first, in ring order."""
    first = s * n
    slot = np.int64(sets[s].oldest)
    if policy == LRU or policy == FIFO or ways[first + slot].tag < 0:
        for _ in range(n):
            if ways[first + slot].pending == 0:
                return first + slot
            slot = np.int64(ways[first + slot].newer)
        return -1
    if policy == RANDOM:
        slot = hash32(key ^ hash32((s << 12) ^ sets[s].draws)) % n
    else:
        tree = np.int64(sets[s].tree)
        node = 1
        while node < n:
            node = 2 * node + ((tree >> (node - 1)) & 1)
        slot = node - n
    for _ in range(n):
        if ways[first + slot].pending == 0:
            sets[s].draws += 1
            return first + slot
        slot = slot + 1 if slot + 1 < n else 0
    return -1


@loop
def _unlink(index, ways, unit, bits, way):
    bucket = (unit << bits) + (ways[way].tag & ((1 << bits) - 1))
    at = index[bucket]
    if at == way:
        index[bucket] = ways[way].chain
        return
    while ways[at].chain != way:
        at = ways[at].chain
    ways[at].chain = ways[way].chain


@loop
def replace(index, ways, sets, unit, bits, s, way, n, policy, tag):
    """Give `way` of set `s` to line `tag`, with no sector valid, as the newest."""
    if ways[way].tag >= 0:
        _unlink(index, ways, unit, bits, way)
    bucket = (unit << bits) + (tag & ((1 << bits) - 1))
    ways[way].tag = tag
    ways[way].chain = index[bucket]
    index[bucket] = way
    ways[way].valid = 0
    ways[way].pending = 0
    ways[way].dirty = 0
    ways[way].activated = 0
    _make_newest(ways, sets, s, way, n)
    if policy == TREE:
        _point_tree_away(sets, s, way - s * n, n)


@loop
def drop(index, ways, sets, unit, bits, s, way, n):
    """Forget the line of `way`, which becomes the first to be replaced."""
    _unlink(index, ways, unit, bits, way)
    ways[way].tag = -1
    ways[way].valid = 0
    ways[way].dirty = 0
    ways[way].activated = 0
    first = s * n
    slot = way - first
    oldest = sets[s].oldest
    if slot == oldest:
        return
    if ways[way].newer != oldest:
        _move_between(ways, first, slot, oldest)
    sets[s].oldest = slot
