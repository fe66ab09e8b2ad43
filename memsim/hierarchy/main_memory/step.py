"""The paper's main-memory step (Baghsorkhi 2012, 3.2.3), over the channel model instead of a microbenchmark.

Requests that reached DRAM close to each other are put in groups of up to 32, one group an SM; the requests of all
groups enter idle channels at once, and the time until each is answered is the effective latency of main memory.
"""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.codes import FETCH
from memsim.hierarchy.latencies import reply_cycles
from memsim.hierarchy.machine import Machine
from memsim.hierarchy.main_memory.isolated_dram import ISOLATED_REQUEST, IsolatedDram

GROUP = 32  # requests that a warp can issue at once


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
