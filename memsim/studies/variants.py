"""One trace on several GPUs: what GPUs that coalesce alike share is made once, and all draw the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.trials import Trials
from memsim.studies import executors
from memsim.studies.jobs import Rule
from memsim.studies.keep import KeptPoints
from memsim.studies.prepare import job_of
from memsim.studies.run import State, StudyDriver, take_up
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace


def on_each(
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
    state = State(phase="replaying", all_trials=trials * len(different))
    load_loops(different[0])
    with Scratch() as name, executors.team("local", jobs, Path(name)) as team:
        shared, rule = team.share(trace), Rule(trials, trials, None)
        todo = {gpu: job_of(trace, Execution.of(trace, gpu, team.folder), shared, rule, seed) for gpu in different}
        take_up(list(todo.values()), KeptPoints(), state)
        tell_state = (lambda state: progress(state.trials, state.all_trials)) if progress else (lambda state: None)
        if not StudyDriver(list(todo.values()), team, KeptPoints(), state, tell_state).run():
            raise KeyboardInterrupt
    return {gpu: found for gpu, job in todo.items() if (found := job.trials) is not None}
