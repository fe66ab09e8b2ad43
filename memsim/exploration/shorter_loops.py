"""Loops of which a sample executes a few iterations.

Blocks of a matrix product share what they read with all others of a wave, so a sample needs whole waves. It can have
fewer iterations instead, where all warps repeat one loop many times: the machine leaves the loop early. Two lengths
show what one iteration costs once the loop's pipeline is full, and all others cost that (Photon, MICRO 2023, rests on
the same regularity of basic blocks). Blocks may repeat the loop differently often, as in causal attention: their mean
counts.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memsim.sources.ptx.trace import KernelRun
from memsim.support.errors import InputError
from memsim.trace.schema import NO_OP, Chunk

# Iterations that are executed. A pipelined loop needs some until it is full: of four matrix products of 3840 on an RTX
# 4090, times were up to 24 % too short with 5 and 10, and are up to 4 % too long with these.
LENGTHS = 12, 24
LEAST = 3 * LENGTHS[1]  # iterations from which on it is worth while


@dataclass(frozen=True)
class MainLoop:
    """The innermost loop with the most memory instructions in some teams of blocks.

    Attributes:
        op: a static instruction that each iteration executes once.
        branch: the micro-op that repeats it.
        iterations: of each warp, on average.
        pattern: equal for launches of a kernel whose warps access memory alike, in rows and columns of other lengths.
    """

    op: int
    branch: int
    iterations: float
    pattern: int


def team_rows(run: KernelRun, number: int) -> Chunk:
    """Memory instructions of the warps of one team of blocks."""
    team = run.device.team
    run.blocks(np.arange(number * team, (number + 1) * team))
    return run.chunk(team, 0)


def main_loop(run: KernelRun, teams: Mapping[int, Chunk], least: float = LEAST) -> MainLoop | None:
    """The loop that all warps repeat `least` times on average; None: there is none, or it cannot be cut.

    Args:
        teams: rows of teams of blocks, by number. The warps of a team must repeat the loop equally often, but for those
            that never execute its instruction, as where one warp copies for all.
    """
    if any(one.phase.any() for one in teams.values()):  # waits by mbarriers: not tried
        return None
    counts = sum(np.bincount(one.op[one.op != NO_OP], minlength=NO_OP) for one in teams.values())
    op = int(np.argmax(counts))
    repeated = {number: iterations(one, op) for number, one in teams.items()}
    mean = float(np.mean([one.max() for one in repeated.values()]))
    if mean < least or (branch := run.repeating_branch(op)) is None:
        return None
    if any((one[one > 0] != one.max()).any() for one in repeated.values()):
        return None
    longest = max(repeated, key=lambda number: int(repeated[number].max()))
    run.cut_loop(branch, LENGTHS[0])
    try:
        cut = team_rows(run, longest)
    except InputError:  # other warps wait for what this loop does
        return None
    finally:
        run.cut_loop(-1, 0)
    executed = iterations(cut, op)
    if (executed[executed > 0] != LENGTHS[0]).any():  # warps come to the loop again
        return None
    if not np.array_equal(np.unique(cut.op), np.unique(teams[longest].op)):  # what follows the branch is another place
        return None
    return MainLoop(op, branch, mean, zlib.crc32(np.stack([cut.op, cut.mask, cut.stride]).tobytes()))


def iterations(chunk: Chunk, op: int) -> np.ndarray:
    """How often each warp executes a static instruction."""
    n_warps = len(chunk.first_instruction) - 1
    warps = np.repeat(np.arange(n_warps), np.diff(chunk.first_instruction))
    return np.bincount(warps[chunk.op == op], minlength=n_warps)
