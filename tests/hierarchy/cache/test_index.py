"""A line is found in its set, at any number of ways, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from memsim.hierarchy.cache.ways import WAY_FIELDS, find, new_cache
from memsim.jit.compiled import loop
from memsim.jit.plain_python import level_records

SETS = 3


@loop
def _find(cache, s, tag):
    return find(cache, s, tag)


@pytest.mark.parametrize("ways", [1, 2, 4, 15, 16, 17, 63, 64, 65, 128, 200])
def test_a_line_is_found_where_it_is(ways):
    cache = level_records(new_cache(SETS, np.dtype(WAY_FIELDS), ways=ways, group_bits=0, policy=0, key=0))
    held = np.random.default_rng(ways).permutation(SETS * ways)
    np.asarray(cache.tags)[:] = held
    for s in range(SETS):
        mine = held[s * ways : (s + 1) * ways].tolist()
        expected = [s * ways + mine.index(tag) if tag in mine else -1 for tag in range(SETS * ways)]
        assert [_find(cache, s, tag) for tag in range(SETS * ways)] == expected  # other sets' lines are not its own
        assert _find(cache, s, SETS * ways) == -1
