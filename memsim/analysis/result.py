"""The results of a simulation, as a user asks for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from memsim.analysis.block_estimate import is_sampled
from memsim.analysis.choices import Convention, Grouping
from memsim.analysis.conventions import AccessKind, hit_ratio, of_caches_in_use, outcome_counts
from memsim.analysis.latency import LatencyDistribution
from memsim.analysis.launch_time import LaunchPart, LaunchTime, launch_time
from memsim.analysis.loads import Load, grouped, memory_latency
from memsim.analysis.model_error import family_of, model_error
from memsim.analysis.sampling import Sampling, sampled_ratio, sampling
from memsim.analysis.statistics import Interval, Ratio, Sample
from memsim.analysis.stores import Store, store_table
from memsim.analysis.table import Table
from memsim.analysis.tables import load_table
from memsim.gpu.architecture import is_amd
from memsim.gpu.components import COMPONENTS, counts_of
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.montecarlo import store
from memsim.montecarlo.trials import Trials


class RunResult:
    """All trials of one simulation, and what follows from them; nothing here is computed before it is asked for.

    Args:
        trials: raw results.
        convention: of the hit ratios; see :mod:`memsim.analysis.conventions`.

    ::

        result = Result.load("result.h5")
        result.l2_read.mean, result.l2_read.interval()   # the mean, and the interval that holds it
        result.l2_read.spread()                          # where one run falls: mean -+ 2 sd
        print(result.loads)                              # every static load, with its source text
    """

    def __init__(self, trials: Trials, convention: str = Convention.model) -> None:
        self.trials, self.convention = trials, Convention(convention)

    @classmethod
    def load(cls, path: str | Path, convention: str = Convention.model) -> Self:
        """Read a results file.

        Raises:
            InputError: the file is damaged or no results file.
        """
        return cls(store.load(path), convention)

    def save(self, path: str | Path) -> None:
        """Write a results file, whole or not at all."""
        store.save(path, self.trials)

    @property
    def gpu(self) -> str:
        """Name of the GPU."""
        return self.trials.about["gpu"]["name"]

    @property
    def seed(self) -> int:
        return self.trials.about["seed"]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the run before all trials were finished."""
        return bool(self.trials.about.get("interrupted", False))

    @property
    def until(self) -> dict[str, Any] | None:
        """The rule that was to end the run; None without one.

        Its `width`, `convention`, whether it was `reached`, and whether it was `requested`. Files from before there
        was a rule by default lack the last: it was.
        """
        return self.trials.about.get("until")

    @property
    def unreached(self) -> bool:
        """Whether intervals as narrow as requested were not reached."""
        return self.until is not None and not self.until["reached"] and self.until.get("requested", True)

    @property
    def ns_per_cycle(self) -> float:
        """Nanoseconds of one SM cycle."""
        return 1e3 / self.trials.about["gpu"]["sm"]["clock_mhz"]

    @cached_property
    def l1_read(self) -> Ratio:
        """L1 read hit ratio."""
        return self._ratio(Level.l1, AccessKind.read)

    @cached_property
    def l2_read(self) -> Ratio:
        """L2 read hit ratio, of 32-byte sectors."""
        return self._ratio(Level.l2, AccessKind.read)

    @cached_property
    def l2_write(self) -> Ratio:
        """L2 write hit ratio, of 32-byte sectors."""
        return self._ratio(Level.l2, AccessKind.write)

    @property
    def ratios(self) -> dict[str, Ratio]:
        """The three hit ratios by name."""
        return {"l1_read": self.l1_read, "l2_read": self.l2_read, "l2_write": self.l2_write}

    @cached_property
    def cycles(self) -> Sample:
        """SM cycles from the first block's start to the last warp's end."""
        return Sample(self.trials.cycles.astype(float))

    @property
    def whole(self) -> bool:
        """Whether all blocks of the launch were replayed."""
        part = LaunchPart.of(self.trials)
        return part.replayed == part.launched

    @property
    def waves(self) -> float:
        """The grid divided by the replayed blocks, in waves: multiples of the blocks that the GPU holds at once.

        Less than one wave takes as long as one. nan when the file (of version 1.0) does not state a wave's size.
        """
        return LaunchPart.of(self.trials).waves

    @cached_property
    def launch_time(self) -> LaunchTime:
        """Cycles of all blocks of the launch, and the interval that is to hold them (analysis.launch_time)."""
        return launch_time(self.trials)

    @property
    def launch_cycles(self) -> int:
        """SM cycles that the GPU takes for a launch in addition to its blocks; 0 where its preset does not say."""
        return sum(
            self.trials.about["gpu"].get("launch", {}).get(name) or 0 for name in ("idle_cycles", "active_cycles")
        )

    @property
    def instructions(self) -> str | None:
        """Where the trace's non-memory instructions come from (trace.schema.Instructions); None: an older result."""
        found: str | None = self.trials.about["trace"].get("instructions")
        return found

    @property
    def is_least_time(self) -> bool:
        """Whether the times are lower bounds: of accesses alone, as the trace has no other instructions."""
        return self.instructions == "none"

    @cached_property
    def kernel_time(self) -> Sample:
        """Predicted time of the whole kernel, milliseconds: its blocks' (:attr:`launch_time`) and the launch's own.

        The interval of the sample is that of the trials' order of warps; :attr:`kernel_time_interval` is the one that
        knows of blocks that were not traced.
        """
        return Sample((self.launch_time.cycles.values + self.launch_cycles) * self.ns_per_cycle / 1e6)

    @cached_property
    def kernel_time_interval(self) -> Interval | None:
        """The interval that is to hold the time of one whole launch, milliseconds."""
        found = self.launch_time.interval
        if found is None:
            return None
        return Interval(*((bound + self.launch_cycles) * self.ns_per_cycle / 1e6 for bound in found))

    @cached_property
    def prediction_interval(self) -> Interval | None:
        """The interval that is to hold the measured time of a launch in 90 % of cases, milliseconds.

        It combines the model's error on GPUs of this family (:mod:`memsim.analysis.model_error`) with trials and
        sampling. None where the trace has no instructions between accesses, so that the time is a lower bound, and on
        GPUs of AMD, with none of which a time was compared.
        """
        capability = self.trials.about["gpu"]["compute_capability"]
        if self.is_least_time or is_amd(capability) or not self.kernel_time.mean > 0:
            return None
        found = model_error(family_of(capability))
        return found.interval(self.kernel_time.mean, self.kernel_time_interval)

    @cached_property
    def active_time(self) -> Sample:
        """The part of :attr:`kernel_time` in which SMs are active, milliseconds."""
        idle = self.trials.about["gpu"].get("launch", {}).get("idle_cycles") or 0
        return Sample(self.kernel_time.values - idle * self.ns_per_cycle / 1e6)

    @cached_property
    def memory_latency(self) -> Sample:
        """Tm: mean latency of the main-memory step, cycles (Baghsorkhi 2012, 3.2.3)."""
        return memory_latency(self.trials)

    @cached_property
    def memory_distribution(self) -> LatencyDistribution:
        """Latencies of the main-memory step, cycles, all trials (the paper's figure 3)."""
        return LatencyDistribution(self.trials.memory_histogram.sum(axis=0))

    @cached_property
    def loads(self) -> Table[Load]:
        """Every static load, in source order of the trace."""
        return self.loads_by(Grouping.load)

    def loads_by(self, group: str) -> Table[Load]:
        """The loads' quantities by ``load``, ``array`` or ``line``.

        Raises:
            ValueError: another word.
        """
        by = Grouping(group)
        keys: dict[Grouping, Callable[[int, dict[str, Any]], Hashable]] = {
            Grouping.load: lambda number, op: (op["file"], op["line"], op["column"], op["text"], op["array"]),
            Grouping.array: lambda number, op: op["array"],
            Grouping.line: lambda number, op: (op["file"], op["line"]),
        }
        return load_table(grouped(self.trials, keys[by], self.convention), by, self.ns_per_cycle)

    @cached_property
    def stores(self) -> Table[Store]:
        """Every static store, and atomic whose old value nobody uses, that leaves the SM."""
        return store_table(self.trials, self.convention)

    @cached_property
    def counters(self) -> dict[str, dict[str, dict[str, float]]]:
        """Mean counts of a trial: ``counters[level][unit][name]``.

        At l1 and l2 reads + writes + atomics = hits + misses + merges (a sector miss is a miss); ``dram`` has reads and
        writes. Units: transactions, and 32-byte sectors.
        """
        total, trials = self.trials.counters.sum(axis=(0, 1)), len(self.trials.trial)
        return {
            level.name: {
                unit.name: {name: count / trials for name, count in _named_counts(total, level, unit).items()}
                for unit in CountUnit
            }
            for level in Level
        }

    @cached_property
    def components(self) -> dict[str, dict[str, float]]:
        """Of every component that the GPU has, by section: mean counters of a trial, and figures of merit."""
        gpu, mean = self.trials.about["gpu"], self.trials.components.mean(axis=0)
        reads = self.trials.counters[:, :, Level.l2, [Event.read_miss, Event.read_sector_miss], CountUnit.sectors]
        missed = float(reads.sum()) / len(self.trials.trial)
        return {
            one.section: {name: float(value) for name, value in counts_of(one, mean).items()}
            | {ratio.name: ratio.value(counts_of(one, mean), missed) for ratio in one.ratios}
            for one in COMPONENTS
            if one.is_on(gpu)
        }

    @property
    def translation(self) -> dict[str, float] | None:
        """Mean lookups of a trial in TLBs, by counter; None where addresses are not translated."""
        return self.components.get("translation")

    @cached_property
    def performance(self) -> dict[str, float]:
        """How fast the trials ran: transactions per trial, a second (and worker), and SimPy's share of the time."""
        trials, wall = self.trials, float(self.trials.wall_seconds.sum())
        return {
            "transactions_per_trial": float(trials.transactions.mean()),
            "transactions_per_second": float(trials.transactions.sum() / wall) if wall else float("nan"),
            "simpy_share": 1 - float(trials.compiled_seconds.sum()) / wall if wall else float("nan"),
        }

    @cached_property
    def sampling(self) -> Sampling | None:
        """The intervals due to sampling of blocks; None where no blocks were sampled."""
        return sampling(self.trials, self.convention, self.ns_per_cycle) if is_sampled(self.trials) else None

    def _ratio(self, level: Level, access: AccessKind) -> Ratio:
        capability = self.trials.about["gpu"]["compute_capability"]
        if is_sampled(self.trials):
            return Ratio(sampled_ratio(self.trials, level, access, self.convention), self.convention)
        total = of_caches_in_use(self.trials).sum(axis=1)
        return Ratio(hit_ratio(total, level, (access,), self.convention, capability), self.convention)

    def __repr__(self) -> str:
        return f"<Result: {len(self.trials.trial)} trials of {self.trials.about['trace']['kernel']} on {self.gpu}>"


def _named_counts(total: np.ndarray, level: Level, unit: CountUnit) -> dict[str, int]:
    by_access = {access: int(outcome_counts(total, level, unit, (access,)).sum()) for access in AccessKind}
    names = {"reads": by_access[AccessKind.read], "writes": by_access[AccessKind.write]}
    if level is Level.dram:
        return names
    hit, miss, sector_miss, merge = outcome_counts(total, level, unit, tuple(AccessKind)).tolist()
    return names | {"atomics": by_access[AccessKind.atomic], "hits": hit, "misses": miss + sector_miss, "merges": merge}
