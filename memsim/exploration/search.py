"""Ranks versions of a kernel: all by model, the best few by simulation, wherever their traces come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from memsim.analysis.result import RunResult
from memsim.exploration.effects import Decision, decisions, shares
from memsim.exploration.model import Modelled, modelled
from memsim.exploration.space import Chosen
from memsim.gpu.config import GPU
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.pool import in_processes
from memsim.montecarlo.run import run
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace

MODELLED, SIMULATED = "modelled", "simulated"
ONE_WAVE = "1x"  # what the models are shown: channels are skewed by blocks that run at the same time

Progress = Callable[[int, int, str], None]  # versions done, all, and in which stage


@dataclass(frozen=True)
class Version:
    """One version of the kernel.

    Attributes:
        chosen: value by choice.
        model: what the models say of it.
        result: of its simulation; None: it was not among the best by model, or there was no time for it.
    """

    chosen: Chosen
    model: Modelled
    result: RunResult | None = None

    @property
    def milliseconds(self) -> float:
        """Simulated time of the launch, mean over trials; nan if it was not simulated."""
        return float("nan") if self.result is None else self.result.kernel_time.mean


@dataclass(frozen=True)
class Exploration:
    """What was found.

    Attributes:
        workload: the kernel's file.
        gpu: name.
        parameters: those that were given.
        choices: values by choice, as declared or varied.
        versions: the best first: by simulated time those that were simulated, then the others by the model's.
        rejected: versions that cannot be, with what was said of them.
        complete: whether all that should have been simulated were; not after Ctrl-C.
    """

    workload: str
    gpu: str
    parameters: Mapping[str, Any]
    choices: Mapping[str, tuple[Any, ...]]
    versions: tuple[Version, ...]
    rejected: tuple[tuple[Chosen, str], ...]
    complete: bool

    @property
    def best(self) -> Version:
        return self.versions[0]

    @cached_property
    def shares(self) -> dict[str, float]:
        """Share of the variance of log modelled time that each choice explains by itself, over all versions."""
        times = [version.model.milliseconds for version in self.versions]
        return shares([version.chosen for version in self.versions], times, self.choices)

    @cached_property
    def decisions(self) -> list[Decision]:
        """What decides, by model: one choice after the other on the way from all versions to the best."""
        chosen, models = [one.chosen for one in self.versions], [one.model for one in self.versions]
        return decisions(chosen, models, self.choices, self.best.chosen)


@dataclass(frozen=True)
class Effort:
    """How many versions are simulated, and how.

    Attributes:
        keep: so many, the best by model.
        blocks: what of each.
        trials, seed: of each.
        jobs: processes, which share out the versions.

    Raises:
        InputError: a number that makes no sense.
    """

    keep: int
    blocks: str
    trials: int
    seed: int
    jobs: int

    def __post_init__(self) -> None:
        for name, least in (("keep", 0), ("trials", 1), ("seed", 0), ("jobs", 1)):
            if getattr(self, name) < least:
                raise InputError("explore", name, f"is {getattr(self, name)}; give {least} or more")


@dataclass(frozen=True)
class SearchTask:
    """What all versions have in common.

    Attributes:
        trace: a version's trace: of what was chosen, which blocks, in which folder. May raise InputError.
    """

    trace: Callable[[Chosen, str, Path], Trace]
    gpu: GPU
    effort: Effort


@dataclass(frozen=True)
class ExplorationRequest:
    """Whose versions they are: :class:`Exploration` says of what is here."""

    workload: str
    parameters: Mapping[str, Any]
    choices: Mapping[str, tuple[Any, ...]]


def search(
    task: SearchTask, request: ExplorationRequest, versions: list[Chosen], progress: Progress | None
) -> Exploration:
    """All versions by model, and the best by simulation.

    Raises:
        InputError: none of them can be.
    """
    keep = task.effort.keep
    models, rejected = _modelled(task, versions, progress)
    if not models:
        raise InputError(request.workload, "choices", f"leave no version; the first is rejected: {rejected[0][1]}")
    models.sort(key=lambda version: (version.model.order, version.model.milliseconds))
    simulated = _simulated(task, models[:keep], progress)
    simulated.sort(key=lambda version: version.milliseconds)
    others = [one for one in models if all(one.chosen != other.chosen for other in simulated)]
    complete = len(simulated) == min(keep, len(models))
    found = (*simulated, *others)
    return Exploration(
        request.workload, task.gpu.name, request.parameters, request.choices, found, tuple(rejected), complete
    )


def _modelled(
    task: SearchTask, versions: list[Chosen], progress: Progress | None
) -> tuple[list[Version], list[tuple[Chosen, str]]]:
    """All versions by model, and those rejected, in the order of `versions`."""
    found: dict[int, Modelled | str] = {}
    report = progress or (lambda done, total, stage: None)
    for first, chosen in enumerate(versions):  # the first that can be, here: no two workers compile the same loops
        found[first] = _model(task, chosen)
        report(len(found), len(versions), MODELLED)
        if isinstance(found[first], Modelled):
            break
    here = len(found)
    rest_of_all, jobs = versions[here:], task.effort.jobs
    with closing(in_processes(partial(_model, task), rest_of_all, min(jobs, len(rest_of_all)))) as rest:
        for number, answer in rest:
            found[here + number] = answer
            report(len(found), len(versions), MODELLED)
    ordered = [(versions[number], found[number]) for number in range(len(versions))]
    possible = [Version(chosen, answer) for chosen, answer in ordered if isinstance(answer, Modelled)]
    return possible, [(chosen, answer) for chosen, answer in ordered if isinstance(answer, str)]


def _simulated(task: SearchTask, best: list[Version], progress: Progress | None) -> list[Version]:
    """The best by simulation; those that are finished, if Ctrl-C comes."""
    finished: list[Version] = []
    if not best:
        return finished
    load_loops(task.gpu)
    chosen = [version.chosen for version in best]
    with closing(in_processes(partial(_simulate, task), chosen, min(task.effort.jobs, len(best)))) as done:
        try:
            for number, result in done:
                finished.append(replace(best[number], result=result))
                if progress:
                    progress(len(finished), len(best), SIMULATED)
        except KeyboardInterrupt:
            pass
    return finished


def _model(task: SearchTask, chosen: Chosen) -> Modelled | str:
    """The models' word on a version, or why it cannot be."""
    try:
        with Scratch() as folder:
            return modelled(task.trace(chosen, ONE_WAVE, Path(folder)), task.gpu)
    except InputError as error:
        return str(error)


def _simulate(task: SearchTask, chosen: Chosen) -> RunResult:
    with Scratch() as folder:
        trace = task.trace(chosen, task.effort.blocks, Path(folder))
        result = RunResult(run(trace, task.gpu, trials=task.effort.trials, seed=task.effort.seed))
    if result.interrupted:  # Ctrl-C is for the whole search
        raise KeyboardInterrupt
    return result
