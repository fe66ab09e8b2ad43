"""Requests between levels: a pool of records, queues of them, and event queues that keep them in order of time.

A request keeps its record from the SM that makes it to the reply; only its number moves. Levels run one after the
other over the same quantum, so what one emits is put into an *event queue*, which has one slot per cycle, and the
next level takes whole quanta out of it in order. Within a cycle the order is that of `key`, then of emission.

A slot for requests from SMs is divided into subslots, each for an equal share of the keys: the order of SMs within a
cycle is drawn by hashed keys, and finding a request's place among a hundred others touches half of them. Other slots
are not divided, and an event queue of one dimension costs the loops no branch.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import inlined
from memsim.jit.host_lines import HOST_LINE, line_aligned

REQUEST = np.dtype(
    [
        ("time", "<i8"),  # when it reaches the level it is on its way to
        ("looked_up", "<i8"),  # when the SM looked its transaction up
        ("next", "<i4"),  # next in its queue, slot or waiting list
        ("line", "<i4"),
        ("key", "<u4"),  # order within a cycle
        ("way", "<i4"),  # load: L1 way to fill, or -1
        ("row", "<i4"),  # to DRAM
        ("load", "<i4"),  # of the transaction that the reply answers, or -1
        ("waiters", "<i4"),  # fetch, or load of a copy: first request that waits
        ("sm", "<u2"),  # that made it
        ("op", "<u2"),
        ("target", "<u2"),  # slice, channel or SM it is on its way to
        ("kind", "u1"),
        ("mask", "u1"),  # sectors it is about
        ("need", "u1"),  # sectors that L2 has to wait for
        ("partial", "u1"),  # sectors that a store covers in part
        ("bank", "u1"),
        ("home", "<u2"),  # slice that the line belongs to (two partitions only)
        ("left", "u1"),  # DRAM: sectors without a column command
        ("slice", "<u2"),  # fetch, write-back: that made it
        ("words", "<u4"),  # that a store writes, of its partial sectors; its end is that of a cache line of the host
    ]
)
assert REQUEST.itemsize == HOST_LINE

KEY_BITS = 32
# A first-in first-out queue; `head` is -1 when empty.
QUEUE = np.dtype([("head", "<i4"), ("tail", "<i4")])
# A subslot of an event queue's slot, with the key of its last: the record itself may be far away.
SUBSLOT = np.dtype([*QUEUE.descr, ("key", "<u4")])

# Free records of a pool: a stack of numbers with its depth in element 0.


def new_pool(dtype: np.dtype, size: int) -> tuple[np.ndarray, np.ndarray]:
    """(records, free stack) with room for `size`."""
    free = np.empty(size + 1, np.int32)
    free_all(free)
    return line_aligned(size, dtype), free


def free_all(free: np.ndarray) -> None:
    """Make all records of a pool free; the least number is taken first."""
    size = len(free) - 1
    free[0] = size
    free[1:] = np.arange(size - 1, -1, -1)


def grow_pool(records: np.ndarray, free: np.ndarray, least: int) -> tuple[np.ndarray, np.ndarray]:
    """The same pool, doubled until `least` records are free; numbers in use stay valid."""
    size, depth = len(records), int(free[0])
    larger = size
    while depth + larger - size < least:
        larger *= 2
    bigger = line_aligned(larger, records.dtype).view(type(records))
    bigger[:size] = records
    stack = np.empty(larger + 1, np.int32)
    stack[0] = depth + larger - size
    stack[1 : larger - size + 1] = np.arange(larger - 1, size - 1, -1)
    stack[larger - size + 1 : larger - size + 1 + depth] = free[1 : 1 + depth]
    return bigger, stack


def new_queues(n: int, dtype: np.dtype = QUEUE) -> np.ndarray:
    """`n` empty queues."""
    queues = np.zeros(n, dtype)
    queues["head"] = queues["tail"] = -1
    return queues


def new_event_queue(cycles: int, subslots: int | None = None) -> np.ndarray:
    """An empty event queue, [cycle, lane], or [cycle] without lanes; how many of either is a power of two."""
    return (
        new_queues(cycles, SUBSLOT)
        if subslots is None
        else new_queues(cycles * subslots, SUBSLOT).reshape(cycles, subslots)
    )


@inlined
def take(free):
    """A free record's number. The driver keeps the stack deep enough for a quantum."""
    depth = free[0]
    free[0] = depth - 1
    return free[depth]


@inlined
def give(free, number):
    """Return a record to its pool."""
    depth = free[0] + 1
    free[0] = depth
    free[depth] = number


@inlined
def append(queues, q, requests, r):
    """Put request `r` at the end of queue `q`."""
    requests[r].next = -1
    if queues[q].head < 0:
        queues[q].head = r
    else:
        requests[queues[q].tail].next = r
    queues[q].tail = r


@inlined
def pop(queues, q, requests):
    """Take the first request of a queue that is not empty."""
    r = queues[q].head
    queues[q].head = requests[r].next
    return r


@inlined
def schedule(event_queue, requests, r):
    """Put request `r` into the slot of its time, behind those with a smaller or equal key."""
    cycle = requests[r].time & (event_queue.shape[0] - 1)
    key = np.int64(requests[r].key)
    if event_queue.ndim == 1:
        insert(event_queue, cycle, requests, r, key)
    else:
        slot = event_queue[cycle]
        insert(slot, key * slot.shape[0] >> KEY_BITS, requests, r, key)


@inlined
def forward(event_queue, requests, r, time, key, target):
    """Send request `r` on to `target`, where it arrives at `time`."""
    requests[r].time = time
    requests[r].key = key
    requests[r].target = target
    schedule(event_queue, requests, r)


@inlined
def insert(queues, q, requests, r, key):
    """Put request `r` into a subslot in the order of keys, behind those with a smaller or equal one."""
    if queues[q].head < 0 or queues[q].key <= key:
        append(queues, q, requests, r)
        queues[q].key = key
        return
    before = -1
    at = queues[q].head
    while requests[at].key <= key:
        before = at
        at = requests[at].next
    requests[r].next = at
    if before < 0:
        queues[q].head = r
    else:
        requests[before].next = r


@inlined
def take_slot(event_queue, requests, time):
    """First of the requests that are due at `time`, which leave the event queue in order; -1 if there is none."""
    cycle = time & (event_queue.shape[0] - 1)
    if event_queue.ndim == 1:
        first = np.int64(event_queue[cycle].head)
        event_queue[cycle].head = -1
        return first
    slot = event_queue[cycle]
    first = np.int64(slot[0].head)
    slot[0].head = -1
    last = np.int64(slot[0].tail)
    for subslot in range(1, slot.shape[0]):
        head = np.int64(slot[subslot].head)
        if head >= 0:
            if first < 0:
                first = head
            else:
                requests[last].next = head
            last = np.int64(slot[subslot].tail)
            slot[subslot].head = -1
    return first


@inlined
def deliver(event_queue, requests, time, queues):
    """Put the requests that are due at `time` into the queues of their targets."""
    r = take_slot(event_queue, requests, time)
    while r >= 0:
        after = requests[r].next
        append(queues, requests[r].target, requests, r)
        r = after


@inlined
def prefetch_due(event_queue, requests, time, cursors):
    """Touch what is due at `time` and in the cycles after it, one per cursor, in an event queue without subslots.

    Where the next request of a cycle lies, only the one before it tells: each is a wait for the host's memory. Those
    of several cycles it waits for together.
    """
    n = len(cursors)
    for i in range(n):
        cursors[i] = event_queue[(time + i) & (event_queue.shape[0] - 1)].head
    left = True
    while left:
        left = False
        for i in range(n):
            r = cursors[i]
            if r >= 0:
                cursors[i] = requests[r].next
                left = True
