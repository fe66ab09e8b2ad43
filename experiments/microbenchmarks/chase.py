"""Walks through lists of addresses, one access after the other, and how long each access took.

The walk is what ``traces/pointer_chase.py`` records (a test compares them); built directly, a walk of 50,000 elements
takes no time to describe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memsim.config import GPU
from memsim.hierarchy.counters import latency_bin_edges
from memsim.hierarchy.system import System
from memsim.presets import override
from memsim.trace.schema import Flag, Kind
from memsim.trace.transactions import INSTRUCTION, Transactions

QUIET = {f"stochastic.{name}": False for name in ("start_alignment", "warp_weights", "arbitration")}


@dataclass(frozen=True)
class Latencies:
    """Of one group of accesses, in SM cycles; the extremes to the width of a latency bin (exact to 15, then 1/8)."""

    mean: float
    fastest: float
    slowest: float


def within(latency: float, bound: float) -> bool:
    """Whether a binned latency is at most `bound`."""
    edges = latency_bin_edges()
    return latency < edges[np.searchsorted(edges, bound, side="right")]


def walks(gpu: GPU, lists: Sequence[np.ndarray], groups: Sequence[np.ndarray]) -> list[Latencies]:
    """Walk `lists` of byte addresses, one thread a block and one block an SM at a time.

    Args:
        groups: u2 of each list's length, the group that each access is counted in.

    Returns:
        Latencies of every group.
    """
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
    n_groups = int(instructions["op"].max()) + 1
    transactions = Transactions(
        instructions=instructions,
        lines=numbers.astype("<u4"),
        masks=of_unit[address // unit % n_units].astype("u1"),
        line_address=lines.astype("<u8"),
        first_instruction=np.cumsum([0, *map(len, lists)]),
        first_warp=np.arange(len(lists) + 1),
        n_ops=n_groups,
    )
    trial = System(transactions, override(gpu, QUIET), 1, np.random.SeedSequence(0)).run()
    edges = latency_bin_edges()
    found = []
    for group in range(n_groups):
        seen = np.flatnonzero(trial.histogram[group])
        mean = trial.times[group]["sum"] / trial.times[group]["count"]
        found.append(Latencies(float(mean), float(edges[seen[0]]), float(edges[seen[-1]])))
    return found


def laps(gpu: GPU, addresses: Sequence[int] | np.ndarray, number: int = 3) -> list[Latencies]:
    """Walk one list in circles, alone on the GPU: latencies of each lap."""
    alone = override(gpu, {"sm.count": 1})
    address = np.asarray(addresses, np.int64)
    return walks(alone, [np.tile(address, number)], [np.repeat(np.arange(number), len(address))])
