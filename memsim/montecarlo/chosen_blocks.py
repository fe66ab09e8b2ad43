"""Which blocks of a launch are replayed in time, where a sample of them is to be."""

from __future__ import annotations

from math import ceil
from typing import Any

from memsim.hierarchy.block_sample import GROUPS, BlockGroup, BlockSample
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.functional_walk import can_walk
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

BEGIN_WAVES = 2  # of the first group; the first wave is not measured
LEAD_WAVES = 0.5  # of another group, not measured: what the group before left under way ends, queues and L1s fill
MEASURED_WAVES = 1.0
SHARE = 0.2  # of the blocks that are replayed
LEAST_GROUPS = 4  # fewer show too little of how groups differ
LEAST_WAVES = ceil((BEGIN_WAVES + (LEAST_GROUPS - 1) * (LEAD_WAVES + MEASURED_WAVES)) / SHARE)


def choose_blocks(trace: Trace, execution: Execution) -> BlockSample:
    """Groups of consecutive blocks, evenly over the launch, at most GROUPS and at most SHARE of it.

    Raises:
        InputError: a trace of a part of a launch, a launch of less than LEAST_WAVES waves, a GPU whose caches cannot be
            walked, or code without transactions.
    """
    wave, blocks = execution.wave_blocks, trace.n_blocks
    if blocks < trace.launch.n_blocks:
        raise InputError(trace.path, "--sample", f"has {blocks} of the launch's {trace.launch.n_blocks} blocks; give a "
                         "trace of all (--blocks all)")  # fmt: skip
    if not can_walk(execution.gpu):
        raise InputError(execution.gpu.name, "--sample", "does not support an inclusive L2, a GPU without L2, or an "
                         "L1 that keeps stores; leave it out")  # fmt: skip
    if blocks < LEAST_WAVES * wave:
        raise InputError(trace.path, "--sample", f"has {blocks} blocks, less than {LEAST_WAVES} times the {wave} that "
                         f"{execution.gpu.name} holds at once; leave it out: all of them take little time")  # fmt: skip
    lead, measured = ceil(LEAD_WAVES * wave), ceil(MEASURED_WAVES * wave)
    begin = BEGIN_WAVES * wave
    groups = min(GROUPS, 1 + int((SHARE * blocks - begin) / (lead + measured)))
    starts = [round(begin + k * (blocks - begin - lead - measured) / (groups - 1)) for k in range(1, groups)]
    others = (BlockGroup(start, start + lead, start + lead + measured) for start in starts)
    return BlockSample((BlockGroup(0, wave, begin), *others), wave)


def add_sample(about: dict[str, Any], sample: BlockSample) -> None:
    """Say in the `about` of a result which blocks its trials replay."""
    groups = [[group.first, group.measured, group.end] for group in sample.groups]
    about["sample"] = {"groups": groups, "traced": about["trace"]["blocks"]}
    about["trace"]["blocks"] = sample.replayed
