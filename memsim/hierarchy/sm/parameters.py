"""What the configuration tells the loops of the SMs and their L1s."""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU, FullSet, Inclusion
from memsim.hierarchy.draws import Draws
from memsim.hierarchy.latencies import reply_cycles
from memsim.hierarchy.parameters import record_of, sharer_words
from memsim.hierarchy.sm.state import SCHEDULER, WRITE_POLICY


def sm_parameters(gpu: GPU, drawn: Draws, resident: int, warps_per_block: int) -> np.ndarray:
    """The record of the SMs and their L1s.

    Args:
        drawn: what the trial drew.
        resident: blocks that one SM holds at once.
    """
    return record_of(
        weights_key=drawn.warp_weights,
        arbitration_key=drawn.arbitration,
        scheduler_key=drawn.warp_scheduler,
        arbitration=gpu.stochastic.arbitration,
        max_weight=gpu.stochastic.max_weight if gpu.stochastic.warp_weights else 1,
        scheduler=SCHEDULER[gpu.sm.warp_scheduler],
        warp_slots=warps_per_block * resident,
        warps_per_block=warps_per_block,
        launch_cycles=gpu.sm.launch_cycles,
        issue_per_cycle=gpu.sm.issue_per_cycle,
        issue_cycles=gpu.sm.issue_cycles,
        memory_issue=gpu.sm.memory_issue,
        instruction_cycles=gpu.sm.instruction_cycles,
        lookup_cycles=gpu.sm.lookup_cycles,
        pass_cycles=gpu.sm.pass_cycles,
        shared_latency=gpu.sm.shared_latency_cycles,
        barrier_cycles=gpu.sm.barrier_cycles,
        max_stores=gpu.sm.max_stores,
        l1_enabled=gpu.l1.enabled,
        l1_sets=gpu.l1.sets,
        l1_mshrs=gpu.l1.mshrs,
        l1_latency=gpu.l1.hit_latency_cycles,
        l1_whole=gpu.l1.sector_bytes == gpu.l1.line_bytes,
        inclusive=gpu.l2.inclusion is Inclusion.inclusive,
        sharer_words=sharer_words(gpu),
        return_cycles=reply_cycles(gpu),
        write_policy=WRITE_POLICY[gpu.l1.write_policy],
        full_set_bypasses=gpu.l1.full_set is FullSet.bypass,
    )
