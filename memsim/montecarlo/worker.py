"""One trial in a worker process: everything it needs is mapped from files that all workers share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.hierarchy.execution import Execution
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial


@dataclass(frozen=True)
class Job:
    """What all trials of a run have in common."""

    execution: Execution
    seed: int
    warm: bool = False
    quantum: int | None = None


def run_trial(job: Job, trial: int) -> tuple[int, Trial]:
    """Replay the trace once; all random draws come from (seed, trial). Returns the trial's number and its results."""
    execution = job.execution
    replay, grouping = np.random.SeedSequence(job.seed, spawn_key=(trial,)).spawn(2)
    system = System(execution.transactions, execution.gpu, execution.resident, replay, execution.layout, job.quantum)
    return trial, system.run(job.warm, np.random.default_rng(grouping))
