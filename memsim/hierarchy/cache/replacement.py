"""Which way of a set is replaced: four verbs, of which every policy has its own sort.

``touch`` notes that a way was used, ``victim`` names the way to replace, ``replace`` gives it to another line.
(``ways.invalidate_way``, the fourth, is the same for all: an empty way goes first.)
"""

from __future__ import annotations

import numpy as np

from memsim.gpu.choices import Replacement
from memsim.hierarchy.cache.ways import Cache, first_way, make_newest, oldest_way, slot_of_way, way_of_slot
from memsim.hierarchy.hashed_draws import hash32
from memsim.jit.compiled import inlined
from memsim.jit.specialization import fixed

LRU, FIFO, RANDOM, TREE_PLRU, SRRIP, BRRIP = range(len(Replacement))
# When a line will be used again, as RRIP predicts it in two bits (Jaleel et al., ISCA 2010): at once, ..., far off.
AT_ONCE, LONG, DISTANT = 0, 2, 3
SELDOM = 32  # BRRIP puts one new line in so many where SRRIP puts all


def for_lru(cache: Cache) -> Cache:
    """The same cache; if its policy is LRU, as nearly all GPUs' is, its loops are compiled for that."""
    lru = int(cache.shape["policy"][0]) == LRU
    return cache._replace(shape=fixed(cache.shape, ("policy", "group_bits") if lru else ()))


@inlined
def touch(cache, s, way):
    """Note for the policy that `way` of set `s` was used."""
    policy = cache.shape[0].policy
    if policy == LRU:
        make_newest(cache, s, way)
    elif policy == TREE_PLRU:
        _point_tree_away(cache, s, way)
    elif policy == SRRIP or policy == BRRIP:
        cache.predictions[way] = AT_ONCE


@inlined
def victim(cache, s):
    """Way of set `s` to replace, or -1 when every way waits for a fill. Empty ways come first, in ring order."""
    policy = cache.shape[0].policy
    way = oldest_way(cache, s)
    if policy == LRU or policy == FIFO or cache.tags[way] < 0:
        for _ in range(cache.shape[0].ways):
            if cache.ways[way].pending == 0:
                return way
            way = way_of_slot(cache, s, cache.ways[way].newer)
        return -1
    if policy == SRRIP or policy == BRRIP:
        return _most_distant(cache, s)
    if policy == RANDOM:
        slot = hash32(cache.shape[0].key ^ hash32((s << 12) ^ cache.sets[s].draws)) % cache.shape[0].ways
    else:
        slot = _slot_of_tree(cache, s)
    return _first_free_from(cache, s, slot)


@inlined
def _first_free_from(cache, s, slot):
    """The first way of set `s` from a slot on that waits for no fill, or -1."""
    n, first = cache.shape[0].ways, first_way(cache, s)
    for _ in range(n):
        way = first + (slot << cache.shape[0].group_bits)
        if cache.ways[way].pending == 0:
            cache.sets[s].draws += 1
            return way
        slot = slot + 1 if slot + 1 < n else 0
    return -1


@inlined
def replace(cache, s, way, tag):
    """Give `way` of set `s` to line `tag`, with no sector valid, as the newest."""
    cache.tags[way] = tag
    cache.ways[way].valid = 0
    cache.ways[way].pending = 0
    cache.ways[way].dirty = 0
    make_newest(cache, s, way)
    policy = cache.shape[0].policy
    if policy == TREE_PLRU:
        _point_tree_away(cache, s, way)
    elif policy == SRRIP:
        cache.predictions[way] = LONG
    elif policy == BRRIP:
        drawn = hash32(cache.shape[0].key ^ hash32((s << 12) ^ cache.sets[s].draws)) % SELDOM
        cache.sets[s].draws += 1
        cache.predictions[way] = LONG if drawn == 0 else DISTANT


@inlined
def _point_tree_away(cache, s, way):
    """Set the bits on the path to `way` so that they lead to the other halves."""
    slot = slot_of_way(cache, s, way)
    tree = np.int64(cache.sets[s].tree)
    node = 1
    half = cache.shape[0].ways >> 1
    while half:
        right = 1 if slot & half else 0
        if right:
            tree &= ~(1 << (node - 1))
        else:
            tree |= 1 << (node - 1)
        node = 2 * node + right
        half >>= 1
    cache.sets[s].tree = tree


@inlined
def _slot_of_tree(cache, s):
    """The slot that the tree's bits of set `s` lead to."""
    tree, n = np.int64(cache.sets[s].tree), cache.shape[0].ways
    node = 1
    while node < n:
        node = 2 * node + ((tree >> (node - 1)) & 1)
    return node - n


@inlined
def _most_distant(cache, s):
    """The first way of set `s` that is predicted to be used again last, of those that wait for no fill, or -1.

    All of the set come closer to DISTANT by what it lacks.
    """
    n, first, bits = cache.shape[0].ways, first_way(cache, s), cache.shape[0].group_bits
    chosen, prediction = np.int64(-1), np.int64(-1)
    for slot in range(n):
        way = first + (slot << bits)
        if cache.ways[way].pending == 0 and cache.predictions[way] > prediction:
            chosen, prediction = way, np.int64(cache.predictions[way])
    if chosen >= 0:
        for slot in range(n):
            way = first + (slot << bits)
            cache.predictions[way] = min(cache.predictions[way] + DISTANT - prediction, DISTANT)
    return chosen
