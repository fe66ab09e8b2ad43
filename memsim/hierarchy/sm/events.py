"""The events of an SM: a heap of the warps that act later, by time, then by slot."""

from __future__ import annotations

from memsim.hierarchy.codes import NEVER
from memsim.hierarchy.sm.state import EVENT_BITS, SLOTS
from memsim.jit.compiled import inlined


@inlined
def push(m, sm, slot, time):
    """Let warp `slot` act at `time`."""
    base = sm * 2 * SLOTS
    key = time << EVENT_BITS | slot
    at = m.sms[sm].events
    m.sms[sm].events = at + 1
    while at > 0:
        parent = (at - 1) >> 1
        if m.heap[base + parent] <= key:
            break
        m.heap[base + at] = m.heap[base + parent]
        at = parent
    m.heap[base + at] = key


@inlined
def next_event(m, sm):
    """When the SM's first warp acts, NEVER if none will by itself."""
    return m.heap[sm * 2 * SLOTS] >> EVENT_BITS if m.sms[sm].events else NEVER


@inlined
def pop_event(m, sm):
    """Take the earliest entry of the heap and return its slot."""
    base = sm * 2 * SLOTS
    slot = m.heap[base] & ((1 << EVENT_BITS) - 1)
    n = m.sms[sm].events - 1
    m.sms[sm].events = n
    key = m.heap[base + n]
    at = 0
    child = 1
    while child < n:
        if child + 1 < n and m.heap[base + child + 1] < m.heap[base + child]:
            child += 1
        if key <= m.heap[base + child]:
            break
        m.heap[base + at] = m.heap[base + child]
        at = child
        child = 2 * at + 1
    m.heap[base + at] = key
    return slot
