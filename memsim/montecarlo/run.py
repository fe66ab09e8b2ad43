"""Many trials: prepare the trace once, replay it in parallel processes, stop when enough is known."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.not_compiled import check_compiled
from memsim.montecarlo import store
from memsim.montecarlo.checkpoint import Checkpoint, open_checkpoint
from memsim.montecarlo.choices import Engine
from memsim.montecarlo.chosen_blocks import add_sample, choose_blocks
from memsim.montecarlo.demand import add_demand, demand
from memsim.montecarlo.driver import TrialDriver, TrialEvent
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.point_trials import PointTrials, StoppingRule
from memsim.montecarlo.shared_stages import prepared
from memsim.montecarlo.teams import team
from memsim.montecarlo.trial_cache import CachedTrials, cache_key
from memsim.montecarlo.trials import Trials
from memsim.montecarlo.worker import TrialJob, replay
from memsim.support.cores import default_jobs
from memsim.support.errors import InputError
from memsim.support.interrupts import listening
from memsim.support.progress import phase
from memsim.support.scratch import Scratch
from memsim.support.text import printable
from memsim.trace.reader import Trace
from memsim.trace.transactions import Transactions

MOST_TRIALS = 1_000_000  # more are a typing mistake: each is kept in memory until the result is written
_FOR_PROCESSES = 500_000  # transactions of all trials from which on processes pay: about 0.1 s


def run(
    trace: Trace,
    gpu: GPU,
    *,
    trials: int = 64,
    seed: int = 0,
    jobs: int | None = 1,
    enough: Callable[[Trials], bool] | None = None,
    at_least: int = 20,
    warm: bool = False,
    progress: Callable[[Trials], None] | None = None,
    provenance: Mapping[str, Any] | None = None,
    rule: dict[str, Any] | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
    sources: Sequence[Mapping[str, int]] = (),
    engine: str = Engine.compiled,
    sample: bool = False,
) -> Trials:
    """Replay `trace` on `gpu`, `trials` times. :func:`memsim.simulate` documents the other arguments.

    What a trial draws depends on `seed` and its number alone. With `enough`, the run ends after the first number of
    trials, `at_least` or more, for which it holds; it is called with trials 0, 1, ... in order (Trials of one), so the
    answer does not depend on which finished first. Ctrl-C ends the run with the trials that are finished, if there are
    any.

    Args:
        trials: how many; the most, with `enough`.
        provenance: field of the GPU -> where its value comes from, for the result to keep.
        rule: what the result keeps of `enough`; with it, whether it held.
        sources: of each trial, the sources of randomness (hierarchy.draws.SOURCES) that are drawn as in another trial,
            and its number. Such a result cannot be written to a file.

    Raises:
        InputError: a trace that does not fit the GPU, arguments out of range, or an output that exists or cannot be
            written.
    """
    check_numbers(trials, seed, 1 if jobs is None else jobs, at_least)
    replays_on = _checked(engine, warm, sample)
    if replays_on is Engine.compiled:
        check_compiled(gpu)
    assert not sources or (replays_on is Engine.compiled and out is None and len(sources) == trials)
    with (
        listening(),
        Scratch() as folder,
        open_checkpoint(out, lambda out: [store.load(out)], resume, force) as checkpoint,
    ):
        execution = Execution.of(trace, gpu, folder)
        blocks = choose_blocks(trace, execution) if sample else None
        job = TrialJob(execution, seed, warm, tuple(sources), replays_on, blocks)
        stopping = StoppingRule(at_least, trials, None if enough is None else lambda: enough)
        point = point_of(trace, job, trace.path, stopping, provenance=provenance)
        point.texts["sources"] = trace.sources
        point.finds_demand = blocks is None
        checkpoint.check_only(point)

        def report(event: TrialEvent) -> None:
            if progress and event.trial is not None:
                progress(Trials.of({event.number: event.trial}, **point.texts))

        driver = TrialDriver([point], checkpoint, report)
        if driver.take_up() and not point.used:
            _replay(driver, point, trace, jobs)
        if not point.finished:
            raise KeyboardInterrupt
        # More may have finished out of order, and which, depends on the processes.
        saved = checkpoint.saved(point)
        chosen = {k: v for k, v in point.finished.items() if not point.reached or k < point.used or k in saved}
        about = point.texts["about"]
        about["interrupted"] = not point.reached and len(chosen) < trials
        about["until"] = None if rule is None else rule | {"reached": point.reached}
        if blocks is None:
            add_demand(about, point.texts["ops"], point.cached.demand(lambda: _demand(trace, execution)))
        done = Trials.of(chosen, **point.texts)
        if out is not None:
            store.save(out, done)
            checkpoint.complete = True
    return done


def point_of(
    trace: Trace,
    job: TrialJob,
    shared: Any,
    rule: StoppingRule,
    label: str = "",
    provenance: Mapping[str, Any] | None = None,
) -> PointTrials:
    """The trials of a trace on a GPU.

    Args:
        job: its execution is in the folder that all workers of a machine share.
        shared: what workers are given in the trace's place, see teams.Team.share.
        label: for messages.
        provenance: as for :func:`run`.
    """
    ops, arrays = tables(trace)
    about = about_run(trace, job.execution, job.seed, job.warm) | {"gpu_provenance": dict(provenance or {})}
    if job.sample is not None:
        add_sample(about, job.sample)
    is_cached = not job.sources and job.engine is Engine.compiled  # the reference model takes none of the engine's
    cached = CachedTrials(cache_key(about) if is_cached else None, len(ops))
    return PointTrials(job, {"about": about, "ops": ops, "arrays": arrays}, rule, cached, shared, label)


def simulate_each(
    trace: Trace,
    gpus: Iterable[GPU],
    *,
    trials: int,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[GPU, Trials]:
    """Trials of a trace on every GPU; the same trial number draws the same on all of them.

    GPUs that coalesce alike share their transactions, which are made once.

    Args:
        gpus: a GPU that is named twice is replayed once.
        progress: called with the trials done, and all.

    Raises:
        InputError: a kernel whose block fits no SM; a worker that is killed again and again.
        KeyboardInterrupt: Ctrl-C; the finished trials are of no use without the others.
    """
    different = list(dict.fromkeys(gpus))
    done, total = count(1), trials * len(different)
    report = (lambda event: progress(next(done), total)) if progress else (lambda event: None)
    load_loops(different[0])
    with listening(), Scratch() as name, team("local", jobs, replay, Path(name)) as workers:
        shared, rule = workers.share(trace), StoppingRule(trials, trials)
        jobs_of = [TrialJob(Execution.of(trace, gpu, workers.folder), seed) for gpu in different]
        points = [point_of(trace, job, shared, rule) for job in jobs_of]
        driver = TrialDriver(points, Checkpoint(), report)
        if not (driver.take_up() and driver.run(workers.workers)):
            raise KeyboardInterrupt
    return {gpu: found for gpu, point in zip(different, points, strict=True) if (found := point.answer) is not None}


def _demand(trace: Trace, execution: Execution) -> dict[str, Any]:
    """The result of :func:`demand`, with a progress bar."""
    laid_out, _ = prepared(execution, trace)
    with phase("profiling accesses", "rows", trace.n_instructions):
        return demand(trace, laid_out)


def _replay(driver: TrialDriver, point: PointTrials, trace: Trace, jobs: int | None) -> None:
    """Replay the missing trials. The trace is coalesced and laid out here, once for all processes."""
    try:
        if point.job.engine is Engine.compiled:
            load_loops(point.job.execution.gpu, lambda: prepared(point.job.execution, trace))
        execution, _ = prepared(point.job.execution, trace)
    except KeyboardInterrupt:
        if not point.finished:
            raise
        return
    if jobs is None:
        left = point.rule.most - len(point.finished)
        needed = left if point.rule.new is None else min(left, point.rule.least)
        jobs = worthwhile_jobs([execution.transactions], needed)
    with team("local", jobs, replay, point.job.execution.folder) as workers:
        driver.run(workers.workers)


def worthwhile_jobs(launches: Sequence[Transactions], trials: int) -> int:
    """The number of processes that finish the trials first: one if starting more takes longer than the trials."""
    return default_jobs() if sum(len(one.lines) for one in launches) * trials >= _FOR_PROCESSES else 1


def check_numbers(trials: int, seed: int, jobs: int, at_least: int = 1) -> None:
    """Refuse numbers of a run that are out of range.

    Raises:
        InputError: see there.
    """
    for name, value, least in (("trials", trials, 1), ("seed", seed, 0), ("jobs", jobs, 1), ("at_least", at_least, 1)):
        if value < least:
            raise InputError("run", name, f"is {value}; give {least} or more")
    if trials > MOST_TRIALS:
        raise InputError("run", "trials", f"are {trials:,}; give at most {MOST_TRIALS:,}")


def _checked(engine: str, warm: bool, sample: bool) -> Engine:
    """The engine of a name, if it supports the requested options."""
    if engine not in list(Engine):
        raise InputError("run", "engine", f"is {engine!r}; must be {' or '.join(Engine)}")
    if engine == Engine.reference and warm:
        raise InputError("run", "engine", "reference cannot replay a trace with warm caches; leave warm out")
    if sample and (warm or engine == Engine.reference):
        raise InputError("run", "sample", "needs the compiled engine and cold caches; leave one out")
    return Engine(engine)


@cache
def versions() -> dict[str, str]:
    """The versions of Python, memsim and the packages that results depend on. Looking one up takes time."""
    packages = ("memsim", "numpy", "scipy", "simpy", "h5py", "numba")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def about_run(trace: Trace, execution: Execution, seed: int, warm: bool) -> dict[str, Any]:
    """Everything that a result needs so that it can be understood and reproduced."""
    return {
        "gpu": execution.gpu.model_dump(mode="json"),
        "seed": seed,
        "warm": warm,
        "versions": dict(versions()),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "trace": {
            "digest": trace.digest,
            "path": printable(str(trace.path.absolute())),
            "kernel": trace.kernel,
            "source": trace.source,
            "parameters": trace.parameters,
            "grid": list(trace.launch.grid),
            "block": list(trace.launch.block),
            "blocks": trace.n_blocks,
            "first_block": int(trace.block_ids.min(initial=0)),
            "wave_blocks": execution.wave_blocks,
            "instructions": trace.issue.instructions.value,
        },
    }


def tables(trace: Trace) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The static instructions and the arrays of a trace, as a result keeps them."""
    ops = [vars(op) | {"kind": op.kind.name, "space": op.space.name} for op in trace.ops]
    return ops, [vars(array) | {"space": array.space.name} for array in trace.arrays]
