"""What a run has finished, from its first trial on: kept next to the output until the result is whole.

Trials depend on the seed and their number alone, so those of an earlier run of the same trace, GPU and seed are as good
as new ones, whether it ended, was interrupted or was killed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from memsim.hierarchy.trial import Trial
from memsim.montecarlo import store
from memsim.montecarlo.trials import Trials
from memsim.support.errors import InputError
from memsim.support.files import check_writable
from memsim.support.interrupts import deferred
from memsim.support.journal import DamagedJournal, Journal, journal_path


class KeptTrials:
    """Where a run without an output keeps its trials: nowhere.

    Attributes:
        saved: trials of the result file that the run continues, by number.
        before: those and the ones that a killed run left.
    """

    def __init__(self, saved: Mapping[int, Trial] | None = None) -> None:
        self.saved = dict(saved or {})
        self.before = dict(self.saved)

    def add(self, number: int, trial: Trial) -> None:
        """Keep a finished trial; it is on the disk when this returns."""

    def save(self, done: Trials) -> None:
        """Write the result; then what was kept for it goes."""


class _Journaled(KeptTrials):
    """Trials in a journal.

    Attributes:
        rows: how many there are in it.
    """

    def __init__(self, out: str | Path, journal: Journal, identity: Mapping[str, Any], saved: dict[int, Trial]) -> None:
        super().__init__(saved)
        try:
            self.rows = sum(journal.tasks().values())
        except BaseException:
            journal.close()
            raise
        self._out, self._journal, self._task = out, journal, json.dumps(identity, sort_keys=True)

    def go_on(self, n_ops: int) -> None:
        """Take in what a killed run left."""
        for task in self._journal.tasks():
            try:
                found = json.loads(task)
            except ValueError:
                found = None
            if not isinstance(found, dict):
                raise self._journal.damaged()
            _check_same(self._out, found, json.loads(self._task))
        self.before |= {number: _trial(self._out, row, n_ops) for number, row in self._journal.rows(self._task)}

    def add(self, number: int, trial: Trial) -> None:
        self._journal.add(self._task, number, {name: getattr(trial, name) for name in Trial.columns(0)})
        self.rows += 1

    def save(self, done: Trials) -> None:
        store.save(self._out, done)
        self.rows = 0

    @property
    def shown(self) -> str:
        """What is in the journal, and how to use it."""
        return f"{_trials(self.rows)} kept, go on with --resume"

    def close(self) -> None:
        """Let go of the journal, which stays while it holds the only copy of a trial."""
        if self.rows:
            self._journal.close()
        else:
            self._journal.remove()


class _Choice(InputError):
    """The user is to say what becomes of what is there."""


def check_choice(out: str | Path, resume: bool, force: bool, *inputs: str | Path) -> None:
    """Refuse a result file that exists unless the user says what becomes of it, and one that cannot be written.

    Args:
        inputs: what is read for it, which it must not replace.

    Raises:
        InputError: see there.
    """
    check_writable(out, *inputs)
    if resume and force:
        raise InputError(out, "--resume, --force", "exclude each other; give one of them")
    if Path(out).exists() and not (resume or force):
        raise InputError(out, "file", "exists; give --resume to go on from it, or --force to write over it")


@contextmanager
def keeping(
    out: str | Path | None, about: Mapping[str, Any], n_ops: int, resume: bool, force: bool
) -> Iterator[KeptTrials]:
    """Trials that the block adds stay on the disk, whatever ends it, until it has saved the result.

    Args:
        out: the result file; None: nothing is kept.
        about: of the run, as in Trials.about.
        n_ops: static ops of the trace.
        resume: go on with the trials of `out`, and with those that a killed run left; without any, begin.
        force: begin anew.

    Raises:
        InputError: `out` exists, or a killed run left trials, and neither is given; they are of something else; another
            run writes to it. One that passes through the block tells how to go on, if trials are kept.
    """
    if out is None:
        yield KeptTrials()
        return
    check_choice(out, resume, force)
    saved = _saved(out, about) if resume and Path(out).exists() else {}
    kept = None
    try:
        with deferred():
            kept = _Journaled(out, Journal(journal_path(out), out, anew=force), _identity(about), saved)
        if kept.rows and not resume:
            problem = (
                f"has {_trials(kept.rows)} of a run that was killed; give --resume to go on, or --force to start anew"
            )
            raise _Choice(out, "file", problem)
        kept.go_on(n_ops)
        yield kept
    except InputError as error:
        if isinstance(error, _Choice | DamagedJournal) or kept is None or not kept.rows:
            raise
        raise InputError(error.where, error.field, f"{error.problem}; {kept.shown}") from error
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(kept.shown if kept and kept.rows else "nothing was kept") from interrupt
    finally:
        if kept is not None:
            kept.close()


def _identity(about: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for trials to belong together."""
    found = {
        "trace": {"digest": about["trace"]["digest"]},
        "gpu": about["gpu"],
        "seed": about["seed"],
        "warm": about.get("warm", False),
        "versions": {"memsim": about["versions"].get("memsim")},
    }
    return found | {name: about[name] for name in ("launches_before", "sample") if name in about}


def _check_same(out: str | Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    there, now = _leaves(found), _leaves(wanted)
    for name in now | there:
        if there.get(name) != now.get(name):
            values = f"is {there.get(name)!r:.60} there and {now.get(name)!r:.60} now"
            raise _Choice(out, name, f"{values}; give another path, or --force to start anew")


def _leaves(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested value flat, its names joined by dots."""
    found: dict[str, Any] = {}
    for name, part in value.items():
        found |= _leaves(part, f"{prefix}{name}.") if isinstance(part, Mapping) else {prefix + name: part}
    return found


def _saved(out: str | Path, about: Mapping[str, Any]) -> dict[int, Trial]:
    """The trials of a result file."""
    result = store.load(out)
    _check_same(out, _identity(result.about), _identity(about))
    return result.separate()


def _trial(out: str | Path, arrays: Mapping[str, np.ndarray], n_ops: int) -> Trial:
    if {name: (values.dtype.str, values.shape) for name, values in arrays.items()} != Trial.columns(n_ops):
        raise _Choice(out, "journal", "holds trials of another shape; give --force to start anew")
    return Trial(**arrays)


def _trials(count: int) -> str:
    return f"{count} trial{'s' * (count != 1)}"
