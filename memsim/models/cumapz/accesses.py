"""Goes through a program's accesses, block by block, and counts what the equations need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np

from memsim.gpu.config import GPU
from memsim.models.cumapz.loops import count_bank_passes, move_bytes
from memsim.models.cumapz.program import CumapzProgram, Index, Threads
from memsim.trace import coalesce_loop
from memsim.trace.coalescing_rules import make_rules
from memsim.trace.schema import OpKind, Space, StaticInstruction

HALF, WARP = 16, 32  # lanes whose accesses are looked at together, and lanes that take a branch together
_AT_ONCE = 1 << 20  # threads
_FIRST = 1 << 28  # address of an array: fetches may begin before it, and no address is negative
_BLOCK_STRIDE = 1 << 40  # of two blocks' keys; no array has more elements
SUMS = ("reused", "bytes_buffered", "bytes_moved", "bytes_requested", "shared", "passes", "diverged")  # of Counted


@dataclass
class CountedAccesses:
    """What a program accesses, whole grid.

    Attributes:
        reused: accesses that a buffer serves.
        bytes_buffered: transferred by fetches (equation 1).
        bytes_moved, bytes_requested: transferred, and asked for, by all accesses to global memory (equation 3).
        shared, passes: accesses of half-warps to shared memory, and the passes that they take (equation 6).
        diverged: warps and references, of which some lanes are served by a buffer and others are not (equation 7).
        touched: b1 [first blocks, channels], whether a block reaches a channel in its first phase.
    """

    touched: np.ndarray
    reused: int = 0
    bytes_buffered: int = 0
    bytes_moved: int = 0
    bytes_requested: int = 0
    shared: int = 0
    passes: int = 0
    diverged: int = 0


class AccessPurpose(Enum):
    """What an access is for."""

    fetch = "fetch"  # from global memory, and to the same lanes' places in a buffer
    reference = "reference"  # to a buffer by the lanes that it serves, to global memory by the others
    scratch = "scratch"  # to shared memory that buffers nothing


class PhaseAccess(NamedTuple):
    """A fetch, or a reference, as some blocks execute it in one phase; arrays are [blocks, steps, threads].

    Attributes:
        part: what it is for.
        number: among the program's references, or those of scratch memory.
        array: of global memory.
        elements, missed: of the array, and which lanes access it.
        words, served: elements of shared memory, and which lanes access it.
    """

    part: AccessPurpose
    number: int
    array: str
    elements: np.ndarray
    words: np.ndarray
    served: np.ndarray
    missed: np.ndarray


def count(program: CumapzProgram, gpu: GPU, first_blocks: int) -> CountedAccesses:
    """Go through all blocks, except those that are like others.

    Args:
        first_blocks: whose channels are noted.
    """
    counted = CountedAccesses(np.zeros((first_blocks, gpu.dram.channels), bool))
    meter = _Meter(gpu, program.element_bytes)
    for blocks in _batches(program):
        part = CountedAccesses(np.zeros((first_blocks, gpu.dram.channels), bool))
        split = np.zeros((len(program.references), len(blocks), -(-program.threads // WARP)), bool)
        for phase in range(program.phases):
            for access in walk(program, blocks, phase):
                _add(part, meter, access, split)
        part.diverged = int(split.sum())
        for name in SUMS:
            setattr(counted, name, getattr(counted, name) + program.alike * getattr(part, name))
    _note_channels(program, gpu, counted.touched)
    return counted


def _batches(program: CumapzProgram) -> Iterator[np.ndarray]:
    """Linear numbers of the blocks that are gone through."""
    rows = np.arange(0, program.grid[1], program.alike)
    blocks = (rows[:, None] * program.grid[0] + np.arange(program.grid[0])).ravel()
    steps = [one.steps for one in program.references] + [one.steps for one in program.scratch]
    size = max(_AT_ONCE // (program.threads * max(steps, default=1)), 1)
    for begin in range(0, len(blocks), size):
        yield blocks[begin : begin + size]


@dataclass
class _Meter:
    """The compiled loops with the room that they need."""

    gpu: GPU
    width: int
    _room: tuple[np.ndarray, ...] = field(init=False)

    def __post_init__(self) -> None:
        op = StaticInstruction(OpKind.load, Space.global_, self.width, 0, 0, 0, "", "")
        self._rule = make_rules([op], self.gpu)
        self._scratch = np.full(coalesce_loop.SCRATCH_SHAPE, coalesce_loop.EMPTY, np.int64)
        self._position = np.zeros(1, coalesce_loop.POSITION)
        self._lines = np.empty(coalesce_loop.MOST_TRANSACTIONS, np.int64)
        self._masks = np.empty(coalesce_loop.MOST_TRANSACTIONS, np.uint8)
        self._line_shift = (self.gpu.l1.line_bytes // 32).bit_length() - 1

    def moved(self, elements: np.ndarray, active: np.ndarray) -> tuple[int, int]:
        """Bytes transferred and asked for, of elements of global memory."""
        return move_bytes(
            _halves(elements * self.width + _FIRST), _halves(active), self._rule, self._line_shift, self._position,
            self._scratch, self._lines, self._masks,
        )  # fmt: skip

    def passes(self, elements: np.ndarray, active: np.ndarray) -> tuple[int, int]:
        """Half-warps' accesses and their passes, of elements of shared memory."""
        return count_bank_passes(_halves(elements * self.width), _halves(active), self.width, HALF, self._scratch)


def _halves(values: np.ndarray) -> np.ndarray:
    """[blocks, steps, threads] as [half-warps, 16]; lanes beyond a block's last thread are zeros."""
    short = -values.shape[2] % HALF
    return np.ascontiguousarray(np.pad(values, ((0, 0), (0, 0), (0, short)))).reshape(-1, HALF)


def _evaluated(index: Index, where: Index | None, threads: Threads) -> tuple[np.ndarray, np.ndarray]:
    """(elements, active), both [blocks, steps, threads]."""
    shape = np.broadcast_shapes(*(one.shape for one in threads))
    elements = np.broadcast_to(index(threads), shape)
    return elements, np.broadcast_to(where(threads) if where else True, shape)


def walk(program: CumapzProgram, blocks: np.ndarray, phase: int) -> Iterator[PhaseAccess]:
    """What some blocks do in one phase: fill the buffers, then execute the references, then those of scratch memory.

    Args:
        blocks: i8 [blocks], linear numbers.
    """
    held = _Held(len(blocks))
    threads = program.at(blocks, phase, 1)
    for buffer in program.buffers:
        for fetch in buffer.fetches:
            elements, active = _evaluated(fetch.index, fetch.where, threads)
            words = _evaluated(fetch.place, None, threads)[0] + buffer.base
            held.add(buffer.array, elements, words, active)
            yield PhaseAccess(AccessPurpose.fetch, 0, buffer.array, elements, words, served=active, missed=active)
    for number, reference in enumerate(program.references):
        if not reference.last or phase == program.phases - 1:
            threads = program.at(blocks, phase, reference.steps)
            elements, active = _evaluated(reference.index, reference.where, threads)
            words, served = held.find(reference.array, elements, active)
            yield PhaseAccess(
                AccessPurpose.reference, number, reference.array, elements, words, served, active & ~served
            )
    for number, scratch in enumerate(program.scratch):
        words, active = _evaluated(scratch.index, scratch.where, program.at(blocks, phase, scratch.steps))
        yield PhaseAccess(AccessPurpose.scratch, number, "", words, words, active, np.zeros_like(active))


class _Held:
    """What the buffers of some blocks hold, by array."""

    def __init__(self, blocks: int) -> None:
        self._keys = np.arange(blocks)[:, None, None] * _BLOCK_STRIDE
        self._held: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def add(self, array: str, elements: np.ndarray, words: np.ndarray, active: np.ndarray) -> None:
        """Elements and their places in shared memory; what a buffer holds already keeps its place."""
        keys, words = (self._keys + elements)[active], words[active]
        if array in self._held:
            keys, words = (np.concatenate(both) for both in zip(self._held[array], (keys, words), strict=True))
        every, first = np.unique(keys, return_index=True)
        self._held[array] = every, words[first]

    def find(self, array: str, elements: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places of elements, and which of the active lanes find theirs."""
        if array not in self._held:
            return np.zeros_like(elements), np.zeros_like(active)
        keys, words = self._held[array]
        keys_sought = self._keys + elements
        at = np.minimum(np.searchsorted(keys, keys_sought), len(keys) - 1)
        return words[at], active & (keys[at] == keys_sought)


def _add(counted: CountedAccesses, meter: _Meter, access: PhaseAccess, split: np.ndarray) -> None:
    """Count one access; note in `split`, b1 [references, blocks, warps], which warps diverge."""
    moved, requested = meter.moved(access.elements, access.missed)
    groups, passes = meter.passes(access.words, access.served)
    counted.bytes_moved += moved
    counted.bytes_requested += requested
    counted.shared += groups
    counted.passes += passes
    if access.part == AccessPurpose.fetch:
        counted.bytes_buffered += moved
    elif access.part == AccessPurpose.reference:
        counted.reused += int(access.served.sum())
        split[access.number] |= (_by_warp(access.served) & _by_warp(access.missed)).any(axis=1)


def _by_warp(lanes: np.ndarray) -> np.ndarray:
    """Whether any lane of a warp: b1 [blocks, steps, warps]."""
    return np.logical_or.reduceat(lanes, np.arange(0, lanes.shape[2], WARP), axis=2)


def _note_channels(program: CumapzProgram, gpu: GPU, touched: np.ndarray) -> None:
    """The channels that the first blocks access in their first phase, past the buffers."""
    blocks = np.arange(min(len(touched), program.blocks))
    accesses = [(fetch.index, fetch.where, 1) for buffer in program.buffers for fetch in buffer.fetches]
    buffered = {buffer.array for buffer in program.buffers}
    accesses += [(one.index, one.where, one.steps) for one in program.references if one.array not in buffered]
    for index, where, steps in accesses:
        elements, active = _evaluated(index, where, program.at(blocks, 0, steps))
        channel = elements * program.element_bytes // gpu.dram.interleave_bytes % gpu.dram.channels
        block = np.broadcast_to(blocks[:, None, None], channel.shape)
        touched[block[active], channel[active]] = True
