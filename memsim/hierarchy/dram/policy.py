"""The policies of the DRAM scheduler: each is a code, and the answers to the questions that the loops ask of it."""

from __future__ import annotations

from memsim.gpu.choices import DramPolicy, RowPolicy
from memsim.support.compiled import inlined

FCFS, FR_FCFS = range(2)
POLICY = {DramPolicy.fcfs: FCFS, DramPolicy.fr_fcfs: FR_FCFS}
OPEN_PAGE, CLOSED_PAGE = range(2)
ROW_POLICY = {RowPolicy.open_page: OPEN_PAGE, RowPolicy.closed_page: CLOSED_PAGE}


@inlined
def row_hits_first(policy):
    """Whether any request to the open row of its bank may go before older ones (first-ready), or only the oldest."""
    return policy == FR_FCFS


@inlined
def closes_rows(row_policy):
    """Whether a row that nobody waits for is closed at once."""
    return row_policy == CLOSED_PAGE
