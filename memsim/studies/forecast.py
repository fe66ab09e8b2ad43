"""How long a study would take, from two trials of its first point."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from memsim.gpu.fields_read import values
from memsim.hierarchy.execution import Execution
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.run import point_of
from memsim.montecarlo.shared_stages import fields_read, prepared
from memsim.montecarlo.worker import Answer, TrialJob, forget, replay
from memsim.studies.kernels import recorded
from memsim.studies.prepare import rule_of
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
        return shared + self.layouts * self.laying_out + replays / cores


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
        job = TrialJob(Execution.of(trace, first.gpu, name), seed, warm)
        point_of(trace, job, trace.path, rule_of(study))
        ready = perf_counter()
        answers = [replay(job, number, trace.path) for number in range(2)]
        once, again = (answer.seconds for answer in answers if isinstance(answer, Answer))
        execution, _ = prepared(job.execution, trace)
        assert execution.layout_folder is not None
        of_transactions, of_layout = fields_read(execution.folder), fields_read(execution.layout_folder)
        forget()
    keys = [(run.trace.key, run.gpu) for run in study.runs]
    coalescings = [(key, values(gpu, of_transactions)) for key, gpu in keys]
    layouts = {(*key, values(gpu, of_layout)) for key, (_, gpu) in zip(coalescings, keys, strict=True)}
    jobs = len(set(keys))
    return Forecast(
        runs=len(study.runs),
        trials=study.most_trials * jobs,
        traces=len({key for key, _ in keys}),
        coalescings=len(set(coalescings)),
        layouts=len(layouts),
        jobs=jobs,
        describing=described - begin,
        coalescing=once["coalescing"],
        laying_out=once["laying out"],
        first=once["replaying"] + ready - described,
        trial=again["replaying"],
    )
