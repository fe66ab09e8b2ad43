"""The paper's main-memory step (Baghsorkhi 2012, 3.2.3), over the channel model instead of a microbenchmark.

Requests that reached DRAM close to each other are put in groups of up to 32, one group an SM; the requests of all
groups enter idle channels at once, and the time until each is answered is the effective latency of main memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.config import GPU
from memsim.hierarchy import dram
from memsim.hierarchy.compiled import loop
from memsim.hierarchy.counters import LATENCY_BINS, latency_bin_edges
from memsim.hierarchy.latencies import reply_cycles
from memsim.hierarchy.machine import Machine
from memsim.hierarchy.plain import level_records
from memsim.hierarchy.requests import FETCH, append, give, take
from memsim.hierarchy.sm_state import NEVER

GROUP = 32  # requests a warp can issue at once


@dataclass
class MemoryStep:
    """Latencies, load to use, of all groups of one trial."""

    histogram: np.ndarray
    sum: int
    count: int


def memory_step(machine: Machine, gpu: GPU, log: np.ndarray, run: int, rng: np.random.Generator) -> MemoryStep:
    """Draw groups from each run of the log and time them.

    Args:
        machine: of the trial that wrote the log, finished; its channels are reset and used.
        log: requests to DRAM in runs of `run` consecutive ones, line << 8 | sector mask. Fewer than one run, of a
            trace that hardly uses DRAM, are taken as they are: a shorter run, with less to wait for.
        rng: draws each group's size (1 to 32) and each batch's place in its run, unless `dram_grouping` is off.
    """
    latencies = [np.zeros(0, np.int64)]
    machine.grow_requests(GROUP * gpu.sm.count)
    run = min(run, len(log)) or run
    for batch in log[: len(log) // run * run].reshape(-1, run):
        lines, sectors = _single_sectors(batch)
        random = gpu.stochastic.dram_grouping
        sizes = rng.integers(1, GROUP + 1, gpu.sm.count) if random else np.full(gpu.sm.count, GROUP)
        n = min(int(sizes.sum()), len(lines))
        at = int(rng.integers(len(lines) - n + 1)) if random else 0
        machine.channels = _idle(machine.channels, gpu)
        out = np.zeros(n, np.int64)
        place = machine.slices.place[lines[at : at + n]]
        _time_batch(machine.channels, machine.sms.free_requests, place, sectors[at : at + n], out)
        latencies.append(out + reply_cycles(gpu))
    all_ = np.concatenate(latencies)
    counts, _ = np.histogram(all_, latency_bin_edges())
    return MemoryStep(counts[:LATENCY_BINS], int(all_.sum()), len(all_))


def _single_sectors(batch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The requests of a run as 32-byte ones, in order: (lines, masks of one sector)."""
    bits = (batch[:, None] >> np.arange(8)) & 1
    which, sector = np.nonzero(bits)
    return batch[which] >> 8, np.int64(1) << sector


def _idle(channels: dram.Channels, gpu: GPU) -> dram.Channels:
    """Channels in their first state; their counters are no longer the trial's."""
    fresh = dram.new_channels(gpu.dram.channels, gpu.dram.banks)
    return level_records(channels._replace(**fresh, counters=np.zeros_like(channels.counters)))


@loop
def _time_batch(m, free, place, masks, out):
    """Send all requests at time 0 and note when each is answered."""
    numbers = out  # a request's number first, its latency then
    for k in range(len(out)):
        r = take(free)
        numbers[k] = r
        m.requests[r].time = 0
        m.requests[r].bank = place[k].bank
        m.requests[r].row = place[k].row
        m.requests[r].kind = FETCH
        m.requests[r].mask = masks[k]
        m.requests[r].op = 0
        m.requests[r].sm = 0
        append(m.queues, place[k].channel, m.requests, r)
    for c in range(len(m.channels)):
        dram.advance_channel(m, c, NEVER)
    for b in range(len(m.to_l2)):
        m.to_l2[b].head = -1
    for k in range(len(out)):
        r = numbers[k]
        give(free, r)
        out[k] = m.requests[r].time
