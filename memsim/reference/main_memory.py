"""The main-memory step of Baghsorkhi et al. (PPoPP 2012, section 3.2.3), on the channel model.

Requests that reached DRAM close to each other form groups of up to 32, one for each SM. The requests of all groups
enter idle channels at once; the time until each is answered is the effective latency of main memory.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from memsim.reference.clock import Clock, CycleStage
from memsim.reference.dram import Channel
from memsim.reference.model import ReferenceModel
from memsim.reference.packets import Fetch, Statistics

GROUP = 32  # memory transactions that a warp can issue at once
MOST_BATCHES = 256  # of requests that are taken from a replay


def batches(requests: list[tuple[int, int]], length: int) -> list[list[tuple[int, int]]]:
    """Cut requests into batches of consecutive ones, and take every so many of these, evenly over the replay."""
    if len(requests) < length:
        return [requests] if requests else []
    stride = 1
    while -(-len(requests) // length) > stride * MOST_BATCHES:
        stride *= 2
    found = [requests[first : first + length] for first in range(0, len(requests), stride * length)]
    return [batch for batch in found if len(batch) == length]


def main_memory_latencies(model: ReferenceModel, rng: np.random.Generator) -> list[int]:
    """Return latencies, in SM cycles from load to use, of all requests of the groups drawn from a finished replay.

    Args:
        rng: draws each group's size, each batch's place and, for memory that is refreshed, its time since a refresh,
            unless `stochastic.dram_grouping` is off.
    """
    gpu, latencies = model.gpu, []
    random, n_sms = gpu.stochastic.dram_grouping, gpu.sm.count
    refresh = round((gpu.dram.timing.refi or 0) * gpu.sm.clock_mhz / gpu.dram.clock_mhz)
    for batch in batches(model.statistics.dram_requests, GROUP * n_sms):
        single = [(line, 1 << sector) for line, mask in batch for sector in range(8) if mask >> sector & 1]
        sizes = rng.integers(1, GROUP + 1, n_sms) if random else np.full(n_sms, GROUP)
        n = min(int(sizes.sum()), len(single))
        first = int(rng.integers(len(single) - n + 1)) if random else 0
        time = int(rng.integers(refresh, 2 * refresh)) if random and refresh else 0
        latencies += answer_times(model, single[first : first + n], time)
    return [latency + model.interconnect.reply_cycles for latency in latencies]


def answer_times(model: ReferenceModel, requests: list[tuple[int, int]], time: int) -> list[int]:
    """Send (line, mask) to idle channels at `time`; return the SM cycles until each is answered."""
    clock, answered = Clock(), [0] * len(requests)
    channels = [Channel(clock, n, model.gpu, Statistics()) for n in range(model.gpu.dram.channels)]

    def answer(k: int, _: Fetch, at: int) -> None:
        answered[k] = at - time

    for k, (line, mask) in enumerate(requests):
        fetch = Fetch(time, line, mask, 0, model.addresses.location(line), 0)
        clock.call(time, (CycleStage.slices,), channels[fetch.location[0]].send, fetch, partial(answer, k))
    clock.run()
    return answered
