"""One trial in a worker process: everything it needs is mapped from files that all workers share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.hierarchy.execution import Execution
from memsim.hierarchy.mapping import Layout
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.trace.transactions import Transactions


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
    draws = np.random.SeedSequence(job.seed, spawn_key=(trial,))
    return trial, replayed(execution.transactions, execution, execution.layout, draws, job.warm, job.quantum)


def replayed(
    transactions: Transactions,
    execution: Execution,
    layout: Layout,
    draws: np.random.SeedSequence,
    warm: bool = False,
    quantum: int | None = None,
) -> Trial:
    """One trial of transactions that may lie elsewhere than the execution's own."""
    replay, grouping = draws.spawn(2)
    system = System(transactions, execution.gpu, execution.resident, replay, layout, quantum)
    return system.run(warm, np.random.default_rng(grouping))
