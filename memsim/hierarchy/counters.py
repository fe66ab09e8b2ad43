"""What a trial counts. Integers only: ratios exist in analysis/ alone.

``counters[op, level, event, unit]``; row ``n_ops`` holds what no static instruction caused. A transaction has one
event, that of its worst sector (merge < sector miss < miss); each of its sectors is counted under its own event.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache

import numpy as np


class Level(IntEnum):
    l1 = 0
    l2 = 1
    dram = 2


class Event(IntEnum):
    """Per access kind (read, write, atomic): where the data was.

    In DRAM a hit is a hit in the open row and a miss is any other access; there are no merges and no atomics.
    """

    read_hit = 0
    read_miss = 1  # no line
    read_sector_miss = 2  # the line is there, the sector is not
    read_merge = 3  # the sector is already under way (hit on miss)
    write_hit = 4
    write_miss = 5
    write_sector_miss = 6
    write_merge = 7
    atomic_hit = 8
    atomic_miss = 9
    atomic_sector_miss = 10
    atomic_merge = 11


class CountUnit(IntEnum):
    transactions = 0
    sectors = 1  # of 32 bytes


BINS_PER_OCTAVE = 32
LATENCY_BINS = 18 * BINS_PER_OCTAVE


@cache
def latency_bin_edges() -> np.ndarray:
    """Edges (LATENCY_BINS + 1, in cycles) of every latency histogram: exact to 63, then 32 bins an octave, to 2**22.

    >>> edges = latency_bin_edges()
    >>> edges[:65].astype(int).tolist() == list(range(65)), edges[65], edges[-1] == 2**22
    (True, np.float64(66.0), np.True_)
    """
    octave, part = np.divmod(np.arange(LATENCY_BINS + 1), BINS_PER_OCTAVE)
    edges = np.where(octave < 2, octave * BINS_PER_OCTAVE + part, (BINS_PER_OCTAVE + part) * 2.0 ** (octave - 1.0))
    edges.flags.writeable = False  # of all who ask
    return edges
