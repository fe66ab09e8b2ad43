"""A program of references as a kernel that runs: one function for all programs and versions.

The model's input about a program says which element every thread accesses when, and whether shared memory serves it;
that is all a trace needs. Values are zeros. Computation is an instruction an access for its address, one for what is
done with a loaded value, and the branches of accesses by some lanes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby

import numpy as np

from experiments.cumapz2011.programs import version_of
from memsim import Launch, Thread, workload
from memsim.models.cumapz import CumapzProgram
from memsim.models.cumapz.accesses import AccessPurpose, PhaseAccess, walk

BEFORE = 1 << 12  # elements; a whole turn of the channels, for references to elements before an array
ELEMENTS = 1 << 24  # of every array: zeros that are never written take no memory


class _Block:
    """The lanes of the blocks that run, as the accesses' arrays have them."""

    def __init__(self, t: Thread, program: CumapzProgram) -> None:
        self._t, self._program = t, program
        self._here = t.thread_idx.x >= 0
        self._nought = t.thread_idx.x * 0
        numbers = t.block_idx.y * program.grid[0] + t.block_idx.x
        self._warps = -(-program.threads // 32)
        self.blocks = numbers.data[:: self._warps, 0].astype(np.int64)

    def _matrix(self, values: np.ndarray) -> np.ndarray:
        """[blocks, threads] as [warps, lanes]."""
        padded = np.pad(values, ((0, 0), (0, self._warps * 32 - values.shape[1])))
        return np.ascontiguousarray(padded.reshape(-1, 32))

    def number(self, values: np.ndarray, step: int):  # noqa: ANN201 (lanes)
        """Elements [blocks, steps, threads] of one step, as lanes."""
        return self._nought + self._matrix(values[:, min(step, values.shape[1] - 1)])

    @contextmanager
    def where(self, active: np.ndarray, step: int) -> Iterator[bool]:
        """The region of the lanes that do something in one step; whether there are any."""
        chosen = active[:, min(step, active.shape[1] - 1)]
        if chosen.all() or not chosen.any():
            yield bool(chosen.any())
        else:
            with self._t.where(self._here & self._matrix(chosen)):
                yield True


def kernel(t: Thread, program: CumapzProgram, unrolled: bool, static: bool, **arrays) -> None:
    """Phase by phase: fill the buffers, wait, execute the references of one loop together, then those of scratch."""
    block, value = _Block(t, program), t.var(np.float32(0))
    tile = t.shared(_places(program, AccessPurpose.fetch), np.float32, name="buffers")
    scratch = t.shared(_places(program, AccessPurpose.scratch), np.float32, name="scratch") if program.scratch else tile
    for phase in t.range(program.phases):
        accesses = list(walk(program, block.blocks, phase))
        fill(t, block, [one for one in accesses if one.part == AccessPurpose.fetch], tile, arrays)
        references = [one for one in accesses if one.part == AccessPurpose.reference]
        for steps, together in groupby(references, lambda one: program.references[one.number].steps):
            loop = list(together)
            for step, access in order(t, loop, steps, program, unrolled):
                refer(block, program, access, step, value, tile, arrays[access.array], static)
        for access in (one for one in accesses if one.part == AccessPurpose.scratch):
            for step in t.range(program.scratch[access.number].steps):
                place = block.number(access.words, step)
                with block.where(access.served, step) as any_lane:
                    if any_lane:
                        value += scratch[place]
        if program.phases > 1 and program.buffers:
            t.sync()


def order(
    t: Thread, loop: list[PhaseAccess], steps: int, program: CumapzProgram, unrolled: bool
) -> Iterator[tuple[int, PhaseAccess]]:
    """The accesses of a loop, step by step; unrolled, all loads come first, as where each has a register of its own."""
    if not unrolled:
        yield from ((step, access) for step in t.range(steps) for access in loop)
        return
    for stored in (False, True):
        chosen = [one for one in loop if program.references[one.number].stored == stored]
        yield from ((step, access) for step in range(steps) for access in chosen)


def fill(t: Thread, block: _Block, fetches: list[PhaseAccess], tile, arrays) -> None:
    """Load all that the buffers get, in a row, then store it, then wait for the block."""
    fetched = [t.var(np.float32(0)) for _ in fetches]
    for value, fetch in zip(fetched, fetches, strict=True):
        element = block.number(fetch.elements + BEFORE, 0)
        with block.where(fetch.missed, 0) as any_lane:
            if any_lane:
                value.set(arrays[fetch.array][element])
    for value, fetch in zip(fetched, fetches, strict=True):
        place = block.number(fetch.words, 0)
        with block.where(fetch.missed, 0) as any_lane:
            if any_lane:
                tile[place] = value
    if fetches:
        t.sync()


def refer(
    block: _Block, program: CumapzProgram, access: PhaseAccess, step: int, value, tile, array, static: bool
) -> None:
    """One reference: from the buffer by the lanes that it serves, from global memory by the others.

    Args:
        static: a load from global memory that any lane executes is executed by all, as a count of the code has it.
    """
    missed = access.missed | access.served if static and access.missed.any() else access.missed
    for held, numbers, lanes in (
        (tile, access.words, access.served), (array, access.elements + BEFORE, missed)
    ):  # fmt: skip
        number = block.number(numbers, step)
        with block.where(lanes, step) as any_lane:
            if any_lane and program.references[access.number].stored:
                held[number] = value
            elif any_lane:
                value += held[number]


def _places(program: CumapzProgram, part: AccessPurpose) -> int:
    """Elements of shared memory that fetches, or accesses to scratch memory, need."""
    accesses = walk(program, np.array([0]), program.phases - 1)
    return max((int(one.words[one.served].max()) + 1 for one in accesses if one.part == part), default=1)


@workload
def described(
    program: str = "Laplace", version: str = "[+0][+0]", size: int = 0, unrolled: bool = False,
    static: bool = False,
) -> Launch:  # fmt: skip
    """A version of one of the paper's programs.

    Args:
        program, version: as the paper names them.
        size: of the input; 0: that of programs.py.
        unrolled: whether inner loops are.
        static: see :func:`refer`; for models that count the instructions of the code.
    """
    chosen = version_of(program, version, *([size] if size else []))
    names = {one.array for one in chosen.references} | {one.array for one in chosen.buffers}
    arrays = {name: np.zeros(ELEMENTS, np.float32) for name in sorted(names)}
    return Launch(
        kernel,
        grid=chosen.grid,
        block=chosen.block,
        arguments={"program": chosen, "unrolled": unrolled, "static": static} | arrays,
        registers=chosen.registers,
    )
