"""Points an hour against workers, the cost of a point against its trace, and what dask takes a task."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import memsim
from experiments.harness.readme import markdown
from experiments.harness.study import AtLeast, AtMost, Claim, Outcome, Setting
from memsim.hierarchy.execution import Execution
from memsim.montecarlo.teams import Workers, team
from memsim.montecarlo.worker import TrialJob
from memsim.report.figure_style import BLUE, GREY, VERMILION, panels, styled, write
from memsim.trace.reader import Trace

GPU = "tesla-c2050"
ROWS, NNZ = 72, 51  # of the shortest trace, 7,600 transactions; the others have 10 and 100 times as many rows
GROWTH = (1, 10, 100)
WORKERS = (1, 2)
TRIALS = 16
FASTER = 1.8  # asked of two workers
DASK_MS = 2.0  # dask's documentation: about a millisecond per task
CLUSTER_SHARE = 50  # % of the cores' time in trials, of a cluster that is worth its cost
CLUSTER = 1000  # cores, on paper
_LATENCIES = range(200, 300)  # of DRAM, a point each
_TASKS = 400


@dataclass(frozen=True)
class Rate:
    """How fast a study ran.

    Attributes:
        workers: processes.
        transactions: of the trace.
        trials: of each point.
        trial: seconds of all workers for one, from the first that was finished to the last.
        replaying: share of all workers' time in replay, from the study's begin to its end.
    """

    workers: int
    transactions: float
    trials: int
    trial: float
    replaying: float

    @property
    def points_an_hour(self) -> float:
        return 3600 * self.workers / (self.trials * self.trial)


def run(setting: Setting) -> Outcome:
    """Each measured once; what else runs on the machine makes everything slower."""
    trials, points = (2, 3) if setting.quick else (TRIALS, 4)
    growth = GROWTH[:2] if setting.quick else GROWTH
    with TemporaryDirectory(prefix="memsim-scale-") as name:
        traces = {factor: _trace(Path(name, f"{factor}.h5"), factor) for factor in growth}
        grown = [rate(traces[factor], 1, points, trials) for factor in growth]
        against = [grown[-1], *(rate(traces[growth[-1]], workers, points, trials) for workers in WORKERS[1:])]
        task = task_seconds(traces[growth[0]], 40 if setting.quick else _TASKS)
    _draw(against, grown, task, setting.figures / "scale.png")
    tables = {"workers": _workers(against), "growth": _growth(grown), "cluster": _cluster(grown, task)}
    return Outcome(list(_claims(against, grown, task)), tables)


def _trace(path: Path, factor: int) -> Trace:
    return memsim.trace("spmv", out=path, gpu=GPU, rows=factor * ROWS, nnz_per_row=NNZ, blocks="all")


def rate(trace: Trace, workers: int, points: int, trials: int) -> Rate:
    """Run a study whose points differ in DRAM's latency alone."""
    study = memsim.Study(
        "scale",
        kernels={"spmv": {"trace": str(trace.path)}},
        gpus=GPU,
        vary={"dram.latency_cycles": list(_LATENCIES)[:points]},
        trials=trials,
    )
    finished: list[float] = []
    found = study.run(jobs=workers, progress=lambda state: finished.append(perf_counter()) if state.trials else None)
    seconds = found.about["seconds"]
    trial = workers * (finished[-1] - finished[0]) / (len(finished) - 1)
    share = seconds["replaying"] / (workers * seconds["all"])
    return Rate(workers, found.result(0).performance["transactions_per_trial"], trials, trial, share)


def task_seconds(trace: Trace, tasks: int) -> float | None:
    """Of dask's scheduler and its client for one task that does nothing but is given what a trial is given.

    None where dask.distributed is not installed.
    """
    try:
        import distributed  # noqa: F401
    except ImportError:
        return None
    with TemporaryDirectory(prefix="memsim-scale-") as name, team("dask", 2, _nothing, Path(name)) as made:
        given = TrialJob(Execution.of(trace, memsim.load_gpu(GPU), made.folder), 0)
        shared = made.share(trace)
        _all(made.workers, given, shared, 20)
        begin = perf_counter()
        _all(made.workers, given, shared, tasks)
        return (perf_counter() - begin) / tasks


def _all(workers: Workers, given: TrialJob, shared: object, tasks: int) -> None:
    for number in range(tasks):
        workers.begin(number, given, number, shared)
    answered = 0
    while answered < tasks:
        answered += len(workers.answers())


def _nothing(given: TrialJob, number: int, trace: bytes) -> int:
    return os.getpid()


def efficiency(trial: float, task: float, cores: int) -> float:
    """Share of a cluster's time in trials when one scheduler hands them out one after the other.

    >>> efficiency(trial=0.3, task=0.001, cores=100), efficiency(trial=0.3, task=0.001, cores=1000)
    (1.0, 0.3)
    """
    return min(1.0, trial / (task * cores))


def _claims(against: Sequence[Rate], grown: Sequence[Rate], task: float | None) -> Iterator[Claim]:
    one, two = against[0], against[-1]
    faster = two.points_an_hour / one.points_an_hour
    yield Claim("points per hour of two workers over one", math.nan, faster, unit="times", aim=AtLeast(FASTER))
    name = f"share of replay in a study of {one.transactions:,.0f} transactions"
    yield Claim(name, math.nan, 100 * one.replaying, unit="%", aim=AtLeast(90))
    shortest, longest = grown[0], grown[-1]
    dearer = (longest.trial / longest.transactions) / (shortest.trial / shortest.transactions)
    name = f"cost of a transaction, trace {longest.transactions / shortest.transactions:.0f} times as long"
    yield Claim(name, math.nan, dearer, unit="times", aim=AtMost(1))
    if task is not None:
        yield Claim("dask's time for a task", math.nan, 1e3 * task, unit="ms", aim=AtMost(DASK_MS))
        share = 100 * efficiency(longest.trial, task, CLUSTER)
        name = f"on paper: {CLUSTER:,} cores' time in trials of {longest.transactions:,.0f} transactions"
        yield Claim(name, math.nan, share, unit="%", aim=AtLeast(CLUSTER_SHARE))


def _workers(against: Sequence[Rate]) -> str:
    rows = [
        [str(of.workers), f"{of.points_an_hour:,.0f}", f"{of.points_an_hour / against[0].points_an_hour:.2f}",
         f"{100 * of.replaying:.1f}"]
        for of in against
    ]  # fmt: skip
    return markdown(["workers", "points per hour", "times one worker's", "% in replay"], rows)


def _growth(grown: Sequence[Rate]) -> str:
    rows = [
        [f"{of.transactions:,.0f}", f"{1e3 * of.trial:.1f}", f"{of.trials * of.trial:.2f}",
         f"{1e9 * of.trial / of.transactions:.0f}", f"{100 * of.replaying:.1f}"]
        for of in grown
    ]  # fmt: skip
    headers = ["transactions", "ms a trial", "s a point", "ns a transaction", "% in replay"]
    return markdown(headers, rows)


def _cluster(grown: Sequence[Rate], task: float | None) -> str:
    """What dask's time for a task leaves of a cluster."""
    if task is None:
        return "dask.distributed is not installed."
    cores = (16, 64, 256, CLUSTER)
    rows = [
        [f"{of.transactions:,.0f}", f"{of.trial / task:,.0f}",
         *(f"{100 * efficiency(of.trial, task, count):.0f} %" for count in cores)]
        for of in grown
    ]  # fmt: skip
    headers = ["transactions", "cores that one scheduler keeps busy", *(f"{count:,} cores" for count in cores)]
    return markdown(headers, rows)


def _draw(against: Sequence[Rate], grown: Sequence[Rate], task: float | None, path: Path) -> None:
    with styled():
        figure, (first, second, third) = panels(1, 3, 10.5, 3.2)
        workers = [of.workers for of in against]
        first.plot(workers, [of.points_an_hour for of in against], "o-", color=BLUE, label="measured")
        first.plot(workers, [k * against[0].points_an_hour for k in workers], "--", color=GREY, label="in proportion")
        first.set(xlabel="workers", ylabel="points per hour", xticks=workers, ylim=(0, None))
        first.legend()
        sizes = [of.transactions for of in grown]
        second.loglog(sizes, [of.trials * of.trial for of in grown], "o-", color=BLUE)
        second.set(xlabel="transactions of the trace", ylabel=f"seconds per point of {grown[0].trials} trials")
        cores = [1 << k for k in range(11)]
        for of, color in zip(grown, (GREY, VERMILION, BLUE), strict=False) if task is not None else ():
            shares = [100 * efficiency(of.trial, task, count) for count in cores]
            third.plot(cores, shares, color=color, label=f"{of.transactions:,.0f} transactions")
        third.set_xscale("log", base=2)
        third.set(xlabel="cores behind one dask scheduler", ylabel="% of their time in trials", ylim=(0, 105))
        if task is not None:
            third.legend()
        write(figure, path)
