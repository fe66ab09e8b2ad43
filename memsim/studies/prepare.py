"""Before a study's first trial: its traces, and what each point is on its GPU."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from memsim.analysis.stopping import narrower_than
from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.montecarlo.point_trials import PointTrials, StoppingRule
from memsim.montecarlo.pool import in_processes
from memsim.montecarlo.run import point_of
from memsim.montecarlo.teams import Team
from memsim.montecarlo.worker import TrialJob
from memsim.sources.describe import Workload
from memsim.studies.kernels import StudyTrace, recorded
from memsim.studies.study import StudyDesign, StudyRun
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

log = logging.getLogger(__name__)


def traces_of(
    study: StudyDesign, folder: Path, jobs: int, progress: Callable[[int, int], None] | None = None
) -> dict[str, Trace]:
    """Every trace that the study needs, by its key; made in parallel where there are several.

    Args:
        folder: for the files.
        progress: called with the traces done, and all.

    Raises:
        InputError: a kernel that fails.
    """
    needed = list({run.trace.key: run.trace for run in study.runs}.values())
    make = partial(_recorded, folder)
    paths: dict[str, Path] = {}
    if progress:
        progress(0, len(needed))
    named = all(not isinstance(one.kernel.workload, Workload) for one in needed)
    workers = min(jobs, len(needed)) if named else 1  # a function at hand may be none that another process finds
    with closing(in_processes(make, needed, workers)) as found:
        for number, path in found:
            paths[needed[number].key] = path
            if progress:
                progress(len(paths), len(needed))
    return {key: Trace.open(path) for key, path in paths.items()}


def _recorded(folder: Path, one: StudyTrace) -> Path:
    begin = perf_counter()
    trace = recorded(one, folder / f"{one.key}.h5")
    shown = ", ".join(f"{name}={value}" for name, value in one.parameters.items())
    log.info(
        "described %s (%s): %s rows in %.1f s", one.label, shown, f"{trace.n_instructions:,}", perf_counter() - begin
    )
    return trace.path


def points_of(study: StudyDesign, traces: dict[str, Trace], team: Team) -> list[tuple[PointTrials, list[StudyRun]]]:
    """What a study replays, in the order of its points, and the runs that ask for it: points that agree share it.

    Raises:
        InputError: a kernel whose block fits no SM at some point.
    """
    rule = rule_of(study)
    shared: dict[str, Any] = {}
    found: dict[tuple[str, GPU], tuple[PointTrials, list[StudyRun]]] = {}
    for run in study.runs:
        trace = traces[run.trace.key]
        try:
            execution = Execution.of(trace, run.gpu, team.folder)
        except InputError as error:
            raise study.at_point(run.point, error) from None
        key = trace.digest, execution.gpu
        if key not in found:
            if trace.digest not in shared:
                shared[trace.digest] = team.share(trace)
            job = TrialJob(execution, study.written.seed, study.written.warm)
            found[key] = point_of(trace, job, shared[trace.digest], rule, f" of point {run.point}"), []
        found[key][1].append(run)
    return list(found.values())


def rule_of(study: StudyDesign) -> StoppingRule:
    """How many trials each point gets."""
    file = study.written
    if file.until is None:
        return StoppingRule(file.trials, file.trials)
    return StoppingRule(file.min_trials, file.max_trials, partial(narrower_than, file.until, time=file.until_time))
