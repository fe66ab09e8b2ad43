"""The file of a study: HDF5, schema ``memsim-study``.

::

    /                     attributes: schema, version
    /about                JSON text, StudyResult.about
    /points               JSON text, a list of objects: field -> value
    /cases                JSON text, a list of objects: kernel, gpu
    /jobs/K               as a results file (montecarlo.store), for K = 0, 1, ...
    /runs                 i4 [runs, 3]: point, case, K; points that agree in all that matters share a K
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memsim.montecarlo import store as results
from memsim.montecarlo.trials import Trials
from memsim.support import hdf5
from memsim.support.errors import InputError
from memsim.support.hdf5 import read_text, write_text

if TYPE_CHECKING:
    from memsim.studies.result import StudyTrials

SCHEMA = "memsim-study"
VERSION = (1, 0)

_MOST_RUNS = 1 << 24


@dataclass(frozen=True)
class StudyCase:
    """A kernel on a GPU, which every point of the design is simulated for.

    Attributes:
        kernel: the label of the workload or trace.
        gpu: the preset's name or the path of its file; empty where the design varies ``gpu`` itself.
    """

    kernel: str
    gpu: str = ""

    def __str__(self) -> str:
        return f"{self.kernel} on {self.gpu}" if self.gpu else self.kernel


Stored = tuple[list[dict[str, Any]], list[StudyCase], dict[tuple[int, int], Trials], dict[str, Any]]


def save(path: str | Path, study: StudyTrials) -> None:
    """Write a study to `path`, whole or not at all.

    Raises:
        InputError: it cannot be written (no such folder, no permission, disk full).
    """
    shared: dict[int, int] = {}  # id of the trials -> number of the job
    rows = []
    for (point, case), trials in sorted(study.trials.items()):
        rows.append((point, case, shared.setdefault(id(trials), len(shared))))
    by_id = {id(trials): trials for trials in study.trials.values()}
    texts = {"about": study.about, "points": study.points, "cases": [asdict(case) for case in study.cases]}
    with hdf5.written(path, SCHEMA, VERSION) as file:
        for name, value in texts.items():
            write_text(file, name, value)
        file["runs"] = np.array(rows, "<i4").reshape(-1, 3)
        for key, number in shared.items():
            results.write(file.create_group(f"jobs/{number}"), by_id[key])


def load(path: str | Path) -> Stored:
    """Read a file of `save`: points, cases, trials and about, as the arguments of studies.result.StudyTrials.

    Raises:
        InputError: the file is damaged, of another schema or newer version, or holds impossible values.
    """
    with hdf5.opened(path, SCHEMA, VERSION) as file:
        about, points, cases = (read_text(path, file, name) for name in ("about", "points", "cases"))
        _check(path, about, points, cases)
        runs = hdf5.dataset(path, file, "runs", "<i4", (None, 3))
        hdf5.check_size(path, [runs], 12 * _MOST_RUNS)
        rows = runs[...]
        bounds = np.array([len(points), len(cases), 1 << 30])
        if not ((rows >= 0) & (rows < bounds)).all():
            raise InputError(path, "runs", "names points or cases that do not exist; the file is damaged")
        jobs: dict[int, Trials] = {}
        for number in np.unique(rows[:, 2]).tolist():
            jobs[number] = results.read(path, file, f"jobs/{number}/")
    trials = {(point, case): jobs[number] for point, case, number in rows.tolist()}
    return points, [StudyCase(case["kernel"], case["gpu"]) for case in cases], trials, about


def is_study(path: str | Path) -> bool:
    """Whether a file is a study that can be read; of a damaged one, no."""
    return hdf5.is_readable(path, SCHEMA, VERSION)


def _check(path: str | Path, about: Any, points: Any, cases: Any) -> None:
    if not isinstance(about, dict):
        raise InputError(path, "about", "is not a JSON object; the file is damaged")
    if not isinstance(points, list) or not points or not all(isinstance(point, dict) for point in points):
        raise InputError(path, "points", "is not a list of objects; the file is damaged")
    for number, point in enumerate(points):
        plain = all(isinstance(value, int | float | str) for value in point.values())
        if point.keys() != points[0].keys() or not plain:
            raise InputError(path, f"points[{number}]", "has other fields than the first; the file is damaged")
    if not isinstance(cases, list) or not cases:
        raise InputError(path, "cases", "is not a list; the file is damaged")
    for number, case in enumerate(cases):
        if not isinstance(case, dict) or not all(isinstance(case.get(name), str) for name in ("kernel", "gpu")):
            raise InputError(path, f"cases[{number}]", "has no kernel or gpu; the file is damaged")
