"""What address translation is made of: its parameters and records, and all of it as one tuple of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.cache.ways import WAY_FIELDS, Cache
from memsim.hierarchy.parameters import as_configured, record_of

TLB_WAY = np.dtype([*WAY_FIELDS, ("pad", "u1")])
PAGE = np.dtype([("set", "<i4"), ("entry", "<i4")])  # set in an SM's TLB; entry of the shared TLB that covers it
# A miss of an SM's TLB and the requests that wait for it, a queue.
MISS = np.dtype(
    [
        ("time", "<i8"),  # of the fill
        ("key", "<u4"),
        ("next", "<i4"),
        ("head", "<i4"),
        ("tail", "<i4"),
        ("sm", "<i4"),
        ("page", "<i4"),
        ("way", "<i4"),  # to fill
        ("pad", "<i4"),
    ]
)
# A walk and the misses that wait for it, a queue.
WALK = np.dtype([("next", "<i4"), ("head", "<i4"), ("tail", "<i4"), ("page", "<i4"), ("step", "<i4"), ("pad", "<i4")])


def translation_parameters(gpu: GPU, key: int, n_ops: int) -> np.ndarray:
    """The record of the TLBs and the walkers.

    Args:
        key: of the hashed draws of arbitration.
        n_ops: static instructions of the trace; what walks load is counted in the row behind theirs.
    """
    own = gpu.translation
    return record_of(
        arbitration_key=key,
        arbitration=gpu.stochastic.arbitration,
        sms=gpu.sm.count,
        no_op=n_ops,
        sm_sets=own.sm_entries // own.sm_ways,
        **as_configured(own, "sm_misses", "walk_levels", "walkers"),
        shared_latency=own.shared_latency_cycles,
    )


class TLBs(NamedTuple):
    """All TLBs and the walkers: parameters, the trace's pages, state."""

    p: np.ndarray
    page_of: np.ndarray  # [line] number of its page
    pages: np.ndarray  # PAGE
    entry_sets: np.ndarray  # [entry] set in the shared TLB
    steps: np.ndarray  # STEP [page * walk_levels + level], lines numbered as those of the trace, behind them
    mapping: np.ndarray  # MAPPING, one per line
    tlbs: Cache  # of all SMs; tags are pages, a way under way is pending
    miss_of: np.ndarray  # [way] miss under way that fills it
    under_way: np.ndarray  # [sm] misses under way
    queues: np.ndarray  # requests of each SM that are not looked up yet: the first waits for a fill
    shared: Cache  # tags are entries
    way_of: np.ndarray  # [entry] way in the shared TLB (see cache.recall)
    walk_of: np.ndarray  # [entry] walk under way, or -1
    misses: np.ndarray  # MISS
    free_misses: np.ndarray
    walks: np.ndarray  # WALK
    free_walks: np.ndarray
    waiting: np.ndarray  # one queue: walks without a walker
    walking: np.ndarray  # [1] walkers at work
    requests: np.ndarray
    free_requests: np.ndarray
    from_sms: np.ndarray  # event queue
    fills: np.ndarray  # event queue of misses that the shared TLB has answered
    replies: np.ndarray  # queues of replies; the walkers' is the one behind those of the SMs
    to_l2: np.ndarray  # event queue
    counters: np.ndarray  # [TRANSLATION.counters]


def fill_in_order(cache: Cache, sets: np.ndarray, way_of: np.ndarray) -> None:
    """Fill an empty cache with lines 0, 1, ..., each the newest of its set in turn.

    Args:
        cache: from new_cache with group_bits = 0, LRU.
        sets: i4 [lines], the set of each.
        way_of: i4 [lines], gets the way that each was put into.
    """
    ways = int(cache.shape["ways"][0])
    order = np.argsort(sets, kind="stable")
    counts = np.bincount(sets, minlength=len(cache.sets))
    rank = np.empty(len(sets), np.int64)  # within its set
    rank[order] = np.arange(len(sets)) - np.repeat(np.cumsum(counts) - counts, counts)
    way_of[:] = sets * ways + (1 + rank) % ways  # the first to go of an empty set is slot 1
    cache.tags[way_of] = np.arange(len(sets))  # of those that share a way, the last stays
    cache.oldest[:] = (1 + counts) % ways
