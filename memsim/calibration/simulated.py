"""Walks on a simulated GPU.

The walk is what ``traces/pointer_chase.py`` records (a test compares them); built directly, a walk of 50,000 elements
takes no time to describe.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memsim.calibration.walks import WARPS, AccessStream, Latencies
from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.trace.schema import NO_WAIT, WAIT_COLUMNS, Flag, LoadClass, OpKind
from memsim.trace.transactions import BYPASS_FLAG, INSTRUCTION, NO_ANSWER, Transactions

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
        """As :meth:`memsim.calibration.walks.WalkedGPU.walk`."""
        return self._run(self._one_sm, [np.asarray(addresses)], [np.asarray(groups)])

    def blocks(self, lists: Sequence[np.ndarray], groups: Sequence[np.ndarray]) -> list[Latencies]:
        """As :meth:`walk`, with a list and its groups for each block: one thread a block, one block an SM at a time."""
        return self._run(self._gpu, lists, groups)

    def stream(self, stream: AccessStream, accesses: int) -> float:
        """As :meth:`memsim.calibration.walks.WalkedGPU.stream`."""
        (draws,) = self._seeds.spawn(1)
        resident = self._gpu.sm.max_warps // WARPS
        return float(System(_streamed(self._gpu, stream, accesses), self._gpu, resident, draws).run().cycles)

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
    instructions["kind"], instructions["flags"] = OpKind.load, Flag.sequence
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


def _streamed(gpu: GPU, stream: AccessStream, accesses: int) -> Transactions:
    """What the coalescer makes of a stream: an instruction asks for the sectors of its unit, which one line holds."""
    warps = stream.blocks * WARPS
    first, rounds = np.arange(warps)[:, None], np.arange(accesses)
    address = ((first + rounds * warps) % stream.units * stream.stride).ravel()
    lines, numbers = np.unique(address // gpu.l1.line_bytes, return_inverse=True)
    begin = address % gpu.l1.line_bytes // 32
    masks = (((1 << -(-stream.width // 32)) - 1) << begin).astype("u1")
    returns = stream.kind is not OpKind.reduction
    instructions = np.zeros(len(address), INSTRUCTION)
    instructions["first"], instructions["count"] = np.arange(len(address)), 1
    instructions["kind"], instructions["flags"] = stream.kind, BYPASS_FLAG if stream.kind is OpKind.load else 0
    instructions["answers"] = LoadClass.long if returns else NO_ANSWER
    for name in WAIT_COLUMNS:
        instructions[name] = NO_WAIT
    return Transactions(
        instructions=instructions,
        lines=numbers.astype("<u4"),
        masks=masks,
        partial=np.zeros_like(masks) if returns or stream.width % 32 == 0 else masks,
        line_address=lines.astype("<u8"),
        first_instruction=np.arange(warps + 1) * accesses,
        first_warp=np.arange(stream.blocks + 1) * WARPS,
        n_ops=1,
    )


def _latencies(trial: Trial) -> list[Latencies]:
    means = trial.latency_sum / np.maximum(trial.latency_count, 1)
    return [Latencies(float(mean), counts) for mean, counts in zip(means, trial.latency_histogram, strict=True)]
