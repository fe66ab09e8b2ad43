"""Instruction mixes of compute runs: counted by class in compiled loops, one row of /instruction_mixes for each.

A loop counts what a warp issues since its last row in an array i8 [MIX_FIELDS], fields in the order of schema.MIX, and
:func:`mix_number` gives the row's number. When the table has no room the number is 0: only the length of that
compute run is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.jit.compiled import loop
from memsim.trace.schema import MIX, MOST_MIXES

MIX_FIELDS = len(MIX.names or ())
COUNT = {name: number for number, name in enumerate(MIX.names or ())}  # field -> its place
_SLOTS = 2 * MOST_MIXES
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio


class MixTable(NamedTuple):
    """The mixes met so far.

    Attributes:
        rows: u4 [MOST_MIXES, MIX_FIELDS]; row 0 is all zeros.
        used: i8 [1], how many rows there are.
        slots: i4, numbers hashed by content; 0 is free.
    """

    rows: np.ndarray
    used: np.ndarray
    slots: np.ndarray

    def table(self) -> np.ndarray:
        """MIX records, for the writer."""
        used = self.rows[: int(self.used[0])]
        return np.ascontiguousarray(used).view(MIX).reshape(-1)


def new_mixes() -> MixTable:
    """A table of the mix that is not known.

    >>> mixes = new_mixes()
    >>> counts = np.zeros(MIX_FIELDS, np.int64)
    >>> counts[COUNT["count_fp32"]] = counts[COUNT["critical_fp32"]] = 3
    >>> mix_number(mixes, counts), mix_number(mixes, counts), mixes.table()["count_fp32"].tolist()
    (1, 1, [0, 3])
    """
    return MixTable(np.zeros((MOST_MIXES, MIX_FIELDS), np.uint32), np.ones(1, np.int64), np.zeros(_SLOTS, np.int32))


@loop
def mix_number(mixes, counts):
    """Number of the mix with these counts, i8 [MIX_FIELDS], entered when it is new; 0 of no instructions."""
    key = np.uint64(0)
    some = np.int64(0)
    for k in range(MIX_FIELDS):
        some |= counts[k]
        key = (key ^ np.uint64(counts[k])) * _SPREAD
    if some == 0:
        return np.int64(0)
    slot = np.int64(key >> np.uint64(32)) & (_SLOTS - 1)
    while mixes.slots[slot] != 0:
        number = np.int64(mixes.slots[slot])
        if is_mix(mixes.rows, number, counts):
            return number
        slot = (slot + 1) & (_SLOTS - 1)
    number = mixes.used[0]
    if number == MOST_MIXES:
        return np.int64(0)
    for k in range(MIX_FIELDS):
        mixes.rows[number, k] = counts[k]
    mixes.slots[slot] = number
    mixes.used[0] = number + 1
    return number


@loop
def is_mix(rows, number, counts):
    """Whether a row has these counts."""
    same = True
    for k in range(MIX_FIELDS):
        same &= rows[number, k] == counts[k]
    return same
