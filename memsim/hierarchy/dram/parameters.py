"""The configuration, as it is read by the loops of the DRAM channels.

Each policy of the scheduler is a code, and the answers to the questions that the loops ask of it.
"""

from __future__ import annotations

import numpy as np

from memsim.gpu.choices import DramPolicy, RowPolicy, WriteTurns
from memsim.gpu.config import GPU
from memsim.hierarchy.parameters import as_configured, clock_ratio, record_of
from memsim.jit.compiled import inlined
from memsim.jit.specialization import fixed, matching

FCFS, FR_FCFS = range(len(DramPolicy))
ALONE, FINISH_OPENED, WITH_READS = range(len(WriteTurns))
OPEN_PAGE, CLOSED_PAGE = range(len(RowPolicy))


@inlined
def row_hits_first(policy):
    """Whether a request to the open row of its bank may go before older ones of the bank, or only the oldest."""
    return policy == FR_FCFS


@inlined
def oldest_first(policy):
    """Whether the oldest request of all banks has the next access, or one whose bank can soonest be accessed."""
    return policy == FCFS


@inlined
def takes_turns_alone(write_turns):
    """Whether nothing is done for reads while it is the writes' turn, nor the other way round."""
    return write_turns == ALONE


@inlined
def finishes_opened(write_turns):
    """Whether a bank serves the request it has opened a row for when it is the others' turn."""
    return write_turns == FINISH_OPENED


@inlined
def joins_reads(write_turns):
    """Whether writes are scheduled with the reads, from when the batch they are in begins."""
    return write_turns == WITH_READS


@inlined
def closes_rows(row_policy):
    """Whether a row that nobody waits for is closed at once."""
    return row_policy == CLOSED_PAGE


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
        **as_configured(gpu.dram, "banks", "queue", "write_queue", "write_high", "write_low", "policy"),
        **as_configured(gpu.dram, "row_policy", "write_turns"),
        groups=gpu.dram.bank_groups or 1,
        clock_up=up,
        clock_down=down,
        latency=gpu.dram.latency_cycles,
        log_run=log_run(gpu),
    )
    return fixed(record_of(**values), matching(KINDS, values))
