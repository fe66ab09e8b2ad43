"""Numbers lines densely in order of first use, by a hash table that grows.

The compiled loop goes over many lines inside one function: there numba keeps the table's arrays in registers, where a
call a line would count references to them (measured: 18 ns a line against 2).
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop

EMPTY = -1  # no line is negative


class LineNumbers:
    """Numbers given so far.

    >>> numbers = LineNumbers()
    >>> [array.tolist() for array in numbers.number(np.array([70, 9, 70]))]
    [[0, 1, 0], [70, 9]]
    >>> [array.tolist() for array in numbers.number(np.array([9, 8]))]
    [[1, 2], [8]]
    """

    def __init__(self) -> None:
        self.count = 0
        self._keys, self._numbers = np.zeros(0, np.int64), np.zeros(0, np.uint32)

    def number(self, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of each line (u4) and the lines that are new (i8, in order of their numbers).

        Args:
            lines: i8, none negative.
        """
        self._reserve(len(lines))
        numbers, new_lines = np.empty(len(lines), np.uint32), np.empty(len(lines), np.int64)
        new = number_lines(lines, self.count, self._keys, self._numbers, numbers, new_lines)
        self.count += new
        return numbers, new_lines[:new]

    def _reserve(self, new: int) -> None:
        """Keep the table at most half full when `new` lines come."""
        needed = 2 * (self.count + new)
        if needed <= len(self._keys):
            return
        size = 1 << (2 * needed - 1).bit_length()
        keys, numbers = np.full(size, EMPTY, np.int64), np.empty(size, np.uint32)
        insert_lines(self._keys, self._numbers, keys, numbers)
        self._keys, self._numbers = keys, numbers


@loop
def first_slot(line, last):
    """Where to look for a line first, in a hash table whose slots go from 0 to `last`.

    Eight neighbours share a cache line of slots, for warps touch neighbours together; their place is a multiplicative
    hash, for the long runs of lines of two arrays must not meet. All products stay below 2**63.
    """
    run = (line >> 3) ^ (line >> 34)
    return (((run & 0x7FFFFFFF) * 0x9E3779B1) >> 20 << 3 | line & 7) & last


@loop
def number_lines(lines, known, keys, numbers, out, new_lines):
    """Number lines densely in order of first use.

    Args:
        lines: i8 [n].
        known: how many are numbered so far.
        keys, numbers: an open-addressing hash table with a power of two of slots, at least n of them free.
        out: [n], receives the numbers.
        new_lines: [n], receives the lines seen for the first time.

    Returns:
        How many were new.
    """
    last = len(keys) - 1
    new = 0
    for t in range(len(lines)):
        line = lines[t]
        slot = first_slot(line, last)
        while keys[slot] != line and keys[slot] != EMPTY:
            slot = (slot + 1) & last
        if keys[slot] == EMPTY:
            keys[slot] = line
            numbers[slot] = known + new
            new_lines[new] = line
            new += 1
        out[t] = numbers[slot]
    return new


@loop
def insert_lines(old_keys, old_numbers, keys, numbers):
    """Copy the content of a hash table of lines into an empty, larger one."""
    last = len(keys) - 1
    for i in range(len(old_keys)):
        line = old_keys[i]
        if line != EMPTY:
            slot = first_slot(line, last)
            while keys[slot] != EMPTY:
                slot = (slot + 1) & last
            keys[slot] = line
            numbers[slot] = old_numbers[i]
