"""Two worker processes over one."""

from __future__ import annotations

import os
from time import perf_counter

from experiments.bench.table import Row
from experiments.bench.workload import Prepared
from memsim.montecarlo.run import run

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers(prepared: Prepared) -> list[Row]:
    """Trials a second of two processes over those of one, start-up left out."""
    load = os.getloadavg()[0]
    one, two = _rate(prepared, 1), _rate(prepared, 2)
    trials = 2 * prepared.size.trials
    how = (
        f"trials {trials}, wall, from the time every worker has finished one; {CORES} cores, load average {load:.1f} "
        "at the start (what others run lowers this figure)"
    )
    return [Row("two workers over one", two / one, "x", 1.8, 1.95, how, 2 * trials)]


def _rate(prepared: Prepared, jobs: int) -> float:
    """Trials a second of a run, once each of its workers has finished one."""
    finished: list[float] = []
    run(
        prepared.trace,
        prepared.gpu,
        trials=2 * prepared.size.trials,
        seed=1,
        jobs=jobs,
        progress=lambda _: finished.append(perf_counter()),
    )
    return (len(finished) - jobs) / (finished[-1] - finished[jobs - 1])
