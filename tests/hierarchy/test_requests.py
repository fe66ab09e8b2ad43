"""Event queues deliver requests of a cycle by key, then in the order of sending, whatever the number of lanes."""

from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.hierarchy.requests import REQUEST, new_event_queue, new_pool, prefetch_due, schedule, take_slot
from memsim.jit.compiled import loop
from memsim.jit.plain_python import records

CYCLES = 4
KEYS = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 7, 2**31, 2**32 - 1]))


@loop
def _send(event_queue, requests, times, keys):
    for r in range(len(times)):
        requests[r].time = times[r]
        requests[r].key = keys[r]
        schedule(event_queue, requests, r)


@loop
def _take(event_queue, requests, time, cursors, out):
    if event_queue.ndim == 1:
        prefetch_due(event_queue, requests, time, cursors)
    n = 0
    r = take_slot(event_queue, requests, time)
    while r >= 0:
        out[n] = r
        n += 1
        r = requests[r].next
    return n


@pytest.mark.parametrize("lanes", [None, 1, 2, 32])
@pytest.mark.parametrize("cursors", [0, 1, 3])
@given(sent=st.lists(st.tuples(st.integers(8, 8 + CYCLES - 1), KEYS), max_size=40))
def test_cycle_is_served_by_key_then_sending(lanes, cursors, sent):
    event_queue, requests = records(new_event_queue(CYCLES, lanes)), records(new_pool(REQUEST, 64)[0])
    out, hints = np.zeros(64, np.int64), np.zeros(cursors, np.int64)
    for _ in range(2):  # an emptied event queue is as good as a new one
        _send(event_queue, requests, *np.array(sent, np.int64).reshape(-1, 2).T.copy())
        for time in range(8, 8 + CYCLES):
            numbers = [(key, r) for r, (when, key) in enumerate(sent) if when == time]
            expected = [r for _, r in sorted(numbers, key=itemgetter(0))]
            assert out[: _take(event_queue, requests, time, hints, out)].tolist() == expected
