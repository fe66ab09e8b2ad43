"""One trial in a worker process: everything it needs is mapped from files that all workers share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memsim.hierarchy.block_sample import BlockSample
from memsim.hierarchy.draws import DRAM_GROUPING
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.mapping import AddressLayout
from memsim.hierarchy.spare import Spare
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.montecarlo.choices import Engine
from memsim.montecarlo.reference_trial import reference_trial
from memsim.trace.transactions import Transactions

spare = Spare()  # of this process, whose trials of one kernel come one after the other


@dataclass(frozen=True)
class TrialJob:
    """What all trials of a run have in common."""

    execution: Execution
    seed: int
    warm: bool = False
    quantum: int | None = None
    sources: tuple[Mapping[str, int], ...] = ()  # of each trial, see run_trial
    engine: Engine = Engine.compiled
    sample: BlockSample | None = None


def run_trial(job: TrialJob, trial: int) -> tuple[int, Trial]:
    """Replay the trace once; returns the trial's number and its results.

    All random draws come from (seed, trial), but those of the sources for which ``job.sources[trial]`` names another
    trial: they are as in that one.
    """
    execution, redrawn = job.execution, job.sources[trial] if job.sources else {}
    if job.engine is Engine.reference:
        replay, grouping = _seeds(job, trial).spawn(2)
        rng = np.random.default_rng(grouping)
        return trial, reference_trial(execution.transactions, execution, execution.layout, replay, rng)
    own, others = _seeds(job, trial), {source: _seeds(job, other) for source, other in redrawn.items()}
    return trial, replayed(
        execution.transactions, execution, execution.layout, own, job.warm, job.quantum, others, job.sample
    )


def _seeds(job: TrialJob, trial: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(job.seed, spawn_key=(trial,))


def replayed(
    transactions: Transactions,
    execution: Execution,
    layout: AddressLayout,
    draws: np.random.SeedSequence,
    warm: bool = False,
    quantum: int | None = None,
    others: Mapping[str, np.random.SeedSequence] | None = None,
    sample: BlockSample | None = None,
) -> Trial:
    """One trial of transactions that may lie elsewhere than the execution's own.

    Args:
        draws: seeds of the trial.
        others: by source (see hierarchy.draws), those of the trial whose draw replaces this one's.
        sample: the blocks that are replayed in time; None: all.
    """
    replay, grouping = draws.spawn(2)
    spawned = {source: seeds.spawn(2) for source, seeds in (others or {}).items()}
    if DRAM_GROUPING in spawned:
        _, grouping = spawned.pop(DRAM_GROUPING)
    replays = {source: replay for source, (replay, _) in spawned.items()}
    system = System(
        transactions, execution.gpu, execution.resident, replay, layout, quantum, others=replays, spare=spare,
        name=execution.trace, sample=sample,
    )  # fmt: skip
    done = system.run(warm, np.random.default_rng(grouping))
    spare.put(system.machine, transactions, system.where)
    return done
