"""DRAM by itself: requests that come when a list says, and the time until each is answered."""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.codes import NEVER
from memsim.hierarchy.dram import channels as dram
from memsim.hierarchy.dram import state as dram_state
from memsim.hierarchy.loops.plain import level_records, records
from memsim.hierarchy.machine import Machine
from memsim.hierarchy.requests import append, give, take, take_bucket
from memsim.support.compiled import inlined

# time: SM cycle in which it reaches its channel; kind: FETCH or WRITE_BACK.
REQUEST_ALONE = np.dtype(
    [("time", "<i8"), ("row", "<i4"), ("channel", "<u2"), ("bank", "u1"), ("kind", "u1"), ("mask", "u1")]
)


def answer_times(machine: Machine, gpu: GPU, requests: np.ndarray) -> np.ndarray:
    """Send requests to idle channels, however many are under way, and time them.

    Args:
        machine: with nothing under way; its channels are reset and used.
        requests: REQUEST_ALONE [n], in order of time.

    Returns:
        i8 [n], SM cycles from a request's time until it is answered at L2.
    """
    machine.grow_requests(len(requests))
    fresh = dram_state.new_channels(gpu.dram)
    counters = np.zeros_like(machine.channels.counters)  # those of the trial stay
    machine.channels = level_records(machine.channels._replace(**fresh, counters=counters))
    out = np.zeros(len(requests), np.int64)
    _send(machine.channels, machine.sms.free_requests, records(requests), out)
    return out


@inlined
def _send(m, free, requests, out):
    """Queue all requests at their channels, let these run until nothing is left, and note the latencies."""
    numbers = out  # a request's number first, its latency then
    for k in range(len(out)):
        r = take(free)
        numbers[k] = r
        m.requests[r].time = dram.to_clock(m.p[0], requests[k].time)
        m.requests[r].bank = requests[k].bank
        m.requests[r].row = requests[k].row
        m.requests[r].kind = requests[k].kind
        m.requests[r].mask = requests[k].mask
        m.requests[r].op = 0
        m.requests[r].slice = 0
        append(m.queues, requests[k].channel, m.requests, r)
    for c in range(len(m.channels)):
        dram.advance_channel(m, c, NEVER)
    for b in range(len(m.to_l2)):
        take_bucket(m.to_l2, m.requests, b)
    for k in range(len(out)):
        r = numbers[k]
        give(free, r)
        out[k] = m.requests[r].time - requests[k].time
