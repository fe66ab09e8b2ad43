"""What a trace asks of a GPU, before any replay, as a result keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from memsim.hierarchy.execution import Execution
from memsim.hierarchy.sm.parameters import pipe_cycles
from memsim.profile.ops import profile
from memsim.trace.reader import Trace
from memsim.trace.schema import Flag


def demand(trace: Trace, execution: Execution) -> dict[str, Any]:
    """The demand of a trace on a GPU: `executed` for the whole kernel, and `profiles`, one per static instruction."""
    return {"executed": executed(trace, execution), "profiles": [dict(vars(one)) for one in profile(trace, execution)]}


def add_demand(about: dict[str, Any], ops: Sequence[dict[str, Any]], demand: Mapping[str, Any]) -> None:
    """Add the result of :func:`demand` to a result's texts."""
    about["executed"] = demand["executed"]
    for op, found in zip(ops, demand["profiles"], strict=True):
        op["profile"] = found


def executed(trace: Trace, execution: Execution) -> dict[str, Any]:
    """Inputs of the closed-form models other than the memory instructions, and the SM cycles that pipes are busy."""
    rows = execution.transactions.instructions
    return {
        "registers": trace.launch.registers,
        "shared_bytes": trace.launch.shared_bytes,
        "warps": trace.n_warps,
        "compute_instructions": int(rows["compute_run"].sum(dtype=np.int64)),
        "barriers": int(np.count_nonzero(rows["flags"] & Flag.barrier)),
        "masked": int(np.count_nonzero(rows["flags"] & Flag.masked)),
        "pipe_cycles": pipe_cycles(execution.gpu, trace.issue.mixes, rows["instruction_mix"]),
    }
