"""One trial in a worker process: everything it needs is mapped from files that all workers share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.mapping import Layout
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.trace.transactions import Transactions

_LAYOUT = ("place", "sets")


@dataclass(frozen=True)
class Job:
    """What all trials of a run have in common."""

    directory: Path
    gpu: GPU
    resident: int
    seed: int
    warm: bool = False
    quantum: int | None = None


def save_layout(directory: Path, layout: Layout) -> None:
    """Put a layout beside the transactions, for workers to map."""
    for name in _LAYOUT:
        np.save(directory / f"{name}.npy", getattr(layout, name))


def run_trial(job: Job, trial: int) -> tuple[int, Trial]:
    """Replay the trace once; all random draws come from (seed, trial). Returns the trial's number and its results."""
    transactions = Transactions.load(job.directory)
    layout = Layout(*(np.load(job.directory / f"{name}.npy", mmap_mode="r") for name in _LAYOUT))
    replay, grouping = np.random.SeedSequence(job.seed, spawn_key=(trial,)).spawn(2)
    system = System(transactions, job.gpu, job.resident, replay, layout, job.quantum)
    return trial, system.run(job.warm, np.random.default_rng(grouping))
