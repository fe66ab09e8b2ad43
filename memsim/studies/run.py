"""Runs a study: makes its traces once, replays its trials on the executor, and stores each trial when it finishes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from memsim.montecarlo.checkpoint import open_checkpoint
from memsim.montecarlo.driver import TrialDriver, TrialEvent
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.point_trials import PointTrials
from memsim.montecarlo.teams import team
from memsim.montecarlo.trials import Trials
from memsim.montecarlo.worker import replay
from memsim.studies import store
from memsim.studies.prepare import points_of, traces_of
from memsim.studies.result import StudyTrials
from memsim.studies.study import StudyDesign, StudyRun
from memsim.support.errors import InputError
from memsim.support.files import check_writable
from memsim.support.interrupts import listening
from memsim.support.progress import phase
from memsim.support.scratch import Scratch

log = logging.getLogger(__name__)


@dataclass
class State:
    """How far a study is.

    Attributes:
        phase: "describing" or "replaying".
        traces, points, trials: finished; a point is finished when all its cases are.
        all_traces, all_points, all_trials: of the whole study; of trials, the most that there can be.
        saved: trials that points which stopped early did not need.
        restored: trials that an earlier run had finished.
        lost: trials whose worker was killed or had no memory, which started again.
        seconds: by phase, summed over workers.
    """

    phase: str = "describing"
    traces: int = 0
    all_traces: int = 0
    points: int = 0
    all_points: int = 0
    trials: int = 0
    all_trials: int = 0
    saved: int = 0
    restored: int = 0
    lost: int = 0
    seconds: dict[str, float] = field(default_factory=dict)


Report = Callable[[State], None]


class _Counting:
    """Counts what becomes of a study's trials."""

    def __init__(self, todo: Sequence[tuple[PointTrials, list[StudyRun]]], state: State, report: Report) -> None:
        self._state, self._report = state, report
        self._runs = {id(point): runs for point, runs in todo}
        self._open = Counter(run.point for _, runs in todo for run in runs)

    def __call__(self, event: TrialEvent) -> None:
        state = self._state
        if event.trial is None:
            state.lost += 1
        else:
            state.trials += 1
            state.restored += event.seconds is None
            for name, spent in (event.seconds or {}).items():
                state.seconds[name] = state.seconds.get(name, 0.0) + spent
            if event.ended:
                state.saved += event.point.rule.most - event.point.used
                for run in self._runs[id(event.point)]:
                    self._open[run.point] -= 1
                    state.points += not self._open[run.point]
                    log.info("point %d, case %d: %d trials", run.point, run.case, event.point.used)
        self._report(state)


def _result(
    study: StudyDesign, todo: list[tuple[PointTrials, list[StudyRun]]], state: State, seconds: float, complete: bool
) -> StudyTrials:
    trials = {(run.point, run.case): found for point, runs in todo if (found := point.answer) for run in runs}
    about: dict[str, Any] = {
        "study": study.written.model_dump(mode="json"),
        "complete": complete,
        "trials": sum(point.used for point, _ in todo),
        "saved": state.saved,
        "jobs": len(todo),
        "left_out": study.left_out,
        "seconds": {"all": seconds} | dict(state.seconds),
    }
    for name, spent in about["seconds"].items():
        log.info("%s: %.1f s", name, spent)
    return StudyTrials(study.points, study.cases, trials, about)


class DesignStudy(StudyDesign):
    """Simulations at every point of a design; arguments, attributes and errors are those of :class:`StudyDesign`.

    ::

        study = memsim.Study(kernels="spmv", gpus=["tesla-c2050"], vary={"l1.ways": [4, 8]}, trials=8)
        found = study.run(jobs=2)
        found.means("l1_read")
    """

    def run(
        self,
        out: str | Path | None = None,
        *,
        jobs: int = 1,
        executor: str = "local",
        resume: bool = False,
        force: bool = False,
        progress: Report | None = None,
    ) -> StudyTrials:
        """Run all trials of all points.

        A trial's random draws depend on the study's seed and the trial's number alone. So neither the executor nor the
        order in which trials finish changes a result, and trials of the same number draw the same at every point.
        After Ctrl-C the result has the finished trials.

        Args:
            out: the study file. Until it is complete, a journal next to it keeps every finished trial.
            jobs: processes of this machine.
            executor: ``local``, ``dask``, ``dask:ADDRESS`` or ``mpi``.
            resume: continue with the trials that an earlier run left in the journal.
            force: start again if `out` or finished trials exist.
            progress: called with the state of the study, whenever a trace or trial finishes.

        Raises:
            InputError: anything wrong with the study, `out` or the executor; a worker that is killed again and again.
        """
        if jobs < 1:
            raise InputError("run", "jobs", f"is {jobs}; give 1 or more")
        if out is not None:
            read = [self.where] if isinstance(self.where, str | Path) else []
            check_writable(out, *read, *(one.trace for one in self.written.kernels.values() if one.trace))
        self.check()
        begin = perf_counter()
        state = State(all_points=len(self.points))
        report = progress or (lambda state: None)

        def load(path: str | Path) -> list[Trials]:
            return list(StudyTrials.load(path).trials.values())

        with listening(), Scratch() as name, open_checkpoint(out, load, resume, force) as checkpoint:
            scratch = Path(name)
            with phase("making traces", "traces") as made:

                def describing(done: int, total: int) -> None:
                    made(done, total)
                    state.traces, state.all_traces = done, total
                    report(state)

                traces = traces_of(self, scratch, jobs, describing)
            state.seconds["describing"] = perf_counter() - begin
            load_loops(self.runs[0].gpu)
            with team(executor, jobs, replay, scratch) as workers:
                todo = points_of(self, traces, workers)
                state.phase, state.all_trials = "replaying", sum(point.rule.most for point, _ in todo)
                driver = TrialDriver([point for point, _ in todo], checkpoint, _Counting(todo, state, report))
                report(state)
                complete = driver.take_up() and driver.run(workers.workers)
            found = _result(self, todo, state, perf_counter() - begin, complete)
            if out is not None and complete:
                store.save(out, found)
                checkpoint.complete = True
        return found
