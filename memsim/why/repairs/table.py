"""Which transforms remove a cause: one or several, of which the best is reported."""

from __future__ import annotations

from memsim.gpu.config import GPU
from memsim.trace.reader import Trace
from memsim.trace.schema import Space
from memsim.why.finding import Cause
from memsim.why.repairs.banks import no_conflicts
from memsim.why.repairs.barriers import without_barriers_of_one_warp
from memsim.why.repairs.compact import compacted, hoisted
from memsim.why.repairs.dealt import dealt
from memsim.why.repairs.handed import handed_over
from memsim.why.repairs.layout import laid_out
from memsim.why.repairs.machines import larger, more_blocks, spread
from memsim.why.repairs.merged import merged_by_block, merged_by_warp
from memsim.why.repairs.repair import Repair
from memsim.why.repairs.shared import kept_by_block
from memsim.why.repairs.trees import one_tree_for_two
from memsim.why.repairs.waits import copied_directly, joined, loads_ahead


def repairs(cause: Cause, trace: Trace, ops: tuple[int, ...], gpu: GPU) -> list[Repair]:
    """Transforms that remove a cause where it was found; none if no rule can, or if the GPU has it already.

    Args:
        cause: what was found.
        trace: the trace.
        ops: static ops of the findings.
        gpu: that it was found on.
    """
    name = " and ".join(sorted({_array_name(trace, op) for op in ops}))
    match cause:
        case Cause.scattered:
            found = [laid_out(trace, ops, name), dealt(ops, name)]
        case Cause.misaligned:
            found = [laid_out(trace, ops, name)]
        case Cause.conflicts:
            found = [no_conflicts(ops)]
        case Cause.contended:
            beyond = tuple(op for op in ops if trace.ops[op].space is not Space.shared)
            found = [merged_by_warp(ops), merged_by_block(trace, beyond) if beyond else None]
        case Cause.exchange:
            found = [handed_over(trace, ops, name)]
        case Cause.copies:
            found = [copied_directly(ops)]
        case Cause.divergence:
            found = [compacted(trace, ops), hoisted(trace, ops)]
        case Cause.evicted_l1 | Cause.crowded_l1:
            found = [larger("l1")]
        case Cause.evicted_l2:
            found = [larger("l2")]
        case Cause.reuse:
            found = [kept_by_block(trace, ops, name)]
        case Cause.channels | Cause.slices:
            found = [spread(gpu)]
        case Cause.shared_bound:
            found = [joined(ops)]
        case Cause.latency:
            found = [loads_ahead()]
        case Cause.barriers:
            found = [without_barriers_of_one_warp()]
        case Cause.trees:
            found = [one_tree_for_two()]
        case Cause.few_warps:
            found = [more_blocks()]
        case _:
            found = []
    return [one for one in found if one is not None]


def _array_name(trace: Trace, op: int) -> str:
    array = trace.ops[op].array
    return trace.arrays[array].name if array >= 0 else "memory"
