"""One trial in a worker process: everything it needs is mapped from files that all workers share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.hierarchy.main_memory.step import memory_step
from memsim.hierarchy.mapping import Layout
from memsim.hierarchy.system import System
from memsim.trace.transactions import Transactions

_LAYOUT = ("mapping", "sets")


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


def run_trial(job: Job, trial: int) -> dict[str, Any]:
    """Replay the trace once; all random draws come from (seed, trial). Returns the row of montecarlo.store.Trials."""
    transactions = Transactions.load(job.directory)
    layout = Layout(*(np.load(job.directory / f"{name}.npy", mmap_mode="r") for name in _LAYOUT))
    replay, grouping = np.random.SeedSequence(job.seed, spawn_key=(trial,)).spawn(2)
    system = System(transactions, job.gpu, job.resident, replay, layout, job.quantum)
    done = system.run(job.warm)
    memory = memory_step(
        system.machine, job.gpu, done.memory_log, system.machine.log_run, np.random.default_rng(grouping)
    )
    return {
        "trial": trial,
        "counters": done.counters,
        "cycles": done.cycles,
        "latency_histogram": done.histogram,
        "latency_sum": done.times["sum"],
        "latency_count": done.times["count"],
        "instruction_latency_sum": done.times["instruction_sum"],
        "instruction_latency_count": done.times["instruction_count"],
        "memory_histogram": memory.histogram,
        "memory_sum": memory.sum,
        "memory_count": memory.count,
        "transactions": done.transactions,
        "wall_seconds": done.wall_seconds,
        "compiled_seconds": done.compiled_seconds,
    }
