"""Predicted speed-ups: replays of transformed traces and machines, compared with the result's own trials.

A transformed replay draws what the trial of its number drew (common random numbers), so that two or three trials
resolve the difference. Of several transforms of a cause, the fastest is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Sample
from memsim.analysis.utilization import busiest_component
from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.hierarchy.execution import Execution
from memsim.montecarlo.demand import executed
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.pool import in_processes
from memsim.montecarlo.run import about_run, tables, versions
from memsim.montecarlo.shared_stages import prepared
from memsim.montecarlo.trial_cache import cache_key
from memsim.montecarlo.trials import Trials
from memsim.montecarlo.worker import TrialJob, run_trial
from memsim.profile.demand import requested
from memsim.support.errors import InputError
from memsim.support.result_cache import StoredRows
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace
from memsim.why.bottlenecks import gpu_of
from memsim.why.finding import Bottleneck, Cause, Gain
from memsim.why.transforms import Transform, find_transforms

TRIALS = 3  # the interval from two would be four times as wide
MOST = 5  # causes that are replayed


@dataclass(frozen=True)
class _ReplaySettings:
    """What all replays have in common."""

    trace: Trace
    gpu: GPU
    seed: int
    warm: bool
    trials: tuple[int, ...]


_Item = tuple[Cause, tuple[int, ...], int]  # a cause, its static instructions, and which of its transforms


@dataclass(frozen=True)
class _Transformed:
    """What replays of one transform say.

    Attributes:
        text: what was changed.
        trials: i8 [t], their numbers; none of a machine that cannot be.
        times: f8 [t], predicted kernel time in milliseconds.
        busiest: share of that time for which the busiest part of the GPU works.
    """

    text: str
    trials: np.ndarray
    times: np.ndarray
    busiest: float = 0.0


def with_gains(
    result: RunResult,
    trace: Trace,
    found: Sequence[Bottleneck],
    *,
    trials: int = TRIALS,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Bottleneck]:
    """The same causes with what replays of the first few predict, the largest saving first.

    Args:
        result: of the trace.
        trace: that was run.
        found: as from :func:`memsim.why.bottlenecks.find_bottlenecks`.
        trials: of each replay, of those that the result has.
        jobs: processes.
        progress: called with the replays done, and all.

    Raises:
        InputError: the trace ran there as one of a program's launches.
    """
    about = result.trials.about
    if "launches_before" in about:
        raise InputError(trace.path, "launches before", "are part of this result; give a result of the trace alone")
    gpu = override(gpu_of(result), {"l1.carve_outs": []})  # of which shared memory has taken its share
    common = _ReplaySettings(
        trace, gpu, result.seed, about.get("warm", False), tuple(result.trials.trial[:trials].tolist())
    )
    todo = [(one.cause, _ops(one)) for one in found[:MOST]]
    items = [(cause, ops, k) for cause, ops in todo for k in range(len(find_transforms(cause, trace, ops, gpu)))]
    gains: dict[Cause, Gain] = {}
    if progress:
        progress(0, len(items))
    with closing(_each(common, items, jobs)) as replays:
        for done, (number, transformed) in enumerate(replays, 1):
            cause = items[number][0]
            if len(transformed.trials):
                gain = _gain(result, transformed)
                if cause not in gains or gain.share.mean > gains[cause].share.mean:
                    gains[cause] = gain
            if progress:
                progress(done, len(items))
    with_replays = (one.replayed(gains[one.cause]) if one.cause in gains else one for one in found)
    return sorted(with_replays, key=Bottleneck.rank)


def _ops(one: Bottleneck) -> tuple[int, ...]:
    return tuple(sorted({op for finding in one.findings for op in finding.ops}))


def _each(
    common: _ReplaySettings, items: Sequence[_Item], jobs: int
) -> Generator[tuple[int, _Transformed], None, None]:
    """Every item's number and what its replays say: those that were replayed before, then the others as they finish."""
    cached = [StoredRows(_key(common, item)) for item in items]
    missing = []
    for number, rows in enumerate(cached):
        found = next((arrays for _, arrays in rows.read()), None)
        if found is None:
            missing.append(number)
        else:
            yield (
                number,
                _Transformed(
                    found["text"].tobytes().decode(), found["trials"], found["times"], float(found["busiest"])
                ),
            )
    if not missing:
        return
    load_loops(common.gpu)
    todo = [items[number] for number in missing]
    with closing(in_processes(partial(_replayed, common), todo, min(jobs, len(todo)))) as replays:
        for position, one in replays:
            letters = np.frombuffer(one.text.encode(), np.uint8)
            arrays = {"text": letters, "trials": one.trials, "times": one.times, "busiest": np.array(one.busiest)}
            cached[missing[position]].add(0, arrays)
            yield missing[position], one


def _key(common: _ReplaySettings, item: _Item) -> str:
    """Names all that a transformed replay depends on."""
    about = {
        "trace": {"digest": common.trace.digest},
        "gpu": common.gpu.model_dump(mode="json"),
        "seed": common.seed,
        "warm": common.warm,
        "versions": versions(),
    }
    cause, ops, number = item
    return cache_key(about, "repaired", str(cause), list(ops), number, list(common.trials), rooms=("analysis", "why"))


def _replayed(common: _ReplaySettings, item: _Item) -> _Transformed:
    """What was changed, and the times with it; no trials of a machine that cannot be."""
    cause, ops, number = item
    transform = find_transforms(cause, common.trace, ops, common.gpu)[number]
    try:
        trials = _trials(common, transform)
    except InputError:
        return _Transformed(transform.text, np.zeros(0, np.int64), np.zeros(0))
    then = RunResult(trials)
    return _Transformed(transform.text, trials.trial, then.kernel_time.values, busiest_component(then)[1])


def _trials(common: _ReplaySettings, transform: Transform) -> Trials:
    trace, gpu = transform.of(common.trace, common.gpu)
    with Scratch() as folder:
        execution, _ = prepared(Execution.of(trace, gpu, folder), trace)
        job = TrialJob(execution, common.seed, common.warm)
        finished = {number: run_trial(job, number) for number in common.trials}
        ops, arrays = tables(trace)
        about = about_run(trace, execution, common.seed, common.warm) | {"executed": executed(trace, execution)}
        counted = requested(execution.transactions)  # as far as it decides how busy each part is
        for number, op in enumerate(ops):
            op["profile"] = {name: int(values[number]) for name, values in counted.items()}
        return Trials.of(finished, about=about, ops=ops, arrays=arrays)


def _gain(result: RunResult, transformed: _Transformed) -> Gain:
    rows = np.isin(result.trials.trial, transformed.trials)
    saved = Sample(1 - transformed.times / result.kernel_time.values[rows])
    return Gain(transformed.text, saved, 1 - min(1.0, transformed.busiest) * (1 - saved.mean))
