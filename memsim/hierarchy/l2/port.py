"""Memory partitions without an L2 (``l2.enabled = false``), as in GPUs of compute capability 1.x.

A slice is then the port of its partition. Every request is sent to DRAM as it is: nothing is kept, and two requests for
the same sectors are two fetches. Atomics are carried out at the partition, as a fetch and then a write. A request
counts as a miss, as a load that bypasses L1 does there; the configuration says that there is no cache.
"""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.codes import FETCH, MISS, STORE, WRITE_BACK, first_event, reads
from memsim.hierarchy.l2.lookup import reply, to_memory
from memsim.hierarchy.requests import give
from memsim.jit.compiled import inlined


@inlined
def forward(m, s, r, time):
    """Send a request on to DRAM; returns the fetch that it waits for, -1 for a store, which waits for none."""
    kind = m.requests[r].kind
    op = m.requests[r].op
    mask = np.int64(m.requests[r].mask)
    first = first_event(kind)
    m.counters[op, first + MISS, 0] += 1
    m.counters[op, first + MISS, 1] += m.sectors[mask]
    sent = to_memory(m, s, WRITE_BACK if kind == STORE else FETCH, m.requests[r].line, mask, op, time)
    return np.int64(-1 if kind == STORE else sent)


@inlined
def answer_fetched(m, s, f, time):
    """Answer the request that waits for fetch `f`; what an atomic read, it writes."""
    r = m.requests[f].waiters
    kind = m.requests[r].kind
    line = m.requests[f].line
    mask = np.int64(m.requests[f].mask)
    op = m.requests[f].op
    m.slices[s].fetches -= 1
    give(m.free_requests, f)
    reply(m, r, time)
    if not reads(kind):
        to_memory(m, s, WRITE_BACK, line, mask, op, time)
