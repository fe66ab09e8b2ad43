"""Runs all blocks of a launch once and traces the block sample meanwhile: memory is as after a run on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memsim.gpu.config import GPU
from memsim.sources import traced_blocks
from memsim.sources.ptx.trace import KernelRun, Progress, begin_trace, finish_trace, write_blocks
from memsim.sources.traced_blocks import LEAST_WAVES
from memsim.support.errors import InputError

MOST_EXECUTED = 1 << 26
"""Micro-ops of warps that a block sample has at most, unless its blocks are given: so many take about ten seconds."""


@dataclass
class ExecutedCounts:
    """What a launch has executed.

    Attributes:
        executed: micro-ops of warps.
        accesses: of lanes to global memory.
        sectors: of 32 bytes, as warps touch them.
    """

    executed: int = 0
    accesses: int = 0
    sectors: int = 0

    def add(self, run: KernelRun) -> None:
        self.executed += run.executed
        self.accesses += run.accesses
        self.sectors += run.sectors


@dataclass(frozen=True)
class FullLaunch:
    """A launch that has run.

    Attributes:
        n_traced: blocks in its trace; None where its accesses were too few after the first blocks, so it has none.
        cut: whether it has fewer blocks than its accesses ask for, as they execute too much.
    """

    n_traced: int | None
    counts: ExecutedCounts
    cut: bool = False


class _NotWorth(Exception):
    """The first blocks access too little."""


def run_and_trace(
    traced: KernelRun,
    rest: Callable[[], KernelRun],
    out: Path,
    gpu: GPU,
    blocks: str | None = None,
    *,
    snapshot_only: bool = False,
    is_worth: Callable[[int], bool] = lambda _: True,
    progress: Progress | None = None,
) -> FullLaunch:
    """Run all blocks of a launch in order; those of the block sample are traced.

    Args:
        traced: computes all values and traces.
        rest: gives what runs the other blocks.
        out: the trace file.
        gpu: whose occupancy and L2 size choose the block sample.
        blocks: as in :func:`memsim.sources.ptx.trace.trace_launch`.
        snapshot_only: the other blocks do not run.
        is_worth: from the accesses of the launch, guessed from its first blocks, to whether it is traced any further.
        progress: called with the blocks done and all.

    Raises:
        InputError: as there.
    """
    counts, n_blocks, team = ExecutedCounts(), traced.launch.n_blocks, traced.device.team
    shape = traced.shape(traced.launch.registers)
    first = traced_blocks.given_blocks(blocks, shape, gpu).start // team * team if blocks is not None else 0
    done = 0
    if first and not snapshot_only and _others(rest, range(first), counts) > first:
        raise InputError("--blocks", blocks or "", "begins among blocks that wait for one another; begin with block 0")
    n_traced, traced_executed = None, 0
    with suppress(_NotWorth):
        with begin_trace(traced, out, gpu) as writer:
            appended = 0
            for ids, total, at in write_blocks(traced, writer, shape, gpu, blocks, MOST_EXECUTED):
                appended += len(ids)
                done = int(ids[-1]) + 1
                if ids[0] == first and not is_worth(_guess(traced, len(ids), n_blocks)):
                    raise _NotWorth
                if progress:
                    progress(at, total)
            finish_trace(traced, writer, shape)
        n_traced, traced_executed = appended, traced.executed
    counts.add(traced)
    if done < n_blocks and not snapshot_only:
        _others(rest, range(done, n_blocks), counts)
    few = n_traced is not None and n_traced < min(n_blocks, LEAST_WAVES * traced_blocks.wave_blocks(shape, gpu))
    return FullLaunch(n_traced, counts, few and blocks is None and traced_executed > MOST_EXECUTED // 2)


def _guess(run: KernelRun, blocks: int, n_blocks: int) -> int:
    return run.accesses * n_blocks // blocks


def _others(rest: Callable[[], KernelRun], ids: range, counts: ExecutedCounts) -> int:
    """Run blocks; returns the number of the first block that has not run."""
    run = rest()
    run.executed = run.accesses = run.sectors = 0
    reached = run.all_blocks(ids)
    counts.add(run)
    return reached


__all__ = ["ExecutedCounts", "FullLaunch", "run_and_trace"]
