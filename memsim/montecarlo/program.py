"""The launches of a program, one after the other in each trial: each finds in L2 what those before it left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.handed_on import hand_on
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.pool import in_processes
from memsim.montecarlo.run import about_run, check_numbers, demand, tables, tell_demand, worthwhile_jobs
from memsim.montecarlo.trials import Trials
from memsim.support.scratch import Scratch
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.transactions import column_path


@dataclass(frozen=True)
class _Launches:
    """What all trials have in common."""

    executions: tuple[Execution, ...]
    seed: int


def run_program(
    traces: Sequence[Trace],
    gpu: GPU,
    *,
    trials: int,
    seed: int = 0,
    jobs: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
    provenance: dict[str, Any] | None = None,
) -> list[Trials]:
    """Replay launches in their order, in every trial all of them, with L2 as the one before left it.

    Between launches L1s are emptied, as GPUs do when a kernel begins, and memory's rows are closed; L2 keeps its lines,
    those that are dirty too. A trace of a part of a launch leaves what that part left.

    Args:
        traces: of one run of a program, whose addresses agree, in the order of their launches.
        gpu: the configuration.
        trials: how many; what one draws depends on `seed`, its number and the launch's place alone.
        jobs: processes; None: all cores, unless there is little to do.
        progress: told the trials done, and all.
        provenance: field of the GPU -> where its value comes from, for the results to keep.

    Returns:
        The trials of each launch; their `about` has the digests of the launches before it as ``launches_before``.

    Raises:
        InputError: a trace that does not fit the GPU, or numbers out of range.
    """
    check_numbers(trials, seed, 1 if jobs is None else jobs)
    with Scratch() as folder:
        executions = tuple(Execution.of(trace, gpu, Path(folder) / str(n)) for n, trace in enumerate(traces))
        _prepare(executions, traces)
        load_loops(executions[0].gpu)
        if jobs is None:
            jobs = worthwhile_jobs([execution.transactions for execution in executions], trials)
        finished: list[dict[int, Trial]] = [{} for _ in traces]
        job = partial(_trial, _Launches(executions, seed))
        with closing(in_processes(job, range(trials), max(1, min(jobs, trials)))) as replays:
            for done, (number, of_launches) in enumerate(replays, 1):
                for kept, trial in zip(finished, of_launches, strict=True):
                    kept[number] = trial
                if progress:
                    progress(done, trials)
        digests = [trace.digest for trace in traces]
        more = [{"gpu_provenance": provenance or {}, "launches_before": digests[:n]} for n in range(len(traces))]
        return [
            _kept(trace, execution, about_run(trace, execution, seed, warm=False) | told, found)
            for trace, execution, told, found in zip(traces, executions, more, finished, strict=True)
        ]


def _prepare(executions: Sequence[Execution], traces: Sequence[Trace]) -> None:
    """Coalesce each launch, and give a line the same number in all of them."""
    for execution, trace in zip(executions, traces, strict=True):
        execution.folder.mkdir()
        coalesce(trace, execution.gpu, execution.folder)
    own = [np.load(column_path(execution.folder, "line_address")) for execution in executions]
    every = np.unique(np.concatenate(own))
    for execution, addresses in zip(executions, own, strict=True):
        path = column_path(execution.folder, "lines")
        lines = np.load(path)
        np.save(path, np.searchsorted(every, addresses).astype(lines.dtype)[lines])
        np.save(column_path(execution.folder, "line_address"), every)
    first, *others = executions
    first.lay_out()
    for execution in others:
        execution.share_layout(first)


def _trial(program: _Launches, trial: int) -> list[Trial]:
    """All launches once."""
    before: System | None = None
    found = []
    for number, execution in enumerate(program.executions):
        replay, grouping = np.random.SeedSequence(program.seed, spawn_key=(trial, number)).spawn(2)
        gpu, where = execution.gpu, execution.layout
        if before is not None:  # pages lie where they lay
            gpu, where = override(gpu, {"stochastic.page_placement": False}), before.where
        system = System(execution.transactions, gpu, execution.resident, replay, where, name=execution.trace)
        if before is not None:
            hand_on(before.machine, system.machine)
        found.append(system.run(grouping=np.random.default_rng(grouping)))
        before = system
    return found


def _kept(trace: Trace, execution: Execution, about: dict[str, Any], found: dict[int, Trial]) -> Trials:
    ops, arrays = tables(trace)
    tell_demand(about, ops, demand(trace, execution))
    return Trials.of(found, about=about, ops=ops, arrays=arrays, sources=trace.sources)
