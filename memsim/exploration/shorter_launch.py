"""A launch with fewer iterations: the same kernel with a smaller argument.

The loop of a matrix product has as many iterations as an argument says. A launch with a smaller one executes only those
iterations that a sample keeps, instead of all. Which argument that is, and its value, are found by trying; the rows of
a few teams of blocks prove that nothing else depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from memsim.exploration.shorter_loops import LENGTHS, MainLoop, shortened
from memsim.sources.ptx.launch import parameter_bytes, parameter_offsets
from memsim.sources.ptx.trace import KernelRun
from memsim.support.errors import InputError
from memsim.trace.bits import popcounts
from memsim.trace.schema import EXPLICIT, NO_OP, Chunk

PIPELINE = 8  # iterations that load nothing any more, at most
_LARGEST = 1 << 31  # of an argument that counts something; pointers are larger
_UNCOMPARED = ("warps", "base", "addresses", "first_address")  # by _same_accesses


def team_rows(run: KernelRun, number: int) -> Chunk:
    """Memory instructions of the warps of one team of blocks."""
    team = run.device.team
    run.blocks(np.arange(number * team, (number + 1) * team))
    return run.chunk(team, 0)


def shorter_launch(run: KernelRun, loop: MainLoop, teams: Mapping[int, Chunk]) -> bytes | None:
    """The parameters of a launch with hardly more iterations than the longest sample; None: none was found.

    Args:
        teams: rows of whole teams, by number; a shorter launch must have the same, without the iterations left out.
    """
    wanted = {number: shortened(chunk, loop.op, LENGTHS[-1]) for number, chunk in teams.items()}
    try:
        for parameters in _candidates(run, loop, next(iter(teams))):
            run.set_parameters(parameters)
            if all(_is_same(_kept(run, number, loop), chunk, loop.op) for number, chunk in wanted.items()):
                return parameters
    except InputError:
        pass
    finally:
        reset_parameters(run)
    return None


def reset_parameters(run: KernelRun) -> None:
    """Give the launch its own arguments again."""
    run.set_parameters(parameter_bytes(run.launch, run.launch.function))


def _kept(run: KernelRun, number: int, loop: MainLoop) -> Chunk:
    return shortened(team_rows(run, number), loop.op, LENGTHS[-1])


def _candidates(run: KernelRun, loop: MainLoop, number: int) -> Iterator[bytes]:
    """Parameters with one smaller argument each, with which a team should repeat the loop as often as wanted.

    The last iterations of a pipelined loop may load nothing, so that a launch needs some more, which are left out.
    """
    whole = parameter_bytes(run.launch, run.launch.function)
    parameters = run.launch.function.parameters
    for at, one in zip(parameter_offsets(parameters), parameters, strict=True):
        value = int.from_bytes(whole[at : at + one.bytes], "little")
        if one.bytes not in (4, 8) or not loop.iterations <= value < _LARGEST:
            continue

        def smaller(new: int, at: int = at, size: int = one.bytes) -> bytes:
            return whole[:at] + new.to_bytes(size, "little") + whole[at + size :]

        run.set_parameters(smaller(value // 2))
        try:
            fewer = loop.iterations - _iterations(team_rows(run, number), loop.op)
        except InputError:
            continue
        if fewer <= 0:
            continue
        step = (value - value // 2) / fewer
        for more, each in product((0, PIPELINE), sorted({round(step), 1 << round(float(np.log2(step)))})):
            if 0 < (new := value - each * (loop.iterations - LENGTHS[-1] - 1 - more)) < value:
                yield smaller(new)


def _iterations(chunk: Chunk, op: int) -> int:
    """Iterations of the first warp."""
    return int((chunk.op[: chunk.first_instruction[1]] == op).sum())


def _is_same(found: Chunk, wanted: Chunk, op: int) -> bool:
    """Whether the rows are the same, but for the addresses of the last iteration: another one is the last."""
    names = [name for name in wanted.__dataclass_fields__ if name not in _UNCOMPARED]
    if not all(np.array_equal(getattr(found, name), getattr(wanted, name)) for name in names):
        return False
    bounds = wanted.first_instruction
    compared = np.ones(len(wanted.op), bool)
    for first, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        at = first + np.flatnonzero(wanted.op[first:stop] == op)
        repeated = np.isin(wanted.op[at[-1] : stop], wanted.op[at[0] : at[-1]])  # what comes later is new, like stores
        compared[at[-1] : stop] = ~repeated
    compared &= wanted.op != NO_OP
    return bool(np.array_equal(_positions(found)[compared], _positions(wanted)[compared]))


def _positions(chunk: Chunk) -> np.ndarray:
    """What each row accesses: its base, or the sum of its lanes' addresses."""
    lanes = np.where(chunk.stride == EXPLICIT, popcounts(chunk.mask), 0)
    before = np.concatenate([[0], np.cumsum(chunk.addresses, dtype=np.int64)])
    ends = np.cumsum(lanes)
    return np.where(chunk.stride == EXPLICIT, before[ends] - before[ends - lanes], chunk.base)
