"""Which part of the GPU's work, and of the waiting for it, each static instruction causes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.analysis.l2_rates import partial_store_cycles, sector_cycles
from memsim.analysis.result import RunResult
from memsim.analysis.utilization import (
    CONSTANTS,
    DRAM,
    ISSUE,
    L2,
    LOAD_STORE,
    constant_cycles,
    load_store_cycles,
    utilization,
)
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.profile.op_profile import OpProfile


@dataclass(frozen=True)
class ResultWork:
    """What all static instructions of a result did.

    Attributes:
        profiles: of each.
        arrays: row of the array that each accesses.
        counters: f8 [n_ops + 1, levels, events, units], means over the trials.
        waited: f8 [n_ops], shares of all latency waited for.
        busy_shares: by part of the GPU, the share of the time in which it was busy.
        cycles: f8 [n_ops], of the load-store units.
        constant_cycles: f8 [n_ops], of the constants' units.
        slice_cycles: f8 [n_ops], of L2's slices.
        partial_cycles: f8 [n_ops], of those, what partially stored sectors take beyond whole ones.
    """

    profiles: list[OpProfile]
    arrays: np.ndarray
    counters: np.ndarray
    waited: np.ndarray
    busy_shares: dict[str, float]
    cycles: np.ndarray
    constant_cycles: np.ndarray
    slice_cycles: np.ndarray
    partial_cycles: np.ndarray

    @classmethod
    def of(cls, result: RunResult) -> ResultWork:
        """That of a result."""
        trials, gpu = result.trials, result.trials.about["gpu"]
        profiles = [OpProfile(**op["profile"]) for op in trials.ops]
        counters = trials.counters.mean(axis=0)
        cycles = counters[:-1, Level.l2, :, CountUnit.sectors] @ sector_cycles(gpu["l2"])
        partial = np.array([partial_store_cycles(op, gpu["l2"]) for op in trials.ops], float)
        return cls(
            profiles,
            np.array([op["array"] for op in trials.ops], np.int64),
            counters,
            trials.latency_sum.sum(axis=0) / max(1, trials.latency_sum.sum()),
            {component.name: component.busy for component in utilization(result)},
            np.array([load_store_cycles(op, gpu["sm"]) for op in trials.ops], float),
            np.array([constant_cycles(op, gpu["sm"]) for op in trials.ops], float),
            cycles + partial,
            partial,
        )

    @property
    def instructions(self) -> int:
        """All memory instructions, at least one."""
        return max(1, sum(of.instructions for of in self.profiles))

    def time_share(self, ops: list[int]) -> float:
        """The share of some ops of all waiting, or of all sectors that go to L1, whichever is more: nobody waits for a
        store."""
        sectors = sum(self.profiles[op].sectors for op in ops) / max(1, sum(of.sectors for of in self.profiles))
        return float(max(self.waited[ops].sum(), sectors))

    def busy(self, ops: list[int], total: OpProfile) -> dict[str, float]:
        """By part of the GPU, the share of the time in which it works for some ops.

        Args:
            ops: their numbers.
            total: their profiles, added up.
        """
        shares = {
            ISSUE: total.instructions / self.instructions,
            LOAD_STORE: self.cycles[ops].sum() / max(1.0, self.cycles.sum()),
            CONSTANTS: self.constant_cycles[ops].sum() / max(1.0, self.constant_cycles.sum()),
            L2: self.slice_cycles[ops].sum() / max(1.0, self.slice_cycles.sum()),
            DRAM: self._sectors(ops, Level.dram) / max(1.0, self._sectors(None, Level.dram)),
        }
        return {component: float(share) * self.busy_shares.get(component, 0.0) for component, share in shares.items()}

    def partial(self, ops: list[int]) -> float:
        """Share of some ops' cycles in L2's slices that partially stored sectors take beyond whole ones."""
        return float(self.partial_cycles[ops].sum() / max(1.0, self.slice_cycles[ops].sum()))

    def dram_times(self, op: int) -> float:
        """How often main memory reads each sector of the array that an op accesses; 0 of what it does not hold."""
        ops = np.flatnonzero(self.arrays == self.arrays[op])
        first = sum(self.profiles[other].first_sectors for other in ops)
        read = float(self.counters[ops, Level.dram, : Event.write_hit, CountUnit.sectors].sum())
        return read / first if first else 0.0

    def _sectors(self, ops: list[int] | None, level: Level) -> float:
        chosen = self.counters[:-1] if ops is None else self.counters[ops]
        return float(chosen[:, level, :, CountUnit.sectors].sum())
