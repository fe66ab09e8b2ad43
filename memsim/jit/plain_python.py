"""The arrays of records that loops take, when they run as plain Python (NUMBA_DISABLE_JIT=1) to be debugged or checked.

Compiled code reads a field of a record as an attribute, ``ways[3].tag``. NumPy's own records do not, and its recarray
cannot where a field is called like a method of an array (``flags``, ``sum``).
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from memsim.jit.mode import PLAIN_PYTHON

Level = TypeVar("Level", bound=tuple)


class Records(np.ndarray):
    """A structured array whose elements have their fields as attributes, to read (as Python's integers) and to write.

    >>> ways = np.zeros(2, [("tag", "<i4"), ("flags", "u1")]).view(Records)
    >>> ways[1].flags = 3
    >>> ways[1].flags, ways["flags"].tolist()
    (3, [0, 3])
    """

    def __getitem__(self, index: Any) -> Any:
        entries = index if isinstance(index, tuple) else (index,)
        assert all(not isinstance(i, int | np.integer) or i >= 0 for i in entries), "compiled loops do not wrap indices"
        if self.dtype.names and self.ndim == 1 and isinstance(index, int | np.integer):
            return _Record(self, int(index))
        return super().__getitem__(index)


class _Record:
    __slots__ = ("_array", "_index")

    def __init__(self, array: Records, index: int) -> None:
        object.__setattr__(self, "_array", array.view(np.ndarray))
        object.__setattr__(self, "_index", index)

    def __getattr__(self, name: str) -> Any:
        value = self._array[name][self._index]
        return value if isinstance(value, np.ndarray) else value.item()

    def __setattr__(self, name: str, value: Any) -> None:
        self._array[name][self._index] = value


def records(array: np.ndarray) -> np.ndarray:
    """The array as loops take it: itself; for plain Python a view that checks indices and has records' attributes."""
    return array.view(Records) if PLAIN_PYTHON else array


def level_records(level: Level) -> Level:
    """The same named tuple of arrays, and of such tuples, each array as loops take it."""
    return type(level)(*(level_records(value) if isinstance(value, tuple) else records(value) for value in level))
