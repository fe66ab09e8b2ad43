"""Goes through a program's accesses, block by block, and counts what the equations need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from memsim.config import GPU
from memsim.models.cumapz.loops import count_bank_passes, move_bytes
from memsim.models.cumapz.program import Index, Program, Reference, Threads
from memsim.trace import coalesce_loop
from memsim.trace.coalescing_rules import make_rules
from memsim.trace.schema import Kind, Space, StaticOp

HALF, WARP = 16, 32  # lanes whose accesses are looked at together, and lanes that take a branch together
_AT_ONCE = 1 << 20  # threads
_APART = 1 << 40  # of two blocks' keys; no array has more elements
SUMS = ("reused", "bytes_buffered", "bytes_moved", "bytes_asked", "shared", "passes", "diverged")  # of Counted


@dataclass
class Counted:
    """What a program accesses, whole grid.

    Attributes:
        reused: accesses that a buffer serves.
        bytes_buffered: transferred by fetches (equation 1).
        bytes_moved, bytes_asked: transferred, and asked for, by all accesses to global memory (equation 3).
        shared, passes: accesses of half-warps to shared memory, and the passes that they take (equation 6).
        diverged: warps and references, of which some lanes are served by a buffer and others are not (equation 7).
        touched: b1 [first blocks, channels], whether a block accesses a channel in its first phase.
    """

    touched: np.ndarray
    reused: int = 0
    bytes_buffered: int = 0
    bytes_moved: int = 0
    bytes_asked: int = 0
    shared: int = 0
    passes: int = 0
    diverged: int = 0


def count(program: Program, gpu: GPU, first_blocks: int) -> Counted:
    """Go through all blocks, except those that are like others.

    Args:
        first_blocks: whose channels are noted.
    """
    counted = Counted(np.zeros((first_blocks, gpu.dram.channels), bool))
    meter = _Meter(gpu, program.element_bytes)
    for blocks in _batches(program):
        part = Counted(np.zeros((first_blocks, gpu.dram.channels), bool))
        split = np.zeros((len(program.references), len(blocks), -(-program.threads // WARP)), bool)
        for phase in range(program.phases):
            _Phase(program, gpu, meter, part, blocks, phase).run(split)
        part.diverged = int(split.sum())
        for name in SUMS:
            setattr(counted, name, getattr(counted, name) + program.alike * getattr(part, name))
    _note_channels(program, gpu, counted.touched)
    return counted


def _batches(program: Program) -> Iterator[np.ndarray]:
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
        op = StaticOp(Kind.load, Space.global_, self.width, 0, 0, 0, "", "")
        self._rule = make_rules([op], self.gpu)
        self._scratch = np.full(coalesce_loop.SCRATCH_SHAPE, coalesce_loop.EMPTY, np.int64)
        self._position = np.zeros(1, coalesce_loop.POSITION)
        self._lines = np.empty(coalesce_loop.MOST_TRANSACTIONS, np.int64)
        self._masks = np.empty(coalesce_loop.MOST_TRANSACTIONS, np.uint8)
        self._line_shift = (self.gpu.l1.line_bytes // 32).bit_length() - 1

    def moved(self, elements: np.ndarray, active: np.ndarray) -> tuple[int, int]:
        """Bytes transferred and asked for, of elements of global memory."""
        return move_bytes(
            _halves(elements * self.width), _halves(active), self._rule, self._line_shift, self._position,
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


class _Phase:
    """One phase of some blocks."""

    def __init__(
        self, program: Program, gpu: GPU, meter: _Meter, counted: Counted, blocks: np.ndarray, phase: int
    ) -> None:
        self._program, self._meter, self._counted = program, meter, counted
        self._blocks, self._phase = blocks, phase
        self._keys = np.arange(len(blocks))[:, None, None] * _APART

    def run(self, split: np.ndarray) -> None:
        """Count; note in `split`, b1 [references, blocks, warps], which warps diverge."""
        held = self._fetch()
        for number, reference in enumerate(self._program.references):
            if not reference.last or self._phase == self._program.phases - 1:
                self._refer(reference, held, split[number])
        for access in self._program.scratch:
            threads = self._program.at(self._blocks, self._phase, access.steps)
            self._share(*_evaluated(access.index, access.where, threads))

    def _share(self, places: np.ndarray, active: np.ndarray) -> None:
        """Count accesses to shared memory."""
        groups, passes = self._meter.passes(places, active)
        self._counted.shared += groups
        self._counted.passes += passes

    def _fetch(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Fill the buffers; by array, the keys (block, element) that are held, sorted, and their places."""
        threads = self._program.at(self._blocks, self._phase, 1)
        keys: dict[str, list[np.ndarray]] = {}
        places: dict[str, list[np.ndarray]] = {}
        for buffer in self._program.buffers:
            for fetch in buffer.fetches:
                elements, active = _evaluated(fetch.index, fetch.where, threads)
                place, _ = _evaluated(fetch.place, None, threads)
                place = place + buffer.base
                moved, asked = self._meter.moved(elements, active)
                self._counted.bytes_buffered += moved
                self._counted.bytes_moved += moved
                self._counted.bytes_asked += asked
                self._share(place, active)
                keys.setdefault(buffer.array, []).append((self._keys + elements)[active])
                places.setdefault(buffer.array, []).append(place[active])
        held = {}
        for array in keys:
            every, first = np.unique(np.concatenate(keys[array]), return_index=True)
            held[array] = every, np.concatenate(places[array])[first]
        return held

    def _refer(self, reference: Reference, held: dict[str, tuple[np.ndarray, np.ndarray]], split: np.ndarray) -> None:
        threads = self._program.at(self._blocks, self._phase, reference.steps)
        elements, active = _evaluated(reference.index, reference.where, threads)
        served = np.zeros(elements.shape, bool)
        if reference.array in held:
            keys, places = held[reference.array]
            wanted = self._keys + elements
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            served = active & (keys[at] == wanted)
            self._share(places[at], served)
            self._counted.reused += int(served.sum())
        missed = active & ~served
        moved, asked = self._meter.moved(elements, missed)
        self._counted.bytes_moved += moved
        self._counted.bytes_asked += asked
        split |= (_by_warp(served) & _by_warp(missed)).any(axis=1)


def _by_warp(lanes: np.ndarray) -> np.ndarray:
    """Whether any lane of a warp: b1 [blocks, steps, warps]."""
    return np.logical_or.reduceat(lanes, np.arange(0, lanes.shape[2], WARP), axis=2)


def _note_channels(program: Program, gpu: GPU, touched: np.ndarray) -> None:
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
