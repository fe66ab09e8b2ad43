"""Sequences of a program's launches: in each trial all or some, one by one, each with L2 as the last left it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.hierarchy.draws import page_stream
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.mapping import AddressLayout, layout
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.montecarlo.demand import add_demand, demand
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.pool import in_processes
from memsim.montecarlo.run import about_run, tables, worthwhile_jobs
from memsim.montecarlo.shared_stages import laid_out
from memsim.montecarlo.trial_cache import CachedTrials, cache_key
from memsim.montecarlo.trials import arrays_of, trial_of
from memsim.support.progress import phase
from memsim.support.result_cache import StoredRows
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.transactions import column_path

_TICK = 0.5  # seconds between two looks at how many launches are replayed


@dataclass(frozen=True)
class LaunchSequence:
    """What one trial replays.

    Attributes:
        trial: its number, which its draws depend on.
        positions: of launches in the program, each once, in the order in which they are replayed.
    """

    trial: int
    positions: tuple[int, ...]


@dataclass
class LaunchSequences:
    """The launches of a program that some sequences replay.

    Between launches L1s are emptied, as GPUs do when a kernel begins, and memory's rows are closed; L2 keeps its lines,
    those that are dirty too. A trace of a part of a launch leaves what that part left.

    Attributes:
        traces: of all launches of the program, in their order; their addresses agree.
        gpu: the configuration.
        positions: of the launches that any sequence replays, sorted.
        seed: of the draws.
        folder: for what workers map; the caller owns it.
        contents: of each trace a key (memsim.trace.equal_content).
        described: launches whose `texts` will be asked for; what they ask of the GPU is found next to the replays, by
            workers that no replay waits for.
        trials: by number of the trial and position of the launch, as they finish.
    """

    traces: Sequence[Trace]
    gpu: GPU
    positions: Sequence[int]
    seed: int
    folder: Path
    contents: Sequence[str]
    described: Sequence[int] = ()
    trials: dict[tuple[int, int], Trial] = field(default_factory=dict)
    _executions: dict[int, Execution] = field(default_factory=dict)
    _demand: dict[str, dict[str, Any]] = field(default_factory=dict)
    _prepared: bool = False

    def __post_init__(self) -> None:
        """Launches of equal traces share one execution. Raises InputError for a block that fits no SM."""
        found: dict[str, Execution] = {}
        for position in self.positions:
            content = self.contents[position]
            if content not in found:
                found[content] = Execution.of(self.traces[position], self.gpu, self.folder / str(position))
            self._executions[position] = found[content]

    def replay(
        self,
        sequences: Sequence[LaunchSequence],
        jobs: int | None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Replay sequences, except those in the cache from an earlier run.

        Args:
            jobs: processes; None: all cores, unless there is little to do.
            progress: called with the sequences done, and all.
        """
        cached = {sequence.trial: StoredRows(self._key(sequence)) for sequence in sequences}
        todo = [sequence for sequence in sequences if not self._read(sequence, cached[sequence.trial])]
        done, every = len(sequences) - len(todo), len(sequences)
        if progress:
            progress(done, every)
        if not todo:
            return
        self._prepare()
        load_loops(next(iter(self._executions.values())).gpu)
        if jobs is None:
            jobs = worthwhile_jobs(
                [self._executions[position].transactions for position in todo[0].positions], len(todo)
            )
        replayed = self.folder / "replayed"
        replayed.write_bytes(b"")
        undescribed = self._undescribed()
        job = partial(_work, undescribed, self._executions, self.seed, replayed)
        work: list[LaunchSequence | int] = [*todo, *undescribed]
        launches = sum(len(sequence.positions) for sequence in todo)
        with _counted(replayed, launches), closing(in_processes(job, work, min(jobs, len(work)))) as answers:
            for number, found in answers:
                if not isinstance(sequence := work[number], LaunchSequence):
                    self._demand[self.contents[sequence]] = self._cached(sequence).demand(partial(dict, found))
                    continue
                for position, trial in zip(sequence.positions, found, strict=True):
                    self.trials[sequence.trial, position] = trial
                    cached[sequence.trial].add(position, arrays_of(trial))
                done += 1
                if progress:
                    progress(done, every)

    def names(self, position: int) -> dict[str, Any]:
        """As :meth:`texts`, without what the launch asks of the GPU: enough for its time."""
        ops, arrays = tables(self.traces[position])
        return {"about": self._about(position), "ops": ops, "arrays": arrays, "sources": {}}

    def texts(self, position: int, provenance: Mapping[str, Any]) -> dict[str, Any]:
        """What :meth:`Trials.of` wants in addition to the trials of a launch; about the launches before it, too.

        Args:
            provenance: field of the GPU -> where its value comes from.
        """
        texts, trace = self.names(position), self.traces[position]
        if (content := self.contents[position]) not in self._demand:
            self._demand[content] = self._cached(position).demand(lambda: self._find_demand(position))
        add_demand(texts["about"], texts["ops"], self._demand[content])
        before = [trace.digest for trace in self.traces[:position]]
        texts["about"] |= {"gpu_provenance": dict(provenance), "launches_before": before}
        return texts | {"sources": trace.sources}

    def _undescribed(self) -> dict[int, Trace]:
        """Traces of described launches, one of each content, of which it is not known what they ask of the GPU.

        The longest ones come first, so that they are not what is waited for at the end.
        """
        found = {self.contents[position]: position for position in reversed(self.described)}
        return {
            position: self.traces[position]
            for content, position in sorted(found.items(), key=lambda one: -self.traces[one[1]].n_instructions)
            if content not in self._demand and not self._cached(position).has_demand
        }

    def _find_demand(self, position: int) -> dict[str, Any]:
        self._prepare()
        return demand(self.traces[position], self._executions[position])

    def _cached(self, position: int) -> CachedTrials:
        return CachedTrials(cache_key(self._about(position)), len(self.traces[position].ops))

    def _about(self, position: int) -> dict[str, Any]:
        return about_run(self.traces[position], self._executions[position], self.seed, warm=False)

    def _key(self, sequence: LaunchSequence) -> str:
        """Lines are numbered over all launches of the sequences together, so all of them are in it."""
        digests = [(position, self.traces[position].digest) for position in self._executions]
        about = self._about(sequence.positions[-1]) | {"gpu": self.gpu.model_dump(mode="json")}
        return cache_key(about, "chain", digests, list(sequence.positions), sequence.trial)

    def _read(self, sequence: LaunchSequence, rows: StoredRows) -> bool:
        """Take a sequence's trials from the cache, if all of them are there."""
        found = {}
        for position, arrays in rows.read():
            trial = trial_of(arrays, len(self.traces[position].ops)) if position in sequence.positions else None
            if trial is not None:
                found[sequence.trial, position] = trial
        if len(found) < len(sequence.positions):
            return False
        self.trials |= found
        return True

    def _prepare(self) -> None:
        """Coalesce each launch, and give a line the same number in all of them; once."""
        if self._prepared:
            return
        executions = {execution.digest: execution for execution in self._executions.values()}
        traces = {trace.digest: trace for trace in self.traces}
        for digest, execution in executions.items():
            execution.folder.mkdir(exist_ok=True)
            coalesce(traces[digest], execution.gpu, execution.folder)
        own = [np.load(column_path(execution.folder, "line_address")) for execution in executions.values()]
        every = np.unique(np.concatenate(own))
        for execution, addresses in zip(executions.values(), own, strict=True):
            path = column_path(execution.folder, "lines")
            lines = np.load(path)
            np.save(path, np.searchsorted(every, addresses).astype(lines.dtype)[lines])
            np.save(column_path(execution.folder, "line_address"), every)
        first = next(iter(executions.values())).folder  # shared memory may leave launches other sets of L1
        for digest, execution in executions.items():
            executions[digest] = replace(execution, layout_folder=laid_out(first, execution.gpu))
        self._executions = {position: executions[one.digest] for position, one in self._executions.items()}
        self._prepared = True


@contextmanager
def _counted(replayed: Path, launches: int) -> Iterator[None]:
    """Show how many launches are replayed; each adds a byte to the file, in whatever process."""
    ended = Event()
    with phase("replaying", "launches", launches) as advance:

        def watch() -> None:
            while not ended.wait(_TICK):
                advance(replayed.stat().st_size, launches)

        watching = Thread(target=watch, daemon=True)
        watching.start()
        try:
            yield
        finally:
            ended.set()
            watching.join()
            advance(replayed.stat().st_size, launches)


def _work(
    undescribed: Mapping[int, Trace],
    executions: Mapping[int, Execution],
    seed: int,
    replayed: Path,
    item: LaunchSequence | int,
) -> Any:
    """The trials of a sequence, one per launch; or what the launch at a position asks of the GPU."""
    if isinstance(item, LaunchSequence):
        return _trial(executions, seed, replayed, item)
    return demand(undescribed[item], executions[item])


def _trial(executions: Mapping[int, Execution], seed: int, replayed: Path, sequence: LaunchSequence) -> list[Trial]:
    """The launches of a sequence, one after another; each adds a byte to a file."""
    before: System | None = None
    layouts: dict[int, AddressLayout] = {}  # by the sets of L1, which each launch's shared memory decides on
    (first, _) = np.random.SeedSequence(seed, spawn_key=(sequence.trial, sequence.positions[0])).spawn(2)
    found = []
    for position in sequence.positions:
        execution = executions[position]
        replay, grouping = np.random.SeedSequence(seed, spawn_key=(sequence.trial, position)).spawn(2)
        gpu, address_layout = execution.gpu, layouts.get(execution.gpu.l1.sets, execution.layout)
        if before is not None and gpu.stochastic.page_placement:  # pages lie where they lay
            if gpu.l1.sets not in layouts:
                address_layout = layout(execution.transactions, gpu, page_stream(first))
            gpu = override(gpu, {"stochastic.page_placement": False})
        system = System(execution.transactions, gpu, execution.resident, replay, address_layout, name=execution.trace)
        if before is not None:
            system.machine.carry_over_l2(before.machine)
        found.append(system.run(grouping=np.random.default_rng(grouping)))
        before, layouts[gpu.l1.sets] = system, system.where
        with replayed.open("ab", buffering=0) as file:
            file.write(b".")
    return found
