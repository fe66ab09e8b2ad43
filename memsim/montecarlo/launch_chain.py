"""Chains of a program's launches: in each trial some of them, one after the other, each with L2 as the last left it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.hierarchy.draws import page_stream
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.initial_l2 import carry_over_l2
from memsim.hierarchy.mapping import AddressLayout, layout
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.montecarlo.load_loops import load_loops
from memsim.montecarlo.pool import in_processes
from memsim.montecarlo.run import about_run, demand, tables, tell_demand, worthwhile_jobs
from memsim.montecarlo.trial_cache import CachedTrials, cache_key
from memsim.support.result_cache import StoredRows
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.transactions import column_path


@dataclass(frozen=True)
class LaunchChain:
    """What one trial replays.

    Attributes:
        trial: its number, which its draws depend on.
        places: of launches in the program, ascending.
    """

    trial: int
    places: tuple[int, ...]


@dataclass
class Chains:
    """The launches of a program that some chains replay.

    Attributes:
        traces: of all launches of the program, in their order.
        gpu: the configuration.
        chains: to replay.
        seed: of the draws.
        folder: for what workers map; the caller owns it.
        trials: by number of the trial and place of the launch, as they finish.
    """

    traces: Sequence[Trace]
    gpu: GPU
    chains: Sequence[LaunchChain]
    seed: int
    folder: Path
    trials: dict[tuple[int, int], Trial] = field(default_factory=dict)
    _executions: dict[int, Execution] = field(default_factory=dict)
    _prepared: bool = False

    def __post_init__(self) -> None:
        """Raises InputError for a block that fits no SM."""
        for place in sorted({place for chain in self.chains for place in chain.places}):
            self._executions[place] = Execution.of(self.traces[place], self.gpu, self.folder / str(place))

    def replay(self, jobs: int | None, progress: Callable[[int, int], None] | None) -> None:
        """Replay the chains, but those that are kept from an earlier run.

        Args:
            jobs: processes; None: all cores, unless there is little to do.
            progress: called with the chains done, and all.
        """
        kept = {chain.trial: StoredRows(self._key(chain)) for chain in self.chains}
        todo = [chain for chain in self.chains if not self._read(chain, kept[chain.trial])]
        done = len(self.chains) - len(todo)
        if progress:
            progress(done, len(self.chains))
        if not todo:
            return
        self._prepare()
        load_loops(next(iter(self._executions.values())).gpu)
        if jobs is None:
            jobs = worthwhile_jobs([self._executions[place].transactions for place in todo[0].places], len(todo))
        job = partial(_trial, _Launches(self._executions, self.seed))
        with closing(in_processes(job, todo, max(1, min(jobs, len(todo))))) as replays:
            for number, found in replays:
                chain = todo[number]
                for place, trial in zip(chain.places, found, strict=True):
                    self.trials[chain.trial, place] = trial
                    kept[chain.trial].add(place, {name: getattr(trial, name) for name in Trial.columns(0)})
                done += 1
                if progress:
                    progress(done, len(self.chains))

    def names(self, place: int) -> dict[str, Any]:
        """As :meth:`texts`, without what the launch asks of the GPU: enough for its time."""
        ops, arrays = tables(self.traces[place])
        return {"about": self._about(place), "ops": ops, "arrays": arrays, "sources": {}}

    def texts(self, place: int) -> dict[str, Any]:
        """What :meth:`Trials.of` wants in addition to the trials of a launch."""
        trace, execution = self.traces[place], self._executions[place]
        about = self._about(place)
        cached = CachedTrials(cache_key(about), len(trace.ops))
        if cached.demand is None:
            self._prepare()
            cached.keep_demand(demand(trace, execution))
        assert cached.demand is not None
        ops, arrays = tables(trace)
        tell_demand(about, ops, cached.demand)
        return {"about": about, "ops": ops, "arrays": arrays, "sources": trace.sources}

    def _about(self, place: int) -> dict[str, Any]:
        return about_run(self.traces[place], self._executions[place], self.seed, warm=False)

    def _key(self, chain: LaunchChain) -> str:
        """Lines are numbered over all launches of the chains together, so all of them are in it."""
        digests = [(place, self.traces[place].digest) for place in self._executions]
        about = self._about(chain.places[-1]) | {"gpu": self.gpu.model_dump(mode="json")}
        return cache_key(about, "chain", digests, list(chain.places), chain.trial)

    def _read(self, chain: LaunchChain, rows: StoredRows) -> bool:
        """Take a chain's trials from the cache, if all of them are there."""
        found = {}
        for place, arrays in rows.read():
            columns = Trial.columns(len(self.traces[place].ops)) if place in chain.places else None
            if {name: (of.dtype.str, of.shape) for name, of in arrays.items()} == columns:
                found[chain.trial, place] = Trial(**arrays)
        if len(found) < len(chain.places):
            return False
        self.trials |= found
        return True

    def _prepare(self) -> None:
        """Coalesce each launch, and give a line the same number in all of them; once."""
        if self._prepared:
            return
        executions = list(self._executions.values())
        for place, execution in self._executions.items():
            execution.folder.mkdir(exist_ok=True)
            coalesce(self.traces[place], execution.gpu, execution.folder)
        own = [np.load(column_path(execution.folder, "line_address")) for execution in executions]
        every = np.unique(np.concatenate(own))
        for execution, addresses in zip(executions, own, strict=True):
            path = column_path(execution.folder, "lines")
            lines = np.load(path)
            np.save(path, np.searchsorted(every, addresses).astype(lines.dtype)[lines])
            np.save(column_path(execution.folder, "line_address"), every)
        first, *others = executions
        first.lay_out()
        for place, execution in zip(list(self._executions)[1:], others, strict=True):
            if execution.gpu.l1 == first.gpu.l1:
                self._executions[place] = execution.share_layout(first)
            else:  # its shared memory leaves another L1, with another number of sets
                execution.lay_out()
        self._prepared = True


@dataclass(frozen=True)
class _Launches:
    """What all trials have in common."""

    executions: dict[int, Execution]
    seed: int


def _trial(program: _Launches, chain: LaunchChain) -> list[Trial]:
    """The launches of a chain once."""
    before: System | None = None
    places: dict[int, AddressLayout] = {}  # by the sets of L1, which each launch's shared memory decides on
    (first, _) = np.random.SeedSequence(program.seed, spawn_key=(chain.trial, chain.places[0])).spawn(2)
    found = []
    for place in chain.places:
        execution = program.executions[place]
        replay, grouping = np.random.SeedSequence(program.seed, spawn_key=(chain.trial, place)).spawn(2)
        gpu, where = execution.gpu, places.get(execution.gpu.l1.sets, execution.layout)
        if before is not None and gpu.stochastic.page_placement:  # pages lie where they lay
            if gpu.l1.sets not in places:
                where = layout(execution.transactions, gpu, page_stream(first))
            gpu = override(gpu, {"stochastic.page_placement": False})
        system = System(execution.transactions, gpu, execution.resident, replay, where, name=execution.trace)
        if before is not None:
            carry_over_l2(before.machine, system.machine)
        found.append(system.run(grouping=np.random.default_rng(grouping)))
        before, places[gpu.l1.sets] = system, system.where
    return found
