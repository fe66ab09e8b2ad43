"""The policies of the DRAM scheduler: each is a code, and the answers to the questions that the loops ask of it."""

from __future__ import annotations

from memsim.gpu.choices import DramPolicy, RowPolicy, WriteTurns
from memsim.jit.compiled import inlined

FCFS, FR_FCFS = range(2)
POLICY = {DramPolicy.fcfs: FCFS, DramPolicy.fr_fcfs: FR_FCFS}
ALONE, FINISH_OPENED, WITH_READS = range(3)
WRITE_TURNS = {
    WriteTurns.alone: ALONE,
    WriteTurns.finish_opened: FINISH_OPENED,
    WriteTurns.with_reads: WITH_READS,
}
OPEN_PAGE, CLOSED_PAGE = range(2)
ROW_POLICY = {RowPolicy.open_page: OPEN_PAGE, RowPolicy.closed_page: CLOSED_PAGE}


@inlined
def row_hits_first(policy):
    """Whether any request to the open row of its bank may go before older ones (first-ready), or only the oldest."""
    return policy == FR_FCFS


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
