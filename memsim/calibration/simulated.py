"""Walks on a simulated GPU.

The walk is what ``traces/pointer_chase.py`` records (a test compares them); built directly, a walk of 50,000 elements
takes no time to describe.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memsim.calibration.walks import Latencies
from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.trace.schema import Flag, Kind
from memsim.trace.transactions import INSTRUCTION, Transactions

QUIET = {f"stochastic.{name}": False for name in ("start_alignment", "warp_weights", "arbitration")}


class SimulatedDevice:
    """A GPU that can be walked (:class:`memsim.calibration.walks.ManySMs`). What it was configured as stays inside,
    but for the number of its SMs.

    Args:
        seed: of its random choices (a cache that replaces at random); every walk draws anew.
    """

    shared_bytes = 0

    def __init__(self, gpu: GPU, seed: int = 0) -> None:
        self._gpu = override(gpu, QUIET)
        self._one_sm = override(self._gpu, {"sm.count": 1})
        self._seed = seed
        self._seeds = np.random.SeedSequence(seed)
        self.sms = gpu.sm.count

    def without_l1(self) -> SimulatedDevice:
        """The same GPU with its L1 off, as the compiler's switch ``-dlcm=cg`` has it."""
        return SimulatedDevice(override(self._gpu, {"l1.enabled": False}), self._seed)

    def walk(self, addresses: Sequence[int] | np.ndarray, groups: Sequence[int] | np.ndarray) -> list[Latencies]:
        """As :meth:`memsim.calibration.walks.Device.walk`."""
        return self._run(self._one_sm, [np.asarray(addresses)], [np.asarray(groups)])

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
