"""Walks through lists of addresses, one access after the other, and how long each access took.

The walk is what ``traces/pointer_chase.py`` records (a test compares them); built directly, a walk of 50,000 elements
takes no time to describe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.hierarchy.counters import latency_bin_edges
from memsim.hierarchy.system import System, Trial
from memsim.trace.schema import Flag, Kind
from memsim.trace.transactions import INSTRUCTION, Transactions

QUIET = {f"stochastic.{name}": False for name in ("start_alignment", "warp_weights", "arbitration")}


@dataclass(frozen=True)
class Latencies:
    """Of one group of accesses, in SM cycles.

    Attributes:
        mean: 0 for a group without accesses.
        counts: i8, accesses in each bin of :func:`latency_bin_edges` (exact to 63 cycles, then to 1/32).
    """

    mean: float
    counts: np.ndarray

    def within(self, bound: float) -> int:
        """Accesses that took at most `bound`, to the width of a bin."""
        return int(self.counts[: np.searchsorted(latency_bin_edges(), bound, side="right")].sum())

    def all_within(self, bound: float) -> bool:
        """Whether no access took longer."""
        return self.within(bound) == self.counts.sum()


class Device:
    """A GPU that can be walked. What it was configured as stays inside, but for the number of its SMs.

    Args:
        seed: of its random choices (a cache that replaces at random); every walk draws anew.
    """

    def __init__(self, gpu: GPU, seed: int = 0) -> None:
        self._gpu = override(gpu, QUIET)
        self._one_sm = override(self._gpu, {"sm.count": 1})
        self._seed = seed
        self._seeds = np.random.SeedSequence(seed)
        self.sms = gpu.sm.count

    def without_l1(self) -> Device:
        """The same GPU with its L1 off, as the compiler's switch ``-dlcm=cg`` has it."""
        return Device(override(self._gpu, {"l1.enabled": False}), self._seed)

    def walk(self, addresses: Sequence[int] | np.ndarray, groups: Sequence[int] | np.ndarray) -> list[Latencies]:
        """Let one thread, alone, read one byte address after the other, from cold caches.

        Args:
            groups: the group, 0 to 65534, that each access is counted in.

        Returns:
            Latencies of every group.
        """
        return self._run(self._one_sm, [np.asarray(addresses)], [np.asarray(groups)])

    def laps(self, addresses: Sequence[int] | np.ndarray, number: int = 3) -> list[Latencies]:
        """Walk one list in circles: latencies of each lap."""
        return self.walk(np.tile(addresses, number), np.repeat(np.arange(number), len(addresses)))

    def blocks(self, lists: Sequence[np.ndarray], groups: Sequence[np.ndarray]) -> list[Latencies]:
        """As :meth:`walk`, with a list and its groups for each block: one thread a block, one block an SM at a time."""
        return self._run(self._gpu, lists, groups)

    def _run(self, gpu: GPU, lists: Sequence[np.ndarray], groups: Sequence[np.ndarray]) -> list[Latencies]:
        (draws,) = self._seeds.spawn(1)
        return _latencies(System(_transactions(gpu, lists, groups), gpu, 1, draws).run())


def _transactions(gpu: GPU, lists: Sequence[np.ndarray], groups: Sequence[np.ndarray]) -> Transactions:
    """What the coalescer makes of the walks: every access reads one sector, and waits for the one before."""
    address = np.concatenate(lists).astype(np.int64)
    unit = gpu.l1.sector_bytes if gpu.l1.enabled else 32
    n_units = gpu.l1.line_bytes // unit
    of_unit = ((1 << unit // 32) - 1) << np.arange(n_units) * (unit // 32)
    lines, numbers = np.unique(address // gpu.l1.line_bytes, return_inverse=True)
    n = len(address)
    instructions = np.zeros(n, INSTRUCTION)
    instructions["first"], instructions["count"] = np.arange(n), 1
    instructions["op"] = np.concatenate(groups)
    instructions["kind"], instructions["flags"] = Kind.load, Flag.sequence
    return Transactions(
        instructions=instructions,
        lines=numbers.astype("<u4"),
        masks=of_unit[address // unit % n_units].astype("u1"),
        partial=np.zeros(n, np.uint8),
        line_address=lines.astype("<u8"),
        first_instruction=np.cumsum([0, *map(len, lists)]),
        first_warp=np.arange(len(lists) + 1),
        n_ops=int(instructions["op"].max()) + 1,
    )


def _latencies(trial: Trial) -> list[Latencies]:
    means = trial.latency_sum / np.maximum(trial.latency_count, 1)
    return [Latencies(float(mean), counts) for mean, counts in zip(means, trial.latency_histogram, strict=True)]
