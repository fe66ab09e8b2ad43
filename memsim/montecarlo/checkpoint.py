"""The checkpoint of a run or a study: finished trials, kept next to the output until it is complete.

A trial depends on its point and its number alone. So the finished trials of an earlier run of the same trace, GPU and
seed can be used again, whether that run ended, was interrupted or was killed. Runs and studies use the same journal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from memsim.hierarchy.trial import Trial
from memsim.montecarlo.point_trials import PointTrials
from memsim.montecarlo.trial_cache import identity
from memsim.montecarlo.trials import Trials, arrays_of, trial_of
from memsim.support.errors import InputError
from memsim.support.files import check_writable
from memsim.support.interrupts import deferred
from memsim.support.journal import DamagedJournal, Journal, journal_path


class Checkpoint:
    """Trials on the disk; without an output, nothing is kept.

    Attributes:
        complete: whether the output is written, so that the journal may be removed.
    """

    def __init__(self, out: str | Path = "", journal: Journal | None = None, saved: Iterable[Trials] = ()) -> None:
        self._out, self._journal, self.complete = out, journal, False
        self._saved = {_text(trials.about): trials.separate() for trials in saved}
        self._rows = sum(journal.tasks().values()) if journal is not None else 0

    @property
    def rows(self) -> int:
        """How many trials are in the journal alone."""
        return 0 if self.complete else self._rows

    def saved(self, point: PointTrials) -> Mapping[int, Trial]:
        """The trials of a point that the output has, by number."""
        return self._saved.get(_text(point.texts["about"]), {})

    def trials(self, point: PointTrials) -> dict[int, Trial]:
        """Those, and the ones in the journal.

        Raises:
            InputError: the journal is damaged.
        """
        rows = self._journal.rows(_text(point.texts["about"])) if self._journal is not None else ()
        return {**self.saved(point), **{number: self._trial(arrays, point) for number, arrays in rows}}

    def check_only(self, point: PointTrials) -> None:
        """Refuse an output, or a journal, with trials of anything else.

        Raises:
            InputError: see there; it names the first field that differs.
        """
        for text in [*self._saved, *(self._journal.tasks() if self._journal is not None else ())]:
            try:
                found = json.loads(text)
            except ValueError:
                found = None
            if not isinstance(found, dict):
                assert self._journal is not None
                raise self._journal.damaged()
            _check_same(self._out, found, identity(point.texts["about"]))

    def add(self, point: PointTrials, number: int, trial: Trial) -> None:
        """Keep a finished trial; it is on the disk when this returns."""
        if self._journal is not None:
            self._journal.add(_text(point.texts["about"]), number, arrays_of(trial))
            self._rows += 1

    @property
    def shown(self) -> str:
        """What is in the journal, and how to use it."""
        return f"{_trials(self.rows)} kept, continue with --resume"

    def close(self) -> None:
        """Close the journal, and remove it unless it holds the only copy of a trial."""
        if self._journal is not None:
            self._journal.close() if self.rows else self._journal.remove()

    def _trial(self, arrays: Mapping[str, np.ndarray], point: PointTrials) -> Trial:
        trial = trial_of(arrays, len(point.texts["ops"]))
        if trial is None:
            raise _UndecidedOutput(self._out, "journal", "holds trials of another shape; give --force to start again")
        return trial


class _UndecidedOutput(InputError):
    """The error that asks the user what to do with existing results."""


def check_resume_or_force(out: str | Path, resume: bool, force: bool, *inputs: str | Path) -> None:
    """Refuse a result file that cannot be written, or that exists and may be neither continued nor replaced.

    Args:
        inputs: files that the run reads, which it must not replace.

    Raises:
        InputError: see there.
    """
    check_writable(out, *inputs)
    if resume and force:
        raise InputError(out, "--resume, --force", "exclude each other; give one of them")
    if Path(out).exists() and not (resume or force):
        raise InputError(out, "file", "exists; give --resume to continue it, or --force to overwrite it")


@contextmanager
def open_checkpoint(
    out: str | Path | None, load: Callable[[str | Path], Iterable[Trials]], resume: bool, force: bool
) -> Iterator[Checkpoint]:
    """Keep the trials that the block adds on the disk until it has written the output, however the block ends.

    Args:
        out: the output; None: nothing is kept.
        load: reads the trials of an output.
        resume: continue with the trials of `out` and those that a killed run left. Without any, start.
        force: start again, without these trials.

    Raises:
        InputError: `out` exists, or a killed run left trials, and neither is given; another run writes to it. One that
            passes through the block states how to continue, if trials are kept.
    """
    if out is None:
        yield Checkpoint()
        return
    check_resume_or_force(out, resume, force)
    saved = load(out) if resume and Path(out).exists() else ()
    checkpoint = None
    try:
        with deferred():
            journal = Journal(journal_path(out), out, anew=force)
            try:
                checkpoint = Checkpoint(out, journal, saved)
            except BaseException:  # it is damaged
                journal.close()
                raise
        if checkpoint.rows and not resume:
            ended = f"has {_trials(checkpoint.rows)} of a run that was ended"
            problem = f"{ended}; give --resume to continue it, or --force to start again"
            raise _UndecidedOutput(out, "file", problem)
        yield checkpoint
    except InputError as error:
        if isinstance(error, _UndecidedOutput | DamagedJournal) or checkpoint is None or not checkpoint.rows:
            raise
        raise InputError(error.where, error.field, f"{error.problem}; {checkpoint.shown}") from error
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(
            checkpoint.shown if checkpoint and checkpoint.rows else "nothing was kept"
        ) from interrupt
    finally:
        if checkpoint is not None:
            checkpoint.close()


def _text(about: Mapping[str, Any]) -> str:
    """A name for everything that trials depend on, apart from their numbers."""
    return json.dumps(identity(about), sort_keys=True)


def _check_same(out: str | Path, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    there, now = _leaves(found), _leaves(expected)
    for name in now | there:
        if there.get(name) != now.get(name):
            values = f"is {there.get(name)!r:.60} there and {now.get(name)!r:.60} now"
            raise _UndecidedOutput(out, name, f"{values}; give another path, or --force to start again")


def _leaves(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten a nested value; its names are joined by dots."""
    found: dict[str, Any] = {}
    for name, part in value.items():
        found |= _leaves(part, f"{prefix}{name}.") if isinstance(part, Mapping) else {prefix + name: part}
    return found


def _trials(count: int) -> str:
    return f"{count} trial{'s' * (count != 1)}"
