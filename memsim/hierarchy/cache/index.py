"""How a line is found without looking through its set, so that a lookup costs the same at 4 ways and at 64.

The L1s, many and small, have an index by chained hashing, of which each owns 2**bits buckets (``find``). L2, one and
large, has a table of all lines (``recall``): the way each was last put into, whether or not it is there still.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.support.compiled import inlined


class Index(NamedTuple):
    """The indexes of equal caches."""

    buckets: np.ndarray  # [cache << bits | bucket] first way, or -1
    chains: np.ndarray  # [way] next way in its bucket, or -1
    bits: np.ndarray  # [1] log2 of the buckets of one cache


def new_index(caches: int, ways: int) -> Index:
    """An empty index of so many caches, each of `ways` ways."""
    # Eight buckets a way: nearly every chain is of one way or none, so the host predicts where it ends.
    bits = max(2, int(8 * ways - 1).bit_length())
    buckets, chains = np.full(caches << bits, -1, np.int32), np.full(caches * ways, -1, np.int32)
    return Index(buckets, chains, np.array([bits]))


@inlined
def recall(way_of, cache, tag):
    """Way that holds `tag`, or -1."""
    way = np.int64(way_of[tag])
    return way if way >= 0 and cache.ways[way].tag == tag else -1


@inlined
def _bucket(index, unit, tag):
    bits = index.bits[0]
    return (unit << bits) + (tag & ((1 << bits) - 1))


@inlined
def find(index, cache, unit, tag):
    """Way of cache number `unit` that holds `tag`, or -1."""
    way = np.int64(index.buckets[_bucket(index, unit, tag)])
    while way >= 0 and cache.ways[way].tag != tag:
        way = np.int64(index.chains[way])
    return way


@inlined
def unindex(index, cache, unit, way):
    """Let the index of cache number `unit` no longer find the line of `way`."""
    bucket = _bucket(index, unit, cache.ways[way].tag)
    at = index.buckets[bucket]
    if at == way:
        index.buckets[bucket] = index.chains[way]
        return
    while index.chains[at] != way:
        at = index.chains[at]
    index.chains[at] = index.chains[way]


@inlined
def reindex(index, cache, unit, way, tag):
    """Let the index find `tag` in `way`, which is about to be given to it, and no longer the line there."""
    if cache.ways[way].tag >= 0:
        unindex(index, cache, unit, way)
    bucket = _bucket(index, unit, tag)
    index.chains[way] = index.buckets[bucket]
    index.buckets[bucket] = way
