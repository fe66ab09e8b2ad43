"""Barriers that a block could do without, which only its trace shows: a result holds no order of accesses."""

from __future__ import annotations

from math import ceil

import numpy as np

from memsim.analysis.result import RunResult
from memsim.analysis.utilization import busiest_component
from memsim.gpu.config import GPU
from memsim.trace.reader import Trace
from memsim.trace.schema import Flag
from memsim.why.finding import ADVICE, Bottleneck, Cause, Finding
from memsim.why.source_access import kernel_location
from memsim.why.transforms.barriers import barriers_of_one_warp
from memsim.why.transforms.transform import read_blocks


def find_barriers_of_one_warp(result: RunResult, trace: Trace, gpu: GPU) -> Bottleneck | None:
    """Barriers between accesses of one and the same warp; None if there are none.

    Attributable share: the share of the kernel's time that they take at most, arrivals of all warps and the release,
    counted in the trace's first blocks: as if no block worked while another one waits.
    """
    blocks = next(read_blocks(trace), None)
    if blocks is None:
        return None
    needless = barriers_of_one_warp(blocks)
    n_blocks = int(blocks.block.max(initial=0)) + 1
    all_barriers = np.count_nonzero(blocks.chunk.flags & Flag.barrier)
    warps = len(blocks.chunk.warps) / n_blocks
    a_block = np.count_nonzero(needless) / n_blocks / warps
    if not a_block:
        return None
    about = result.trials.about["trace"]
    one_after_another = ceil(about["blocks"] / about["wave_blocks"])
    cycles = gpu.sm.barrier_cycles + warps * (gpu.sm.arrival_cycles or 0)
    share = float(min(1.0, a_block * cycles * one_after_another / result.cycles.mean))
    evidence = (
        f"{a_block:.3g} of {all_barriers / n_blocks / warps:.3g} barriers per block do not order different warps: a "
        f"single warp accesses memory on both sides, or none since the barrier before"
    )
    where = kernel_location(result), about["kernel"], ""
    found = Finding(Cause.barriers, *where, share, share, evidence, ADVICE[Cause.barriers])
    return Bottleneck(Cause.barriers, (found,), share, 1 - busiest_component(result)[1])
