"""The configuration, as it is read by the loops of address translation."""

from __future__ import annotations

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.parameters import record_of


def translation_parameters(gpu: GPU, key: int, n_ops: int) -> np.ndarray:
    """The record of the TLBs and the walkers.

    Args:
        key: of the hashed draws of arbitration.
        n_ops: static instructions of the trace; what walks load is counted in the row behind theirs.
    """
    own = gpu.translation
    return record_of(
        arbitration_key=key,
        arbitration=gpu.stochastic.arbitration,
        sms=gpu.sm.count,
        no_op=n_ops,
        sm_sets=own.sm_entries // own.sm_ways,
        sm_misses=own.sm_misses,
        shared_latency=own.shared_latency_cycles,
        walk_levels=own.walk_levels,
        walkers=own.walkers,
    )
