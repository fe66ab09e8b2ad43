"""The paper's main-memory step (Baghsorkhi 2012, 3.2.3), over the channel model instead of a microbenchmark.

Requests that reached DRAM close to each other are put in groups of up to 32, one group an SM; the requests of all
groups enter idle channels at once, and the time until each is answered is the effective latency of main memory.
"""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.codes import FETCH
from memsim.hierarchy.dram import state as dram_state
from memsim.hierarchy.dram.channels import advance_channels, to_clock
from memsim.hierarchy.machine import Machine, plain
from memsim.hierarchy.parameters import reply_cycles
from memsim.hierarchy.requests import append, give, take, take_slot
from memsim.jit.compiled import inlined
from memsim.jit.plain_python import level_records, records

GROUP = 32  # requests that a warp can issue at once
# time: SM cycle in which it reaches its channel; kind: FETCH or WRITE_BACK.
ISOLATED_REQUEST = np.dtype(
    [("time", "<i8"), ("row", "<i4"), ("channel", "<u2"), ("bank", "u1"), ("kind", "u1"), ("mask", "u1")]
)
AT_LAST = 1 << 40  # an SM cycle after all answers: channels that advance to it come to rest before


class IsolatedDram:
    """The channels of a machine with nothing under way, for lists of requests, each of which finds them idle.

    Args:
        machine: whose channels these are from now on, and whose counters of the trial stay as they are.
        gpu: its configuration.
    """

    def __init__(self, machine: Machine, gpu: GPU) -> None:
        fresh, counters = dram_state.new_channels(gpu.dram), np.zeros_like(machine.channels.counters)
        state = {name: array.copy() for name, array in fresh.items()}
        self._machine = machine
        self._to_idle = [(plain(state[name]), plain(fresh[name])) for name in fresh]
        machine.channels = level_records(machine.channels._replace(**state, counters=counters))

    def answer_times(self, requests: np.ndarray) -> np.ndarray:
        """Send requests to idle channels, however many are under way, and time them.

        Args:
            requests: REQUEST_ALONE [n], in order of time.

        Returns:
            i8 [n], SM cycles from a request's time until it is answered at L2.
        """
        machine, out, listed = self._machine, np.zeros(len(requests), np.int64), records(requests)
        machine.grow_requests(len(requests))
        for state, fresh in self._to_idle:
            np.copyto(state, fresh)
        channels, free = machine.channels, machine.sms.free_requests
        machine.loop("isolated_send", _send, channels, free, listed, out)(channels, free, listed, out)
        machine.loop("channels", advance_channels, channels, 0, 0)(channels, AT_LAST, AT_LAST)
        machine.loop("isolated_collect", _collect, channels, free, listed, out)(channels, free, listed, out)
        return out


@inlined
def _send(m, free, requests, numbers):
    """Queue all requests at their channels, and note the number of each."""
    for k in range(len(numbers)):
        r = take(free)
        numbers[k] = r
        m.requests[r].time = to_clock(m.p[0], requests[k].time)
        m.requests[r].bank = requests[k].bank
        m.requests[r].row = requests[k].row
        m.requests[r].kind = requests[k].kind
        m.requests[r].mask = requests[k].mask
        m.requests[r].op = 0
        m.requests[r].slice = 0
        append(m.queues, requests[k].channel, m.requests, r)


@inlined
def _collect(m, free, requests, numbers):
    """Put in the place of each request's number its latency: all are answered."""
    for b in range(len(m.from_dram)):
        take_slot(m.from_dram, m.requests, b)
    for k in range(len(numbers)):
        r = numbers[k]
        give(free, r)
        numbers[k] = m.requests[r].time - requests[k].time


def memory_step(machine: Machine, gpu: GPU, log: np.ndarray, run: int, rng: np.random.Generator) -> np.ndarray:
    """Draw groups from each run of the log and time them: latencies, load to use, of all requests, in cycles.

    Args:
        machine: of the trial that wrote the log, finished; its channels are reset and used.
        log: requests to DRAM in runs of `run` consecutive ones, line << 8 | sector mask. Fewer than one run, of a
            trace that hardly uses DRAM, are taken as they are: a shorter run, with less to wait for.
        rng: draws each group's size (1 to 32), each batch's place in its run and, for memory that is refreshed, its
            time since a refresh, unless `dram_grouping` is off.
    """
    latencies = [np.zeros(0, np.int64)]
    refresh = round((gpu.dram.timing.refi or 0) * gpu.sm.clock_mhz / gpu.dram.clock_mhz)  # SM cycles
    random, dram, mapping = gpu.stochastic.dram_grouping, IsolatedDram(machine, gpu), np.asarray(machine.slices.mapping)
    run = min(run, len(log)) or run
    for batch in log[: len(log) // run * run].reshape(-1, run):
        sectors = _single_sectors(batch)
        sizes = rng.integers(1, GROUP + 1, gpu.sm.count) if random else np.full(gpu.sm.count, GROUP)
        n = min(int(sizes.sum()), len(sectors))
        at = int(rng.integers(len(sectors) - n + 1)) if random else 0
        requests = np.zeros(n, ISOLATED_REQUEST)
        if random and refresh:  # after every channel's first
            requests["time"] = rng.integers(refresh, 2 * refresh)
        taken = sectors[at : at + n]
        mapped = mapping[batch[taken >> 3] >> 8]
        for name in ("channel", "bank", "row"):
            requests[name] = mapped[name]
        requests["kind"], requests["mask"] = FETCH, 1 << (taken & 7)
        latencies.append(dram.answer_times(requests) + reply_cycles(gpu))
    return np.concatenate(latencies)


def _single_sectors(batch: np.ndarray) -> np.ndarray:
    """The requests of a run as 32-byte ones, in order: 8 * the place of the request in the run + its sector."""
    return np.flatnonzero(np.unpackbits(batch.astype(np.uint8), bitorder="little").view(bool))
