"""The policies of the DRAM scheduler: each is a code, and the answers to the questions that the loops ask of it."""

from __future__ import annotations

from memsim.gpu.config import DramPolicy
from memsim.support.compiled import inlined

FCFS, FR_FCFS = range(2)
POLICY = {DramPolicy.fcfs: FCFS, DramPolicy.fr_fcfs: FR_FCFS}


@inlined
def row_hits_first(policy):
    """Whether any request to the open row of its bank may go before older ones (first-ready), or only the oldest."""
    return policy == FR_FCFS
