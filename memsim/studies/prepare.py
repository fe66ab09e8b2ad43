"""Before a study's first trial: its traces, and what each point is on its GPU."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.montecarlo.pool import in_processes
from memsim.montecarlo.run import about_run, tables
from memsim.sources.describe import Workload
from memsim.studies.executors import Team
from memsim.studies.jobs import Rule, StudyJob
from memsim.studies.kernels import TraceWanted, recorded
from memsim.studies.node import NodeTask
from memsim.studies.study import StudyDesign, StudyRun
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

log = logging.getLogger(__name__)


def traces_of(
    study: StudyDesign, folder: Path, jobs: int, tell: Callable[[int, int], None] | None = None
) -> dict[str, Trace]:
    """Every trace that the study needs, by its key; made in parallel where there are several.

    Args:
        folder: for the files.
        tell: called with the traces done, and all.

    Raises:
        InputError: a kernel that fails.
    """
    needed = list({run.trace.key: run.trace for run in study.runs}.values())
    make = partial(_recorded, folder)
    paths: dict[str, Path] = {}
    if tell:
        tell(0, len(needed))
    named = all(not isinstance(one.kernel.workload, Workload) for one in needed)
    workers = min(jobs, len(needed)) if named else 1  # a function at hand may be none that another process finds
    if workers == 1:
        for one in needed:
            paths[one.key] = make(one)
            if tell:
                tell(len(paths), len(needed))
    else:
        with closing(in_processes(make, needed, workers)) as found:
            for number, path in found:
                paths[needed[number].key] = path
                if tell:
                    tell(len(paths), len(needed))
    return {key: Trace.open(path) for key, path in paths.items()}


def _recorded(folder: Path, one: TraceWanted) -> Path:
    begin = perf_counter()
    trace = recorded(one, folder / f"{one.key}.h5")
    shown = ", ".join(f"{name}={value}" for name, value in one.parameters.items())
    log.info(
        "described %s (%s): %s rows in %.1f s", one.label, shown, f"{trace.n_instructions:,}", perf_counter() - begin
    )
    return trace.path


def jobs_of(study: StudyDesign, traces: dict[str, Trace], team: Team) -> list[StudyJob]:
    """The jobs of a study, in the order of its points; points that agree in all that matters share one.

    Raises:
        InputError: a kernel whose block fits no SM at some point.
    """
    rule = Rule.of(study)
    shared: dict[str, Any] = {}
    jobs: dict[tuple[str, GPU], StudyJob] = {}
    for run in study.runs:
        trace = traces[run.trace.key]
        execution = _on_gpu(study, run, trace, team.folder)
        gpu = execution.gpu
        if (same := jobs.get((trace.digest, gpu))) is not None:
            same.runs.append(run)
            continue
        if trace.digest not in shared:
            shared[trace.digest] = team.share(trace)
        seed, warm = study.written.seed, study.written.warm
        jobs[trace.digest, gpu] = job_of(trace, execution, shared[trace.digest], rule, seed, warm, [run])
    return list(jobs.values())


def job_of(
    trace: Trace,
    execution: Execution,
    shared: Any,
    rule: Rule,
    seed: int,
    warm: bool = False,
    runs: Sequence[StudyRun] = (),
) -> StudyJob:
    """The trials of a trace on a GPU, as a team's workers are given them.

    Args:
        execution: of the trace on the GPU, in the team's folder.
        shared: what the team's `share` made of the trace.
        runs: of the study that ask for it.
    """
    ops, arrays = tables(trace)
    about = about_run(trace, execution, seed, warm) | {"gpu_provenance": {}}
    texts = {"about": about, "ops": ops, "arrays": arrays}
    return StudyJob(list(runs), NodeTask(trace.digest, execution, seed, warm), shared, texts, rule)


def _on_gpu(study: StudyDesign, run: StudyRun, trace: Trace, folder: Path) -> Execution:
    try:
        return Execution.of(trace, run.gpu, folder)
    except InputError as error:
        raise study.at_point(run.point, error) from None
