"""Blocks whose sums cost more than what they add up, which only a trace shows: a result holds no order of accesses."""

from __future__ import annotations

import numpy as np

from memsim.analysis.percent import percent
from memsim.analysis.result import RunResult
from memsim.analysis.utilization import busiest_component
from memsim.trace.bits import popcounts
from memsim.trace.reader import Trace
from memsim.trace.schema import NO_OP, Flag, Space
from memsim.why.finding import ADVICE, Bottleneck, Cause, Finding
from memsim.why.source_access import kernel_location
from memsim.why.transforms.transform import Blocks, read_blocks
from memsim.why.transforms.trees import after_first_barrier

# Lanes that go beyond the SM after a block's first barrier, over those before it, at most: to store sums. A sum for
# each warp is 1/32; where blocks pass on what they have read (scans, tiles), it is 1, or 1/8 if a thread takes eight.
_RESULTS = 0.1


def find_sums_of_few_elements(result: RunResult, trace: Trace) -> Bottleneck | None:
    """What a block does from its first barrier on, in shared memory alone but for its result; None if there is no such
    part, or but one barrier, or if half as many blocks would not fill the GPU.

    Attributable share: half of that part's share of the instructions in the trace's first blocks, for one block may do
    it for two. Where the busiest component leaves less, it works behind the sums, and the answer is None, too.
    """
    about = result.trials.about["trace"]
    blocks = next(read_blocks(trace), None)
    if blocks is None or about["blocks"] < 2 * about["wave_blocks"]:
        return None
    after, beyond = after_first_barrier(blocks), _lanes_beyond_the_sm(trace, blocks)
    if beyond[after].sum() > _RESULTS * beyond[~after].sum():
        return None
    warps = len(blocks.chunk.warps)
    barriers = np.count_nonzero(blocks.chunk.flags & Flag.barrier) / warps
    if barriers <= 1:
        return None
    instructions = blocks.chunk.compute_run.astype(np.int64) + (blocks.chunk.op != NO_OP)
    portion = float(instructions[after].sum() / max(1, instructions.sum()))
    share, room = portion / 2, 1 - busiest_component(result)[1]
    if share > room:
        return None
    loads = beyond[~after].sum() / np.prod(trace.launch.block) * trace.launch.warps_per_block / warps
    evidence = (
        f"{percent(portion)} of a block's instructions come after its first barrier ({barriers:.3g} barriers), for "
        f"{loads:.3g} accesses beyond the SM per thread before it"
    )
    where = kernel_location(result), about["kernel"], ""
    found = Finding(Cause.trees, *where, share, share, evidence, ADVICE[Cause.trees])
    return Bottleneck(Cause.trees, (found,), share, room)


def _lanes_beyond_the_sm(trace: Trace, blocks: Blocks) -> np.ndarray:
    """i8 [rows]: lanes that access other spaces than shared and constant memory."""
    outside = np.zeros(NO_OP + 1, np.int64)
    outside[: len(trace.ops)] = [op.space not in (Space.shared, Space.constant) for op in trace.ops]
    return np.asarray(outside[blocks.chunk.op] * popcounts(blocks.chunk.mask))
