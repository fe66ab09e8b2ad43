"""One trial on the reference model, with the draws and in the shape of a trial on the compiled engine."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from time import perf_counter

import numpy as np

from memsim.gpu.components import COUNTERS
from memsim.gpu.config import GPU
from memsim.hierarchy.block_times import BlockTimes
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.draws import draws, page_stream
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.mapping import AddressLayout, placed
from memsim.hierarchy.sm.blocks import work_items
from memsim.hierarchy.sm.parameters import block_ticks
from memsim.hierarchy.sm.state import FREED
from memsim.hierarchy.trial import Trial, latency_counts
from memsim.reference.main_memory import main_memory_latencies
from memsim.reference.model import ReferenceModel
from memsim.support.errors import InputError
from memsim.trace.transactions import Transactions


def reference_trial(
    tx: Transactions,
    execution: Execution,
    layout: AddressLayout,
    seeds: np.random.SeedSequence,
    grouping: np.random.Generator,
) -> Trial:
    """Replay a trace on the reference model.

    Args:
        layout: of the trace's lines, from which the compiled engine would take its draws, too.
        seeds: of the replay.
        grouping: draws the groups of the main-memory step.

    Raises:
        InputError: warps that wait for mbarriers for ever.
    """
    gpu, begin = execution.gpu, perf_counter()
    model, (first, end, block), resident = reference_model(tx, execution, layout, seeds)
    model.run()
    if model.unfinished:
        problem = "leaves warps waiting for mbarriers forever; make the trace again"
        raise InputError(execution.trace, "instructions/phase", problem)
    seconds = perf_counter() - begin
    memory = np.array(main_memory_latencies(model, grouping), np.int64)
    blocks = BlockTimes(first, end, block, (gpu.sm.count, resident), gpu.sm.launch_cycles, 0, block_ticks(gpu))
    waiting = len(block) - min(len(block), gpu.sm.count * resident)
    for number, (time, sm, slot) in enumerate(model.blocks.freed):
        blocks.take(np.array([(time, sm, slot)], FREED), int(number < waiting))
    return Trial(
        **_counted(model, tx.n_ops),
        cycles=np.array(model.cycles),
        memory_histogram=latency_counts(memory),
        memory_sum=memory.sum(),
        memory_count=np.array(len(memory)),
        transactions=np.array(model.statistics.transactions),
        wall_seconds=np.array(seconds),
        compiled_seconds=np.array(0.0),
        full_until=np.array(blocks.full_until),
        dirty_sectors=np.array(sum(part.dirty_sectors for part in model.slices)),
        blocks_done=blocks.done,
    )


def reference_model(
    tx: Transactions,
    execution: Execution,
    layout: AddressLayout,
    seeds: np.random.SeedSequence,
    most: int | None = None,
) -> tuple[ReferenceModel, tuple[np.ndarray, np.ndarray, np.ndarray], int]:
    """The reference model, ready to run.

    Args:
        layout, seeds: as for :func:`reference_trial`.
        most: transactions, after whose work item no other is launched; None: the whole trace.

    Returns:
        The model; first and end instructions of each work item's warps, and its block; blocks that an SM holds at once.
    """
    gpu = execution.gpu
    resident = min(execution.resident, gpu.sm.max_warps // tx.warps_per_block)
    started = min(len(tx.first_warp) - 1, resident * gpu.sm.count)
    drawn = draws(tx, gpu, started, seeds, layout)
    first, end, block = work_items(tx, started, drawn.phases)
    if most is not None:
        before = np.concatenate([[0], np.cumsum(tx.instructions["count"], dtype=np.int64)])
        up_to = np.cumsum((before[end] - before[first]).sum(axis=1))
        first, end, block = (of[: 1 + int(np.searchsorted(up_to, most))] for of in (first, end, block))
    model = ReferenceModel(tx, gpu, resident, drawn.arbitration, first, end, _physical(tx, gpu, seeds))
    return model, (first, end, block), resident


def _physical(tx: Transactions, gpu: GPU, seeds: np.random.SeedSequence) -> list[int] | None:
    """The lines' byte addresses, if pages are placed at random."""
    if not gpu.stochastic.page_placement:
        return None
    address = np.asarray(tx.line_address).astype(np.int64) * gpu.l1.line_bytes
    found: list[int] = placed(address, gpu.stochastic.page_bytes, page_stream(seeds)).tolist()
    return found


def _counted(model: ReferenceModel, n_ops: int) -> dict[str, np.ndarray]:
    """What the model counted for each op, as a trial's arrays."""
    found, ops = model.statistics, range(n_ops)
    one, of_instructions = (
        [latencies[op] for op in ops] for latencies in (found.latencies, found.instruction_latencies)
    )
    return {
        "counters": _array(found.counts, n_ops + 1, Level, Event, CountUnit),
        "components": np.array([found.components[key] for key in COUNTERS]),
        "latency_histogram": np.array([latency_counts(np.array(each)) for each in one]),
        "latency_sum": np.array([sum(each) for each in one]),
        "latency_count": np.array([len(each) for each in one]),
        "instruction_latency_sum": np.array([sum(each) for each in of_instructions]),
        "instruction_latency_count": np.array([len(each) for each in of_instructions]),
    }


def _array(counts: Mapping[tuple, int], rows: int, *axes: type[IntEnum]) -> np.ndarray:
    """Counts by op and names as an array by op and numbers."""
    array = np.zeros((rows, *map(len, axes)), np.int64)
    for (op, *names), number in counts.items():
        array[(op, *(axis[name] for axis, name in zip(axes, names, strict=True)))] = number
    return array
