"""What the L2 slices are made of: their records, the codes their loops use, and all of it as one tuple of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.gpu.choices import WriteMiss
from memsim.hierarchy.cache.ways import WAY_FIELDS, Cache
from memsim.hierarchy.codes import HIT, MERGE, MISS, SECTOR_MISS
from memsim.hierarchy.l2.prefetcher import Prefetching

SLICE = np.dtype(
    [
        ("free", "<i8"),  # the first SM cycle in which it can take the next request
        ("until", "<i8"),  # when it is free, in its own clock: SM cycles times clock_up
        ("done", "<i4"),  # sectors of its first request that are looked up already
        ("fetches", "<i4"),  # under way to DRAM
        ("write_backs", "<i4"),
        ("worst", "<i4"),  # severity of the worst outcome so far of the first request
        ("fetched", "<i4"),  # fetches sent so far
        ("stored", "<i4"),  # sectors of its last store
        ("stored_line", "<i8"),  # their line
        ("prefetched", "<i4"),  # whether a sector of its first request was there, or under way, because of a prefetch
    ]
)
L2_WAY = np.dtype([*WAY_FIELDS, ("activated", "u1")])  # sectors brought in or hit by a write
# Events by severity.
WORST = np.array([HIT, MERGE, SECTOR_MISS, MISS])
AGAIN = -2  # a request that cannot be carried out yet
FETCH_MISS, VALIDATE, UPDATE_MEMORY, NO_ALLOCATE = range(len(WriteMiss))


class Slices(NamedTuple):
    """All L2 slices: parameters and state."""

    p: np.ndarray
    mapping: np.ndarray  # MAPPING, one per line
    sets_of: np.ndarray  # set of every L2 line (L1 line number * lines a packet + position), then of every copy
    slices: np.ndarray
    cache: Cache  # its ways are L2_WAY
    writers: np.ndarray  # [way] static instruction that last wrote there
    dirty_ways: np.ndarray  # [set] lines that are dirty, counted only where they are limited
    written: np.ndarray  # [way] words written of its sectors that stores covered in part; empty where no limit is
    way_of: np.ndarray  # way of every L2 line (see cache.recall), then of every copy
    # [way * sectors per line + sector]: fetch of a pending sector, its slice's count << 32 | number
    fetch_of: np.ndarray
    packet_ways: np.ndarray  # [position] way of each L2 line of the packet being looked up
    fill_ways: np.ndarray  # [request * lines a packet + position] way that a fetch brings each L2 line to
    sharers: np.ndarray  # [line * sharer_words + word]: SMs that hold the L1 line (inclusive L2 only)
    requests: np.ndarray
    free_requests: np.ndarray
    to_l2: np.ndarray  # event queue
    queues: np.ndarray  # requests of each slice
    from_dram: np.ndarray  # event queue
    answers: np.ndarray  # queue of finished fetches and write-backs of each slice
    to_dram: np.ndarray  # event queue
    to_sms: np.ndarray  # event queue
    to_home: np.ndarray  # event queue of requests that cross to the partition of their line (two partitions only)
    to_near: np.ndarray  # event queue of replies, and of copies to drop
    copied: np.ndarray  # [line] whether the slice across may hold a copy
    # [line * sectors per line + sector]: last load sent to bring the sector of a copy, or -1; empty where none waits
    crossing: np.ndarray
    counters: np.ndarray  # [op, event, unit] of level l2
    sectors: np.ndarray
    fetch_bytes_mask: np.ndarray  # a mask widened to l2.fetch_bytes
    prefetching: Prefetching
