"""Loops of which only the first iterations and the last are simulated.

Blocks of a matrix product share what they read with all others of a wave, so a sample needs whole waves. It can have
fewer iterations instead, where all warps repeat one loop many times. Two lengths show what one iteration costs once the
loop's pipeline is full, and all others cost that (Photon, MICRO 2023, rests on the same regularity of basic blocks).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from memsim.trace.bits import popcounts
from memsim.trace.schema import EXPLICIT, NO_OP, Chunk, Flag

LENGTHS = 5, 10  # iterations that are simulated before the last
LEAST = 3 * LENGTHS[1]  # iterations from which on it is worth while


@dataclass(frozen=True)
class MainLoop:
    """The innermost loop with the most memory instructions in one team of blocks.

    Attributes:
        op: a static instruction that its iterations begin with.
        iterations: of each warp.
    """

    op: int
    iterations: int


def main_loop(chunk: Chunk, least: int = LEAST) -> MainLoop | None:
    """The loop of one team's rows; None if its warps do not repeat the same `least` times.

    Warps that wait for each other by mbarriers are not cut, since arrivals and waits lie in different iterations.
    """
    if chunk.phase.any():
        return None
    n_warps = len(chunk.first_instruction) - 1
    warps = _warps(chunk)
    accesses = chunk.op != NO_OP
    if not accesses.any():
        return None
    op = int(np.bincount(chunk.op[accesses]).argmax())
    counts = np.bincount(warps[chunk.op == op], minlength=n_warps)
    if counts.min() != counts.max() or counts[0] < least:
        return None
    shorter = shortened(chunk, op, LENGTHS[0])
    barriers = [np.bincount(_warps(one)[_is_barrier(one)], minlength=n_warps) for one in (chunk, shorter)]
    if np.ptp(barriers[0] - barriers[1]):
        return None
    return MainLoop(op, int(counts[0]))


def shortened(chunk: Chunk, op: int, iterations: int) -> Chunk:
    """The rows without those between so many iterations and the last one, which begin with a static instruction."""
    at = np.flatnonzero(chunk.op == op)
    first = np.searchsorted(at, chunk.first_instruction)  # of each warp, in `at`
    addresses_before = _before(np.where(chunk.stride == EXPLICIT, popcounts(chunk.mask), 0))
    rows, addresses = np.ones(len(chunk.op), bool), np.ones(len(chunk.addresses), bool)
    dropped = np.zeros((2, len(first) - 1), np.int64)  # rows and addresses of each warp
    for warp, (begin, end) in enumerate(pairwise(first.tolist())):
        if end - begin > iterations + 1:
            lost = slice(at[begin + iterations], at[end - 1])  # what is left out of a warp lies together
            lost_addresses = slice(addresses_before[lost.start], addresses_before[lost.stop])
            rows[lost] = addresses[lost_addresses] = False
            dropped[:, warp] = lost.stop - lost.start, lost_addresses.stop - lost_addresses.start
    columns = {
        name: getattr(chunk, name)[rows]
        for name in chunk.__dataclass_fields__
        if name not in ("warps", "first_instruction", "first_address", "addresses")
    }
    return replace(
        chunk,
        first_instruction=chunk.first_instruction - _before(dropped[0]),
        first_address=chunk.first_address - _before(dropped[1]),
        addresses=chunk.addresses[addresses],
        **columns,
    )


def _before(counts: np.ndarray) -> np.ndarray:
    """The sum of those before each position, and of all."""
    return np.concatenate([[0], np.cumsum(counts)])


def _warps(chunk: Chunk) -> np.ndarray:
    """The warp of each row, from 0."""
    return np.repeat(np.arange(len(chunk.first_instruction) - 1), np.diff(chunk.first_instruction))


def _is_barrier(chunk: Chunk) -> np.ndarray:
    return (chunk.flags & Flag.barrier) != 0
