"""One trace on several GPUs: what GPUs that coalesce alike share is made once, and all draw the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.montecarlo.checkpoint import Checkpoint
from memsim.montecarlo.driver import TrialDriver
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.point_trials import StoppingRule
from memsim.montecarlo.run import point_of
from memsim.montecarlo.teams import team
from memsim.montecarlo.trials import Trials
from memsim.montecarlo.worker import TrialJob, replay
from memsim.support.interrupts import listening
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace


def simulate_each(
    trace: Trace,
    gpus: Iterable[GPU],
    *,
    trials: int,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[GPU, Trials]:
    """Trials of a trace on every GPU; the same trial number draws the same on all of them.

    Args:
        gpus: one that is named twice is replayed once.
        trials, seed: of each.
        jobs: processes.
        progress: called with the trials done, and all.

    Raises:
        InputError: a kernel whose block fits no SM; a worker that is killed again and again.
        KeyboardInterrupt: Ctrl-C; what was finished is of no use without the rest.
    """
    different = list(dict.fromkeys(gpus))
    done, total = count(1), trials * len(different)
    tell = (lambda event: progress(next(done), total)) if progress else (lambda event: None)
    load_loops(different[0])
    with listening(), Scratch() as name, team("local", jobs, replay, Path(name)) as workers:
        shared, rule = workers.share(trace), StoppingRule.exactly(trials)
        jobs_of = [TrialJob(Execution.of(trace, gpu, workers.folder), seed) for gpu in different]
        points = [point_of(trace, job, shared, rule) for job in jobs_of]
        driver = TrialDriver(points, Checkpoint(), tell)
        if not (driver.take_up() and driver.run(workers.workers)):
            raise KeyboardInterrupt
    return {gpu: found for gpu, point in zip(different, points, strict=True) if (found := point.answer) is not None}
