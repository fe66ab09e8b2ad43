"""The configuration, as it is read by the loops of the SMs and their L1s."""

from __future__ import annotations

import numpy as np

from memsim.gpu.choices import Dependence, FullSet, Inclusion
from memsim.gpu.config import GPU
from memsim.gpu.pipes import PIPES, PIPES_OF, tensor_rate
from memsim.hierarchy.block_times import BLOCK_TICKS
from memsim.hierarchy.draws import Draws
from memsim.hierarchy.parameters import as_configured, code_of, record_of, reply_cycles, sharer_words
from memsim.hierarchy.sm.state import CRITICAL_PATH, RESULT, RING, SLOTS, TENSOR, TICKS
from memsim.trace.schema import LINKS, PRODUCT, RESULT_CLASSES, TENSOR_TYPES

_AS_CONFIGURED = (
    "issue_cycles", "memory_issue", "address_cycles", "queued_barriers", "instruction_cycles", "lookup_cycles",
    "request_cycles", "pass_cycles", "constant_cycles", "barrier_cycles", "arrival_cycles", "max_stores",
)  # fmt: skip


def sm_parameters(gpu: GPU, drawn: Draws, resident: int, warps_per_block: int, divergent: bool) -> np.ndarray:
    """The record of the SMs and their L1s.

    Args:
        drawn: what the trial drew.
        resident: blocks that one SM holds at once.
        divergent: whether warps diverge, and both paths are issued at once.
    """
    return record_of(
        **as_configured(gpu.sm, *_AS_CONFIGURED),
        weights_key=drawn.warp_weights,
        arbitration_key=drawn.arbitration,
        scheduler_key=drawn.warp_scheduler,
        arbitration=gpu.stochastic.arbitration,
        max_weight=gpu.stochastic.max_weight if gpu.stochastic.warp_weights else 1,
        scheduler=code_of(gpu.sm.warp_scheduler),
        warp_slots=warps_per_block * resident,
        warps_per_block=warps_per_block,
        second_path_slots=gpu.sm.count * SLOTS if divergent else 0,
        scoreboard=gpu.sm.dependence is Dependence.scoreboard,
        loads_per_warp=gpu.sm.loads_per_warp or RING,
        schedulers=gpu.sm.schedulers or 1,
        begins_in_slot=gpu.sm.schedulers is not None,
        issue_per_cycle=gpu.sm.issue_per_cycle // (gpu.sm.schedulers or 1),
        masked_issue=gpu.sm.memory_issue and gpu.sm.masked_issue,
        tags=gpu.l1.tags_per_cycle,
        shared_latency=gpu.sm.shared_latency_cycles,
        l1_enabled=gpu.l1.enabled,
        l1_sets=gpu.l1.sets,
        l1_mshrs=gpu.l1.mshrs,
        l1_latency=gpu.l1.hit_latency_cycles,
        l1_unsectored=gpu.l1.sector_bytes == gpu.l1.line_bytes,
        inclusive=gpu.l2.inclusion is Inclusion.inclusive,
        sharer_words=sharer_words(gpu),
        return_cycles=reply_cycles(gpu),
        write_policy=code_of(gpu.l1.write_policy),
        local_write_policy=code_of(gpu.l1.policy_of_local),
        full_set_bypasses=gpu.l1.full_set is FullSet.bypass,
    )


def block_ticks(gpu: GPU) -> int:
    """From the start of one block to that of the next on the whole GPU, in parts of a cycle; 0: nothing limits it."""
    return round((gpu.launch.block_cycles or 0) * BLOCK_TICKS)


def compute_run_times(gpu: GPU, mixes: np.ndarray) -> np.ndarray:
    """Times of compute runs, i8 [n_mixes, pipes + 1]: ticks in each pipe of a scheduler, cycles of the critical path.

    Machine code has stall cycles instead of a critical path; they hold the latency of matrix instructions, too.

    An instruction of a class with `lanes` results per cycle and SM occupies each of its pipes (gpu.pipes) for
    32 * schedulers / lanes cycles. Classes without lanes take issue slots alone.

    Args:
        mixes: MIX [n_mixes].
    """
    pipes, schedulers = gpu.sm.pipes, gpu.sm.schedulers or 1
    times = np.zeros((len(mixes), len(PIPES) + 1), np.int64)
    for each, occupied in PIPES_OF.items():
        results = mixes[f"count_{each}"].astype(np.int64) * gpu.sm.warp_size
        for pipe, field in occupied:
            if lanes := getattr(pipes, field):
                times[:, PIPES.index(pipe)] += -(-results * schedulers * TICKS // lanes)
    for each in LINKS:
        times[:, CRITICAL_PATH] += mixes[f"critical_{each}"].astype(np.int64) * link_cycles(gpu, each)
    for each in TENSOR_TYPES:
        if rate := tensor_rate(pipes, each):
            times[:, PIPES.index("tensor")] += -(-mixes[f"count_{each}"].astype(np.int64) * schedulers * TICKS // rate)
    stalls = mixes["stall_cycles"].astype(np.int64)
    times[:, CRITICAL_PATH] += np.where((mixes["count_tensor"] > 0) & (stalls == 0), pipes.tensor_cycles or 0, stalls)
    return times


def results(gpu: GPU) -> np.ndarray:
    """RESULT of each class of RESULT_CLASSES, behind one for no result.

    A result of the constants' unit takes as long as one of shared memory does. Products of a warp group take their time
    in the tensor cores, which their row's mix has.
    """
    sm = gpu.sm
    found = np.zeros(len(RESULT_CLASSES) + 1, RESULT)
    found["pipe"] = -1
    for number, name in enumerate(RESULT_CLASSES, 1):
        own = sm.shared_latency_cycles if name == "constant" else getattr(sm.pipes, f"{name}_cycles", None)
        found[number]["cycles"] = sm.instruction_cycles if own is None else own
        kind = "control" if name == "register" else name
        for pipe, field in PIPES_OF.get(kind, ()):
            if lanes := getattr(sm.pipes, field):
                found[number]["pipe"] = PIPES.index(pipe)
                found[number]["ticks"] = -(-sm.warp_size * (sm.schedulers or 1) * TICKS // lanes)
    found[PRODUCT:]["pipe"] = TENSOR
    return found


_CLASS_OF = {  # what a link counts as without cycles of its own
    "guard": "integer", "operand": "integer", "multiply": "integer", "uniform": "integer", "branch": "control"
}  # fmt: skip


def link_cycles(gpu: GPU, link: str) -> int:
    """Cycles of a link of a critical path, one of LINKS: its own, or its class's, or `sm.instruction_cycles`."""
    if link == "resolve":
        return gpu.sm.pipes.resolve_cycles or 0
    stated = (getattr(gpu.sm.pipes, f"{each}_cycles") for each in (link, _CLASS_OF.get(link, link)))
    return next((cycles for cycles in stated if cycles is not None), gpu.sm.instruction_cycles)


def pipe_cycles(gpu: GPU, mixes: np.ndarray, executed: np.ndarray) -> dict[str, float]:
    """SM cycles, over all SMs, in which pipes are busy with a trace's compute runs, by pipe; those with lanes alone.

    Args:
        mixes: MIX [n_mixes].
        executed: rows of it, one per compute run.
    """
    times = np.bincount(executed, minlength=len(mixes)) @ compute_run_times(gpu, mixes)
    schedulers = gpu.sm.schedulers or 1
    return {name: float(times[k]) / TICKS / schedulers for k, name in enumerate(PIPES) if times[k]}
