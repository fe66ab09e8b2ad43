"""How long a study would take, from one trial of its first point."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from memsim.hierarchy.execution import Execution
from memsim.montecarlo.load_loops import load_loops
from memsim.studies.kernels import recorded
from memsim.studies.node import Task, replay
from memsim.studies.study import Study
from memsim.support.scratch import Scratch


@dataclass(frozen=True)
class Forecast:
    """What one trial took, and what follows if all take as long.

    Attributes:
        runs, trials, traces: of the whole study; trials at most.
        describing, trial: seconds for the first trace, and for a trial of the first point.
    """

    runs: int
    trials: int
    traces: int
    describing: float
    trial: float

    @property
    def seconds(self) -> float:
        """Of the whole study, on one core."""
        return self.traces * self.describing + self.trials * self.trial


def forecast(study: Study) -> Forecast:
    """Measure a trial.

    Raises:
        InputError: anything wrong with the first point.
    """
    first = study.runs[0]
    load_loops(first.gpu)
    with Scratch() as name:
        begin = perf_counter()
        trace = recorded(first.trace, Path(name, "trace.h5"))
        describing = perf_counter() - begin
        execution = Execution.of(trace, first.gpu, name)
        answer = replay(Task(trace.digest, execution, study.written.seed, study.written.warm), 0, trace.path)
    traces = len({run.trace.key for run in study.runs})
    trials = study.most_trials * len(study.runs)
    return Forecast(len(study.runs), trials, traces, describing, answer.seconds["replaying"])
