"""Runs a study: its traces once, its trials wherever the executor has room, each kept as soon as it is finished."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.trial_cache import CachedTrials, cache_key
from memsim.studies import executors, store
from memsim.studies.failures import is_lost_worker
from memsim.studies.jobs import StudyJob
from memsim.studies.keep import KeptPoints, keeping
from memsim.studies.node import Answer, replay
from memsim.studies.prepare import jobs_of, traces_of
from memsim.studies.result import StudyTrials
from memsim.studies.study import StudyDesign
from memsim.support.errors import InputError
from memsim.support.files import check_writable
from memsim.support.interrupts import deferred
from memsim.support.progress import Advance, phase
from memsim.support.scratch import Scratch

log = logging.getLogger(__name__)
ATTEMPTS = 3  # at a trial whose worker is killed: a fourth time would be no accident


@dataclass
class State:
    """How far a study is.

    Attributes:
        phase: "describing" or "replaying".
        traces, points, trials: done; a point is done when all its cases are.
        all_traces, all_points, all_trials: to be done; trials at most.
        saved: trials that points which stopped early did not need.
        kept: trials that an earlier run had finished.
        lost: trials whose worker was killed or had no memory, which were begun again.
        seconds: by phase, added over workers.
    """

    phase: str = "describing"
    traces: int = 0
    all_traces: int = 0
    points: int = 0
    all_points: int = 0
    trials: int = 0
    all_trials: int = 0
    saved: int = 0
    kept: int = 0
    lost: int = 0
    seconds: dict[str, float] = field(default_factory=dict)


Tell = Callable[[State], None]


def run(
    study: StudyDesign,
    out: str | Path | None = None,
    *,
    jobs: int = 1,
    executor: str = "local",
    resume: bool = False,
    force: bool = False,
    progress: Tell | None = None,
) -> StudyTrials:
    """Run all trials of all points.

    What a trial draws depends on the study's seed and the trial's number alone: neither the executor nor what finishes
    first changes a number, and the same trial draws the same at every point. Ctrl-C ends it with what is finished.

    Args:
        out: the study file; while it is not whole, a journal next to it keeps every finished trial.
        jobs: processes of this machine.
        executor: ``local``, ``dask``, ``dask:ADDRESS`` or ``mpi``.
        resume: go on with the trials that an earlier run left in the journal.
        force: begin anew where `out` or finished trials are.
        progress: called with how far it is, whenever something is finished.

    Raises:
        InputError: anything wrong with the study, `out` or the executor; a worker that is killed again and again.
    """
    if jobs < 1:
        raise InputError("run", "jobs", f"is {jobs}; give 1 or more")
    if out is not None:
        check_writable(out, *_inputs(study))
    study.check()
    begin = perf_counter()
    state = State(all_points=len(study.points))
    tell = progress or (lambda state: None)
    with Scratch() as name, keeping(out, resume, force) as kept:
        scratch = Path(name)
        with phase("making traces", "traces") as made:
            traces = traces_of(study, scratch, jobs, _describing(state, tell, made))
        state.seconds["describing"] = perf_counter() - begin
        load_loops(study.runs[0].gpu)
        with executors.team(executor, jobs, scratch) as team:
            todo = jobs_of(study, traces, team)
            state.phase = "replaying"
            take_up(todo, kept, state)
            complete = StudyDriver(todo, team, kept, state, tell).run()
        found = _result(study, todo, state, perf_counter() - begin, complete)
        if out is not None and complete:
            store.save(out, found)
            kept.whole = True
    return found


def _inputs(study: StudyDesign) -> list[str | Path]:
    sources = [study.where] if isinstance(study.where, str | Path) else []
    traces = [kernel.trace for kernel in study.written.kernels.values() if kernel.trace]
    return [*sources, *traces]


def _describing(state: State, tell: Tell, made: Advance) -> Callable[[int, int], None]:
    def tell_state(done: int, total: int) -> None:
        made(done, total)
        state.traces, state.all_traces = done, total
        tell(state)

    return tell_state


def take_up(todo: list[StudyJob], kept: KeptPoints, state: State) -> None:
    """What is finished already: kept for this study, or left by another run of the same trace on the same GPU."""
    state.all_trials = sum(job.rule.most for job in todo)
    for job in todo:
        about = job.texts["about"]
        job.cached = CachedTrials(cache_key(about), len(job.texts["ops"]))
        left = {number: trial for number, trial in job.cached.found.items() if number < job.rule.most}
        before = left | kept.trials(job)
        job.add(before)
        state.kept += len(before)
    state.trials = state.kept
    _count(todo, state)


def _count(todo: list[StudyJob], state: State) -> None:
    open_points = {run.point for job in todo if not job.used for run in job.runs}
    state.points = state.all_points - len(open_points)
    state.saved = sum(job.rule.most - job.used for job in todo if job.used)


class StudyDriver:
    """Gives trials to the team, point after point, and takes in what it answers."""

    def __init__(self, todo: list[StudyJob], team: executors.Team, kept: KeptPoints, state: State, tell: Tell) -> None:
        self._open = [job for job in todo if not job.used]
        self._todo, self._team, self._kept, self._state, self._tell = todo, team, kept, state, tell
        self._under_way: dict[Future, tuple[StudyJob, int]] = {}
        self._lost: Counter[tuple[str, int]] = Counter()

    def run(self) -> bool:
        """Returns whether everything was finished; not, after Ctrl-C."""
        self._tell(self._state)
        try:
            while self._open:
                self._fill()
                done, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    self._take(future, *self._under_way.pop(future))
        except KeyboardInterrupt:
            log.warning("interrupted: %d trials are finished", self._state.trials)
            return False
        return True

    def _fill(self) -> None:
        room = self._team.room()
        for job, number in self._next(room):
            job.under_way.add(number)
            self._under_way[self._team.executor.submit(replay, job.task, number, job.trace)] = job, number
            if len(self._under_way) >= room:
                return

    def _next(self, room: int) -> Iterator[tuple[StudyJob, int]]:
        """Trials to begin: those that are needed, point after point; then, should room be left, those that may be."""
        if len(self._under_way) >= room:
            return
        for ahead in (1, room):
            for job in list(self._open):
                while (number := job.next_trial(ahead)) is not None:
                    yield job, number

    def _take(self, future: Future, job: StudyJob, number: int) -> None:
        job.under_way.discard(number)
        if future.cancelled():
            return
        error = future.exception()
        if error is not None:
            self._failed(error, job, number)
            return
        answer: Answer = future.result()
        if job.used:
            return  # it stopped meanwhile
        with deferred():  # Ctrl-C
            self._kept.add(job, number, answer.trial)
            if job.cached is not None:
                job.cached.add(number, answer.trial)
            job.add({number: answer.trial})
        self._state.trials += 1
        for name, spent in answer.seconds.items():
            self._state.seconds[name] = self._state.seconds.get(name, 0.0) + spent
        if job.used:
            self._ended(job)
        self._tell(self._state)

    def _ended(self, job: StudyJob) -> None:
        self._open.remove(job)
        for future, (other, _) in self._under_way.items():
            if other is job:
                future.cancel()
        _count(self._todo, self._state)
        for run in job.runs:
            log.info("point %d, case %d: %d trials", run.point, run.case, job.used)

    def _failed(self, error: BaseException, job: StudyJob, number: int) -> None:
        """A worker that was killed, or had no memory, is no verdict on the trial, unless again and again."""
        if not is_lost_worker(error):
            raise error
        self._lost[job.key, number] += 1
        self._state.lost += 1
        log.warning("point %d: the worker of trial %d was lost: %r", _point_of(job), number, error)
        if self._lost[job.key, number] >= ATTEMPTS:
            problem = f"lost the worker of trial {number} of point {_point_of(job)} {ATTEMPTS} times"
            raise InputError("run", "executor", f"{problem} (out of memory?); give fewer jobs, then --resume") from None


def _point_of(job: StudyJob) -> int:
    """The first that asks for it; 0 of a job that no study made."""
    return job.runs[0].point if job.runs else 0


def _result(study: StudyDesign, todo: list[StudyJob], state: State, seconds: float, complete: bool) -> StudyTrials:
    trials = {(run.point, run.case): found for job in todo if (found := job.trials) for run in job.runs}
    about: dict[str, Any] = {
        "study": study.written.model_dump(mode="json"),
        "complete": complete,
        "trials": sum(job.used for job in todo),
        "saved": state.saved,
        "jobs": len(todo),
        "left_out": study.left_out,
        "seconds": {"all": seconds} | dict(state.seconds),
    }
    for name, spent in about["seconds"].items():
        log.info("%s: %.1f s", name, spent)
    return StudyTrials(study.points, study.cases, trials, about)
