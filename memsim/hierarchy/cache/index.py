"""How a line is found.

A set's tags are compared all at once (``find``): the host does so in a few nanoseconds at 4 ways and at 64. L2, one and
large, has a table of all lines (``recall``): the way each was last put into, whether or not it is there still.
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.cache.ways import first_way
from memsim.support.compiled import inlined


@inlined
def recall(way_of, cache, tag):
    """Way that holds `tag`, or -1."""
    way = np.int64(way_of[tag])
    return way if way >= 0 and cache.tags[way] == tag else -1


@inlined
def find(cache, s, tag):
    """Way of set `s` that holds `tag`, or -1; of a cache whose sets lie one after the other.

    A sum instead of a loop that ends at a match, which there is once at most: that the host does in vectors.
    """
    first, tag = first_way(cache, s), np.int32(tag)
    found = 0
    for slot in range(cache.shape[0].ways):
        found += slot + 1 if cache.tags[first + slot] == tag else 0
    return first + found - 1 if found else np.int64(-1)
