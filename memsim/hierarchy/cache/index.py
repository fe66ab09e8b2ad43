"""How a line is found.

A set's tags are compared all at once (``find``): the host does so in a few nanoseconds at 4 ways and at 64. L2, one and
large, has a table of all lines (``recall``): the way each was last put into, whether or not it is there still.
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.cache.ways import first_way
from memsim.jit.compiled import inlined
from memsim.jit.vector_compare import FEW, MANY, equal_few, equal_many, lowest_bit


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
