"""The configuration, as it is read by the loops of the DRAM channels."""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.dram.policy import ALONE, FR_FCFS, OPEN_PAGE, POLICY, ROW_POLICY, WRITE_TURNS
from memsim.hierarchy.parameters import clock_ratio, record_of
from memsim.jit.specialization import fixed, matching

# What the channels of all presets have in common, which the loop is compiled for.
KINDS = [dict(policy=FR_FCFS, row_policy=OPEN_PAGE, write_turns=ALONE, groups=1)]


def log_run(gpu: GPU) -> int:
    """Requests to DRAM logged in a row: one group of 32 for each SM (Baghsorkhi 2012, 3.2.3)."""
    return 32 * gpu.sm.count


def dram_parameters(gpu: GPU) -> np.ndarray:
    """The record of the DRAM channels: the timing table, and the ratio of their clock to the SMs' as whole numbers."""
    up, down = clock_ratio(gpu.dram.clock_mhz, gpu)
    timing = gpu.dram.timing
    values = dict(
        **timing.resolved(),
        groups=gpu.dram.bank_groups or 1,
        clock_up=up,
        clock_down=down,
        latency=gpu.dram.latency_cycles,
        banks=gpu.dram.banks,
        policy=POLICY[gpu.dram.policy],
        row_policy=ROW_POLICY[gpu.dram.row_policy],
        write_turns=WRITE_TURNS[gpu.dram.write_turns],
        queue=gpu.dram.queue,
        write_queue=gpu.dram.write_queue,
        write_high=gpu.dram.write_high,
        write_low=gpu.dram.write_low,
        log_run=log_run(gpu),
    )
    return fixed(record_of(**values), matching(KINDS, values))
