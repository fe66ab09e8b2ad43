"""One trial in a worker process: everything it needs is mapped from files that all workers of a machine share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from memsim.hierarchy.block_sample import BlockSample
from memsim.hierarchy.draws import DRAM_GROUPING
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.machine import ReusableMachine
from memsim.hierarchy.mapping import AddressLayout
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.montecarlo import shared_stages
from memsim.montecarlo.choices import Engine
from memsim.montecarlo.demand import demand
from memsim.montecarlo.trial_cache import DEMAND
from memsim.trace.transactions import Transactions

_reusable = ReusableMachine()  # of this process, whose trials of one kernel come one after the other


@dataclass(frozen=True)
class TrialJob:
    """What all trials of a trace on a GPU have in common.

    Attributes:
        execution: of the trace on the GPU.
        seed: of all draws.
        warm: every trial starts from the caches that one uncounted replay leaves.
        sources: of each trial, by source of randomness, the number of the trial whose draw replaces its own.
        engine: what replays the trace.
        sample: the blocks that are replayed in time; None: all.
    """

    execution: Execution
    seed: int
    warm: bool = False
    sources: tuple[Mapping[str, int], ...] = ()
    engine: Engine = Engine.compiled
    sample: BlockSample | None = None


@dataclass(frozen=True)
class Answer:
    """A finished trial, and the seconds its worker spent on it by phase."""

    trial: Trial
    seconds: dict[str, float]


def replay(job: TrialJob, number: int, trace: shared_stages.Given) -> Answer | dict[str, Any]:
    """One trial, whose transactions and layout are made first where no trial on this machine has made them.

    What it draws depends on the seed and `number` alone, so the same number draws the same anywhere. For the number
    DEMAND, what the trace asks of the GPU.
    """
    execution, seconds = shared_stages.prepared(job.execution, trace)
    if number == DEMAND:
        return demand(shared_stages.opened(job.execution, trace), execution)
    begin = perf_counter()
    trial = _trial(job, number, execution, *shared_stages.mapped(execution))
    return Answer(trial, seconds | {"replaying": perf_counter() - begin})


def run_trial(job: TrialJob, number: int) -> Trial:
    """One trial of an execution whose files are prepared; draws as in :func:`replay`."""
    return _trial(job, number, job.execution, job.execution.transactions, job.execution.layout)


def forget() -> None:
    """Let go of what this process keeps for the next trial."""
    _reusable.drop()
    shared_stages.forget()


def _trial(job: TrialJob, number: int, execution: Execution, transactions: Transactions, where: AddressLayout) -> Trial:
    """All random draws come from (seed, number), but those of sources that are drawn as in another trial."""
    replay, grouping = _seeds(job, number)
    if job.engine is Engine.reference:
        from memsim.montecarlo.reference_trial import reference_trial  # and its model, which few runs need

        return reference_trial(transactions, execution, where, replay, np.random.default_rng(grouping))
    others = {}
    for source, other in job.sources[number].items() if job.sources else ():
        if source == DRAM_GROUPING:
            _, grouping = _seeds(job, other)
        else:
            others[source], _ = _seeds(job, other)
    system = System(
        transactions, execution.gpu, execution.resident, replay, where, others=others, reusable=_reusable,
        name=execution.trace, sample=job.sample,
    )  # fmt: skip
    done = system.run(job.warm, np.random.default_rng(grouping))
    _reusable.put(system.machine, transactions, system.where)
    return done


def _seeds(job: TrialJob, number: int) -> list[np.random.SeedSequence]:
    """Of a trial's replay, and of its main-memory step."""
    return np.random.SeedSequence(job.seed, spawn_key=(number,)).spawn(2)
