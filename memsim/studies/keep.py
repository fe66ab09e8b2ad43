"""The finished trials of a study that is not whole yet: a journal next to its file, a task of it a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from memsim.hierarchy.trial import Trial
from memsim.montecarlo.keep import check_choice
from memsim.montecarlo.trial_cache import key_of
from memsim.studies import store
from memsim.studies.jobs import StudyJob
from memsim.support.errors import InputError
from memsim.support.journal import Journal, journal_path


@dataclass
class KeptPoints:
    """Trials on the disk.

    Attributes:
        journal: None where the study has no file.
        out: the study file.
        saved: by job, the trials of the study file that the run continues.
        whole: whether the study file is written, so that what was kept for it may go.
    """

    journal: Journal | None = None
    out: str | Path = ""
    saved: Mapping[str, Mapping[int, Trial]] = field(default_factory=dict)
    whole: bool = False

    def trials(self, job: StudyJob) -> dict[int, Trial]:
        """Those of a job, by number.

        Raises:
            InputError: the journal is damaged.
        """
        rows = self.journal.rows(job.key) if self.journal is not None else ()
        found = {number: self._trial(arrays, len(job.texts["ops"])) for number, arrays in rows}
        return {**self.saved.get(job.key, {}), **found}

    def add(self, job: StudyJob, number: int, trial: Trial) -> None:
        """Keep one; it is on the disk when this returns."""
        if self.journal is not None:
            self.journal.add(job.key, number, {name: getattr(trial, name) for name in Trial.columns(0)})

    def _trial(self, arrays: Mapping[str, np.ndarray], n_ops: int) -> Trial:
        if {name: (values.dtype.str, values.shape) for name, values in arrays.items()} != Trial.columns(n_ops):
            raise InputError(self.out, "journal", "holds trials of another shape; remove it and start anew")
        return Trial(**arrays)


@contextmanager
def keeping(out: str | Path | None, resume: bool, force: bool = False) -> Iterator[KeptPoints]:
    """Trials that the block finishes stay on the disk, whatever ends it.

    Raises:
        InputError: `out` exists or cannot be written, or an earlier run left trials, and neither `resume` nor `force`
            says what is to become of them; another run writes to it.
    """
    if out is None:
        yield KeptPoints()
        return
    check_choice(out, resume, force)
    saved = _saved(out) if resume and Path(out).exists() else {}
    journal = Journal(journal_path(out), out, anew=force)
    kept = KeptPoints(journal, out, saved)
    try:
        left = sum(journal.tasks().values())
    except BaseException:  # it is damaged
        journal.close()
        raise
    try:
        if not resume and left:
            problem = f"has {left} trials of a study that was ended; give --resume to go on, or --force to start anew"
            raise InputError(out, "file", problem)
        yield kept
    finally:
        if kept.whole or not journal.tasks():
            journal.remove()
        else:
            journal.close()


def _saved(out: str | Path) -> dict[str, dict[int, Trial]]:
    """The trials of a study file, by job."""
    return {key_of(trials.about): trials.separate() for trials in store.load(out).trials.values()}
