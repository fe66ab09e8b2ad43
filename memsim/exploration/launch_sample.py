"""Which blocks of a benchmark's launch are simulated, and how much of their main loop.

The sample runs on the whole GPU. A model with a fraction of the SMs, L2 and channels would not do: all blocks of a
matrix product that run at once read the same tiles, so memory has to read nearly as much for half of them as for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from memsim.exploration.shorter_loops import LEAST, LENGTHS, MainLoop, iterations, main_loop, team_rows
from memsim.gpu.config import GPU
from memsim.sources.ptx.trace import BATCH_BYTES, KernelRun, begin_trace, finish_trace
from memsim.trace.schema import LaunchShape

MOST_ROWS = 60_000  # memory instructions of warps that a sample should have
WHOLE = 8  # times as many, up to which a launch is simulated whole
CUT = 64  # times as many, from which on loops are cut; for samples that should be smaller, fewer times as many
WAVES = 2  # of blocks
PROBES = 4  # teams of blocks, spread over the grid, whose memory instructions are counted
FEW = 10  # iterations of a loop from which on a similar launch shows its time
ALIKE = 1.1  # largest of these counts over the smallest: the grid's blocks do the same
GROUPS = 8  # of blocks with consecutive numbers, which the sample of other grids is made of
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class LaunchSample:
    """What of a launch is simulated.

    Attributes:
        teams: of blocks, by number.
        rows: memory instructions of the teams' warps, all iterations counted.
        loop: that all warps repeat; None: there is none that they repeat often, or the launch is small.
        is_cut: whether only LENGTHS iterations of it are simulated.
    """

    teams: np.ndarray
    rows: float
    loop: MainLoop | None = None
    is_cut: bool = False


@dataclass(frozen=True)
class SampleTrace:
    """A trace of a sample.

    Attributes:
        share: of its blocks' rows that the trace has.
        iterations: of the loop that a warp executes on average.
    """

    path: Path
    share: float
    iterations: float


def choose_sample(run: KernelRun, wave: int, most_rows: int = MOST_ROWS) -> LaunchSample:
    """A sample of a launch.

    A launch without too many memory instructions is taken whole: how L2 is turned over needs all blocks. Of others, two
    waves are taken, as caches are cold in the first one. Where blocks are alike, these are the launch's first; where
    they differ, groups from the whole grid. If they repeat one loop, the launch is taken whole up to many more
    instructions, and larger ones with the loop cut: blocks that differ are alike then, and those of the grid's middle
    are taken.

    Args:
        wave: blocks that the GPU holds at once.
        most_rows: as ``MOST_ROWS``.
    """
    team, n_teams = run.device.team, run.launch.n_blocks // run.device.team
    row = run.launch.grid[0] // run.launch.cluster[0]
    probes = {number: team_rows(run, number) for number in sampled_teams(n_teams, PROBES, PROBES, row).tolist()}
    counts = [max(1, len(chunk.op)) for chunk in probes.values()]
    rows = float(np.mean(counts))
    everything = np.arange(n_teams)
    if n_teams * rows <= WHOLE * most_rows:
        return LaunchSample(everything, n_teams * rows)
    two, one = (min(n_teams, max(1, waves * wave // team)) for waves in (WAVES, 1))
    loop = main_loop(run, probes, FEW) if two * rows > most_rows else None
    cut = loop is not None and loop.iterations >= LEAST
    if cut and n_teams * rows <= CUT * most_rows * min(1, most_rows / MOST_ROWS):
        return LaunchSample(everything, n_teams * rows, loop)
    teams = everything[:two]
    if max(counts) > ALIKE * min(counts):
        if cut:  # all execute as many iterations, but for those that have fewer
            teams = (n_teams - two) // 2 + np.arange(two)
        else:
            teams = sampled_teams(n_teams, two if two * rows <= most_rows else one, GROUPS, row)
    return LaunchSample(teams, len(teams) * rows, loop, cut)


def sampled_teams(n_teams: int, sampled: int, groups: int, row: int) -> np.ndarray:
    """Numbers of the teams of a sample: a few groups of neighbours, spread over the grid in no period.

    Where blocks of different x do different work, as in causal attention, the spread must be even along x, too: each
    group lies in another part of the grid's rows.

    Args:
        row: teams along the grid's x axis.

    >>> sampled_teams(100, 4, groups=8, row=100).tolist()
    [14, 30, 70, 86]
    >>> (sampled_teams(128 * 128, 4, groups=4, row=128) % 128).tolist()
    [80, 16, 112, 48]
    """
    if sampled >= n_teams:
        return np.arange(n_teams)
    groups = min(groups, sampled)
    along = np.argsort(np.argsort(_GOLDEN * np.arange(1, groups + 1) % 1))  # a permutation
    found = []
    for number in range(groups):
        length = sampled * (number + 1) // groups - sampled * number // groups
        first, stop = n_teams * number // groups, n_teams * (number + 1) // groups
        at = first + int((_GOLDEN * (number + 1)) % 1 * (stop - first - length))
        if stop - first >= 2 * row:
            x = (2 * int(along[number]) + 1) * row // (2 * groups) - length // 2
            at = min(max(at // row * row + x, first), stop - length)
        found.append(at + np.arange(length))
    return np.concatenate(found)


def trace_sample(run: KernelRun, folder: Path, gpu: GPU, shape: LaunchShape, sample: LaunchSample) -> list[SampleTrace]:
    """Write the trace of a sample, as if its blocks were the first ones of the launch.

    Args:
        shape: of the launch.

    Returns:
        The trace; where the loop is cut, one for each of LENGTHS.
    """
    shape = replace(shape, grid=(run.launch.n_blocks, 1, 1))
    found = []
    for length in LENGTHS if sample.is_cut else (0,):
        path, rows, repeated = folder / f"sample{length}.h5", 0, 0
        if sample.is_cut:
            run.cut_loop(sample.loop.branch, length)  # type: ignore[union-attr]
        run.device.log.clear()
        with begin_trace(run, path, gpu) as writer:
            for first, ids in _batches(run, sample.teams):
                run.blocks(ids)
                chunk = run.chunk(len(ids), first * run.device.warps)
                rows += len(chunk.op)
                if sample.loop is not None:
                    per_warp = iterations(chunk, sample.loop.op).reshape(len(ids) // run.device.team, -1)
                    repeated += int(per_warp.max(axis=1).sum())
                writer.append(first + np.arange(len(ids)), chunk)
            finish_trace(run, writer, shape)
        found.append(SampleTrace(path, rows / max(sample.rows, 1), repeated / len(sample.teams)))
    run.cut_loop(-1, 0)
    return found


def _batches(run: KernelRun, teams: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Blocks of a sample to run in one go, with the number of the first one in the sample.

    Their log stays below BATCH_BYTES, as the one before shows: a larger one costs more time for new memory than for
    rows.
    """
    team, done, step = run.device.team, 0, 1
    while done < len(teams):
        ids = (teams[done : done + step, None] * team + np.arange(team)).ravel()
        yield done * team, ids
        done += step
        per_team = max(run.device.log.n_bytes // step, 1)
        step = max(1, min(run.batch // team, BATCH_BYTES // per_team))
