"""What a GPU under test measures: a walk through memory, with the time of each access; and many warps that access
memory at once, with the time of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np

from memsim.hierarchy.counters import latency_bin_edges
from memsim.trace.schema import OpKind


@dataclass(frozen=True)
class Latencies:
    """Of one group of accesses, in SM cycles.

    Attributes:
        mean: 0 for a group without accesses.
        counts: i8, accesses in each bin.
        edges: i8, where bins begin; those of :func:`latency_bin_edges` are exact to 63 cycles, then to 1/32.
        slack: share of a latency by which equal accesses may differ; 0 on a simulated GPU.
    """

    mean: float
    counts: np.ndarray
    edges: np.ndarray = field(default_factory=latency_bin_edges)
    slack: float = 0.0

    def within(self, bound: float) -> int:
        """Accesses that took at most `bound`, to the width of a bin and the slack.

        >>> Latencies(30.0, np.array([0, 3, 1]), np.array([0, 8, 200]), slack=0.4).within(28)
        3
        """
        return int(self.counts[: np.searchsorted(self.edges, bound * (1 + self.slack), side="right")].sum())

    def all_within(self, bound: float) -> bool:
        """Whether no access took longer."""
        return self.within(bound) == self.counts.sum()


WARPS = 16  # of a block of a stream


@dataclass(frozen=True)
class AccessStream:
    """Accesses of many warps that none waits for: one after the other to a ring of units, as if all warps were one.

    Access i of warp w, of n, goes to unit (w + i n) mod `units`. L1 serves none of them.

    Attributes:
        kind: load; atomic, whose old value is used; reduction, whose old value is not.
        units: of the ring.
        stride: bytes from one to the next.
        width: bytes that a warp accesses of a unit, 4 a lane.
        blocks: of WARPS warps each.
    """

    kind: OpKind
    units: int
    stride: int
    width: int
    blocks: int


class WalkedGPU(Protocol):
    """A GPU that can be walked.

    Attributes:
        shared_bytes: shared memory that the walk takes for itself; 0 on a simulated GPU.
    """

    shared_bytes: int

    def without_l1(self) -> Self:
        """The same GPU with its L1 off, as the compiler's switch ``-dlcm=cg`` has it."""

    def walk(self, addresses: Sequence[int] | np.ndarray, groups: Sequence[int] | np.ndarray) -> list[Latencies]:
        """Let one thread, alone, read one byte address after the other, from cold caches.

        Args:
            groups: the group, 0 to 65534, that each access is counted in.

        Returns:
            Latencies of every group.
        """

    def stream(self, stream: AccessStream, accesses: int) -> float:
        """SM cycles that a stream takes from its first instruction to its last answer.

        Args:
            accesses: of each warp.
        """


class ManySMs(WalkedGPU, Protocol):
    """One whose SMs can be walked at the same time.

    Attributes:
        sms: how many it has.
    """

    sms: int

    def blocks(self, lists: Sequence[np.ndarray], groups: Sequence[np.ndarray]) -> list[Latencies]:
        """As :meth:`walk`, with a list and its groups for each block: one thread a block, one block an SM at a time."""


def laps(device: WalkedGPU, addresses: Sequence[int] | np.ndarray, number: int = 3) -> list[Latencies]:
    """Walk one list in circles: latencies of each lap."""
    return device.walk(np.tile(addresses, number), np.repeat(np.arange(number), len(addresses)))
