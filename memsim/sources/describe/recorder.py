"""Runs a launch, a batch of blocks at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memsim.sources.batch_log import BatchLog
from memsim.sources.describe.batch import Batch
from memsim.sources.describe.failures import located
from memsim.sources.describe.memory import DescribedMemory
from memsim.sources.describe.ops import ExpressionOps
from memsim.sources.describe.thread import Thread
from memsim.sources.describe.workload import Launch, Workload
from memsim.sources.mixes import new_mixes
from memsim.trace.schema import ArrayInfo, Chunk, Instructions, Issue, KnownWaits, LaunchShape, StaticInstruction

BATCH_LANES = 1 << 14  # of one batch: few enough that its values stay in a core's cache
BATCH_BYTES = 1 << 26  # of one batch's log, which is what bounds the memory


class Recorder:
    """Describes a launch: every :meth:`run` executes the kernel for some blocks, on the launch's own arrays.

    Args:
        workload: names files in messages.
        launch: what to run.
        warp_size: lanes of a warp, at most WIDEST_WARP.
    """

    def __init__(self, workload: Workload, launch: Launch, warp_size: int = 32) -> None:
        self._workload, self._launch = workload, launch
        self._shape = replace(launch.shape, warp_size=warp_size)
        self._memory = DescribedMemory(dict(launch.arguments), launch.shared_bytes)
        self._ops = ExpressionOps(workload.show)
        self._log, self._mixes = BatchLog(warp_size), new_mixes()
        self._n_warps = 0
        self._bytes_per_block = 0.0

    @property
    def launch(self) -> LaunchShape:
        """The launch, with the shared memory declared so far."""
        return replace(self._shape, shared_bytes=self._memory.shared_bytes)

    @property
    def ops(self) -> list[StaticInstruction]:
        return self._ops.table()

    @property
    def arrays(self) -> list[ArrayInfo]:
        return self._memory.arrays

    @property
    def issue(self) -> Issue:
        """How the warps issue: they wait by value; what a compiler makes of arithmetic is estimated."""
        return Issue(KnownWaits.scoreboard, Instructions.estimated, self._mixes.table())

    @property
    def batch_blocks(self) -> int:
        """How many blocks the next batch should have: by lanes, and by the room its log will take."""
        by_lanes = BATCH_LANES // (self._shape.warps_per_block * self._shape.warp_size)
        by_bytes = BATCH_BYTES / max(self._bytes_per_block, 1)
        return max(1, min(by_lanes, int(by_bytes)))

    def run(self, block_ids: np.ndarray) -> Chunk:
        """Execute the kernel for blocks i8 [n]; their warps' instructions.

        Raises:
            InputError: the kernel fails; names its file and line.
        """
        self._log.clear()
        batch = Batch(self._shape, block_ids, self._ops, self._log, self._mixes, self._launch.fast_math)
        kernel = self._launch.kernel
        code = getattr(kernel, "__code__", None)
        filename, line = (code.co_filename, code.co_firstlineno) if code else (self._workload.filename, 1)
        # Inactive lanes hold any value, so numpy's warnings about values mean nothing here.
        with located(self._workload.show, filename, line), np.errstate(all="ignore"):
            kernel(Thread(batch, self._memory), **self._memory.bind(batch))
            batch.finish()
        chunk = self._log.sorted_by_warp(len(block_ids) * self._shape.warps_per_block, self._n_warps)
        self._n_warps += len(chunk.warps)
        self._bytes_per_block = self._log.n_bytes / len(block_ids)
        return chunk
