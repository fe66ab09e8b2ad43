"""How long a study would take, from two trials of its first point."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from time import perf_counter

from memsim.hierarchy.execution import Execution
from memsim.montecarlo.load_loops import load_loops
from memsim.studies.jobs import Rule
from memsim.studies.kernels import recorded
from memsim.studies.node import NodeTask, coalescing_key, layout_key, replay
from memsim.studies.prepare import job_of
from memsim.studies.study import StudyDesign
from memsim.support.scratch import Scratch


@dataclass(frozen=True)
class Forecast:
    """What the first point took, and what follows if all points take as long.

    Attributes:
        runs, trials: of the whole study; trials at most.
        traces, coalescings, layouts, jobs: how many of each: points that agree in what matters share them.
        describing, coalescing, laying_out: seconds for one of each.
        first, trial: seconds for the first trial of a job, whose machine is built anew, and for one more.
    """

    runs: int
    trials: int
    traces: int
    coalescings: int
    layouts: int
    jobs: int
    describing: float
    coalescing: float
    laying_out: float
    first: float
    trial: float

    def seconds(self, cores: int) -> float:
        """Of the whole study on so many cores."""
        shared = self.traces * self.describing / min(cores, self.traces) + self.coalescings * self.coalescing
        replays = self.jobs * self.first + max(0, self.trials - self.jobs) * self.trial
        return shared + (self.layouts * self.laying_out + replays) / cores


def forecast(study: StudyDesign) -> Forecast:
    """Make the first trace, and replay two trials of the first point.

    Raises:
        InputError: anything wrong with the first point.
    """
    first, seed, warm = study.runs[0], study.written.seed, study.written.warm
    load_loops(first.gpu)
    with Scratch() as name:
        begin = perf_counter()
        trace = recorded(first.trace, Path(name, "trace.h5"))
        described = perf_counter()
        execution = Execution.of(trace, first.gpu, name)
        job_of(trace, execution, trace.path, Rule.of(study), seed, warm)
        prepared = perf_counter()
        task = NodeTask(trace.digest, execution, seed, warm)
        once, again = (replay(task, number, trace.path).seconds for number in range(2))
    keys = [(run.trace.key, run.gpu) for run in study.runs]
    layouts = [(key, coalescing_key(key, gpu), layout_key(gpu)) for key, gpu in keys]
    jobs = len(set(keys))
    return Forecast(
        runs=len(study.runs),
        trials=study.most_trials * jobs,
        traces=len({key for key, _ in keys}),
        coalescings=len({coalescing_key(key, gpu) for key, gpu in keys}),
        layouts=sum(1 for _ in groupby(layouts)),  # a worker keeps the last one
        jobs=jobs,
        describing=described - begin,
        coalescing=once["coalescing"],
        laying_out=once["laying out"],
        first=once["replaying"] + prepared - described,
        trial=again["replaying"],
    )
