"""Which transforms remove a cause: one or several, of which the best is reported."""

from __future__ import annotations

from memsim.gpu.config import GPU
from memsim.trace.reader import Trace
from memsim.trace.schema import Space
from memsim.why.finding import Cause
from memsim.why.transforms.banks import spread_over_banks
from memsim.why.transforms.barriers import without_barriers_of_one_warp
from memsim.why.transforms.divided_threads import divide_threads, fills_gpu
from memsim.why.transforms.gpus import enlarge_cache, hash_channels, raise_occupancy
from memsim.why.transforms.layout import lay_out_array
from memsim.why.transforms.merged_atomics import merge_atomics_by_block, merge_atomics_by_warp
from memsim.why.transforms.merged_branches import compact_lanes, merge_branches
from memsim.why.transforms.register_exchange import pass_by_shuffle
from memsim.why.transforms.remapped_lanes import remap_lanes
from memsim.why.transforms.shared import keep_in_shared_memory
from memsim.why.transforms.transform import Transform
from memsim.why.transforms.trees import merge_trees
from memsim.why.transforms.waits import copy_asynchronously, load_ahead, widen_accesses


def find_transforms(cause: Cause, trace: Trace, ops: tuple[int, ...], gpu: GPU) -> list[Transform]:
    """Transforms that remove a cause where it was found; none if no rule can, or if the GPU has it already.

    Args:
        cause: what was found.
        trace: the trace.
        ops: static instructions of the findings.
        gpu: that it was found on.
    """
    name = " and ".join(sorted({_array_name(trace, op) for op in ops}))
    match cause:
        case Cause.scattered:
            found = [lay_out_array(trace, ops, name), remap_lanes(ops, name)]
        case Cause.misaligned:
            found = [lay_out_array(trace, ops, name)]
        case Cause.conflicts:
            found = [spread_over_banks(ops)]
        case Cause.contended:
            beyond = tuple(op for op in ops if trace.ops[op].space is not Space.shared)
            found = [merge_atomics_by_warp(ops), merge_atomics_by_block(trace, beyond) if beyond else None]
        case Cause.exchange:
            found = [pass_by_shuffle(trace, ops, name)]
        case Cause.copies:
            found = [copy_asynchronously(ops)]
        case Cause.divergence:
            found = [compact_lanes(trace, ops), merge_branches(trace, ops)]
        case Cause.evicted_l1 | Cause.crowded_l1:
            found = [enlarge_cache("l1")]
        case Cause.evicted_l2:
            found = [enlarge_cache("l2")]
        case Cause.reuse:
            found = [keep_in_shared_memory(trace, ops, name)]
        case Cause.channels | Cause.slices:
            found = [hash_channels(gpu)]
        case Cause.shared_bound:
            found = [widen_accesses(ops)]
        case Cause.latency:
            found = [load_ahead()]
        case Cause.barriers:
            found = [without_barriers_of_one_warp()]
        case Cause.trees:
            found = [merge_trees()]
        case Cause.few_warps:
            found = [raise_occupancy()] if fills_gpu(trace, gpu) else [*divide_threads(trace, gpu)]
        case _:
            found = []
    return [one for one in found if one is not None]


def _array_name(trace: Trace, op: int) -> str:
    array = trace.ops[op].array
    return trace.arrays[array].name if array >= 0 else "memory"
