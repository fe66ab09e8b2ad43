"""A tuple's place tells loops what the tuple itself tells them, tuples within it too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numba import config
from numba.core.errors import TypingError

from memsim.jit.compiled import compiled, inlined
from memsim.jit.struct_pointer import pointer_to


class Inner(NamedTuple):
    tags: np.ndarray


class Level(NamedTuple):
    counts: np.ndarray
    cache: Inner
    table: np.ndarray


@inlined
def add(cache, way, number):
    cache.tags[way] += number
    return len(cache.tags)


@inlined
def advance(m, number):
    m.counts[1] = number
    return add(m.cache, 2, number) + m.table[1, 0]


@compiled()
def by_place(m, number):
    m = pointer_to(m)
    return advance(m, number) + m.table.shape[1]


@compiled()
def asks_for_more(m):
    m = pointer_to(m)
    return m.nothing[0]


def level() -> Level:
    return Level(np.zeros(2, np.int64), Inner(np.arange(4)), np.arange(6).reshape(2, 3))


def test_functions_access_arrays_of_tuple_by_its_place():
    m = level()
    assert by_place(m, 7) == 4 + 3 + 3
    assert m.counts.tolist() == [0, 7]
    assert m.cache.tags.tolist() == [0, 1, 9, 3]


def test_what_tuple_has_not_its_place_has_not():
    with pytest.raises(AttributeError if config.DISABLE_JIT else TypingError, match="nothing"):
        asks_for_more(level())
