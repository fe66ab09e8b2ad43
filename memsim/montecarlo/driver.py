"""The run engine: gives the trials of points to workers, and stores each trial as soon as it is finished.

A run is one point; a study is many. A trial's random draws depend on its seed and number alone, so neither the number
of workers nor the order in which trials finish changes a result.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memsim.hierarchy.trial import Trial
from memsim.montecarlo.checkpoint import Checkpoint
from memsim.montecarlo.point_trials import PointTrials
from memsim.montecarlo.teams import Workers, is_lost_worker
from memsim.montecarlo.trial_cache import DEMAND
from memsim.montecarlo.worker import Answer, forget
from memsim.support.errors import InputError
from memsim.support.interrupts import deferred, raise_heard

log = logging.getLogger(__name__)
ATTEMPTS = 3  # at a trial whose worker is killed: a fourth time would be no accident


@dataclass(frozen=True)
class TrialEvent:
    """What became of a trial.

    Attributes:
        point: its point.
        number: its number.
        trial: the finished trial; None: its worker was lost, and the trial starts again.
        seconds: of the worker, by phase; None: an earlier run had finished the trial.
        ended: whether the point has enough trials with it.
    """

    point: PointTrials
    number: int
    trial: Trial | None
    seconds: Mapping[str, float] | None = None
    ended: bool = False


class TrialDriver:
    """Gives trials to workers, point after point.

    Args:
        points: whose trials are to be replayed.
        checkpoint: where finished trials are kept.
        report: called with each event of a trial.
    """

    def __init__(
        self, points: Sequence[PointTrials], checkpoint: Checkpoint, report: Callable[[TrialEvent], None]
    ) -> None:
        self._points, self._checkpoint, self._report = points, checkpoint, report
        self._lost: Counter[tuple[int, int]] = Counter()

    def take_up(self) -> bool:
        """Use the trials that exist already: in the checkpoint, or in the cache from another run of the same point.

        Returns:
            False after Ctrl-C.
        """
        with _until_interrupted() as complete:
            for point in self._points:
                for number, trial in sorted(self._checkpoint.trials(point).items()):
                    self._add(point, number, trial, None)
                for number, trial in sorted(point.cached.found.items()):
                    if not point.used and number < point.rule.most and number not in point.finished:
                        self._add(point, number, trial, None)
                raise_heard()
        return bool(complete)

    def run(self, workers: Workers) -> bool:
        """Replay the other trials.

        Returns:
            Whether all are finished: False after Ctrl-C.
        """
        unfinished = {number: point for number, point in enumerate(self._points) if not point.used}
        try:
            with _until_interrupted() as complete:
                while unfinished:
                    raise_heard()
                    for key in self._next(unfinished, workers.room()):
                        point, trial = self._points[key[0]], key[1]
                        point.under_way.add(trial)
                        workers.begin(key, point.job, trial, point.trace)
                    for key, answer, error in workers.answers():
                        self._take(key, answer, error)
                        point = self._points[key[0]]
                        if point.used and DEMAND not in point.under_way:  # its worker is about to answer
                            unfinished.pop(key[0], None)
        finally:
            forget()
        return bool(complete)

    def _next(self, unfinished: Mapping[int, PointTrials], room: int) -> Iterator[tuple[int, int]]:
        """Trials to start: those that are needed, point after point; then, if workers are idle, those that may be.

        What traces ask of the GPU is found between these.
        """
        for ahead in (1, room + sum(len(point.under_way) for point in unfinished.values())):
            for number, point in unfinished.items():
                while room > 0 and (trial := point.next_trial(ahead)) is not None:
                    room -= 1
                    yield number, trial
                if room > 0 and point.lacks_demand:
                    room -= 1
                    yield number, DEMAND

    def _take(self, key: tuple[int, int], answer: Answer | dict[str, Any] | None, error: Exception | None) -> None:
        point, number = self._points[key[0]], key[1]
        point.under_way.discard(number)
        if number == DEMAND and error is not None and is_lost_worker(error):
            point.finds_demand = False  # this process does, when all trials are finished
        elif error is not None:
            self._failed(key, error)
        elif isinstance(answer, dict):
            point.cached.demand(lambda: answer)
        elif answer is not None and not point.used:  # it may have ended meanwhile
            with deferred():  # Ctrl-C
                self._checkpoint.add(point, number, answer.trial)
                point.cached.add(number, answer.trial)
                self._add(point, number, answer.trial, answer.seconds)

    def _add(self, point: PointTrials, number: int, trial: Trial, seconds: Mapping[str, float] | None) -> None:
        before = point.used
        point.add(number, trial)
        self._report(TrialEvent(point, number, trial, seconds, not before and point.used > 0))

    def _failed(self, key: tuple[int, int], error: Exception) -> None:
        """Start a trial again whose worker was killed or had no memory, unless this has happened ATTEMPTS times."""
        if not is_lost_worker(error):
            raise error
        point, trial = self._points[key[0]], f"trial {key[1]}{self._points[key[0]].label}"
        self._lost[key] += 1
        log.warning("the worker of %s was lost: %r", trial, error)
        if self._lost[key] >= ATTEMPTS:
            problem = f"lost the worker of {trial} {ATTEMPTS} times (out of memory?); give fewer jobs"
            raise InputError("run", "executor", problem) from None
        self._report(TrialEvent(point, key[1], None))


@contextmanager
def _until_interrupted() -> Iterator[list[bool]]:
    """Ctrl-C ends the block. The list that it gives has an element only if the block came to its end."""
    complete: list[bool] = []
    try:
        yield complete
        complete.append(True)
    except KeyboardInterrupt:
        log.warning("interrupted")
