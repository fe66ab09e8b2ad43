"""Merges what a program's threads did into the instructions of its warps: the log's messages in, chunks out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from memsim.sources.batch_log import BatchLog
from memsim.sources.capture.accesses import Memory, Ops, Out, Sites
from memsim.sources.capture.lane_log import Array, Blocks, Free, Launch, Message, Part, Records, Variant
from memsim.sources.capture.merge_loop import BEGUN, MESSAGE_WORDS, TURN, merge_warps, merge_window
from memsim.sources.capture.ops import AccessOps, static_op
from memsim.sources.capture.parts import Parts, Place
from memsim.sources.capture.positions import (
    BAD_BLOCK,
    BAD_WORD,
    DONE,
    LANE,
    STARVED,
    TOO_DEEP,
    TOO_MANY_OPS,
    WARP_SIZE,
)
from memsim.sources.capture.records import HEADER_WORDS, find_records, merge_records
from memsim.sources.capture.sites import Site
from memsim.sources.capture.tables import WINDOWS, ArrayTable, SiteTable
from memsim.sources.rows import STATE
from memsim.support.compiled import loading_loops
from memsim.support.errors import InputError
from memsim.trace.schema import NO_OP, ArrayInfo, Chunk, LaunchShape, Space, StaticOp

SHARED_ALIGNMENT = 16  # of the widest vector access
WINDOW_WORDS = 1 << 13  # of each lane of a long block's warp that are merged by one call
PIECE_ROWS = 1 << 17  # of a long block's instructions that are handed on together
DEEPEST = 16  # calls a lane can be in at first


class Merger:
    """The state of a capture: the program's sites and arrays, and the trace of the launch under way.

    Messages go to :meth:`take`, in the order in which they come; blocks come back as chunks of their launch's trace,
    and so do the records of a GPU from :meth:`records`. A block that comes in parts is kept in a file until its end,
    and comes back from :meth:`joined`.

    Args:
        sites: the front end's table.
        gaps: whether instructions get the estimated number of arithmetic instructions before them.
        program: named in messages.
        unroll: iterations that a compiler puts before a back-edge of a counted loop, where the source does not say.
        folder: where the file is made that keeps a long block.
    """

    def __init__(
        self,
        sites: Sequence[Site],
        gaps: bool = False,
        program: str = "the program",
        unroll: int = 1,
        folder: Path = Path(),
    ) -> None:
        self._program = program
        self._sites, self._arrays = SiteTable(sites, gaps, unroll), ArrayTable()
        self._log = BatchLog()
        self._parts = Parts(folder)
        self._lane, self._turn = np.zeros(WARP_SIZE + 1, LANE), np.zeros(TURN, np.int64)
        self._calls = np.zeros((WARP_SIZE + 1, DEEPEST), np.int32)
        self._group, self._barrier = np.empty((3, WARP_SIZE), np.int64), np.empty(2, np.uint32)
        n_sites = len(self._sites.loop().gap)
        self._scratch = (  # of Out, from `issued` on: what is known of the warp under way, and room
            *np.empty((2, n_sites), np.int32),
            *np.empty((2, WARP_SIZE), np.int64),
            np.empty(WARP_SIZE, np.bool_),
        )
        self._launch: Launch | None = None
        self._begin()

    def _begin(self) -> None:
        """A new trace."""
        self._ops = AccessOps()
        self._shared: dict[int, int] = {}  # array -> start in the block's shared memory
        self._shared_bytes = 0
        self._n_warps = 0

    def take(self, message: Message) -> Chunk | None:
        """Use a message; blocks come back as a chunk of the trace.

        Raises:
            InputError: the message makes no sense; the log is not what memsim's probes write.
        """
        match message:
            case Blocks():
                return self.blocks(message)
            case Part():
                self._add_part(message.words)
            case Launch():
                self._launch = message
                self._begin()
                if message.again:
                    self._arrays.forget()  # those of the program's end; those of the launch follow
            case Array():
                number = self._arrays.add(message)
                if message.space is Space.shared:  # as its declaration is passed, and so in every block, used or not
                    self._place_shared(number)
            case Free():
                self._arrays.free(message)
            case Variant():
                try:
                    self._sites.add(message)
                except ValueError as error:
                    raise self._foreign(str(error)) from None
        return None

    @property
    def ops(self) -> list[StaticOp]:
        """Static ops of the trace so far."""
        place = {number: k for k, number in enumerate(self._ops.arrays)}
        table = []
        for access, array in self._ops.made.tolist():
            site, width = self._sites.accesses[access]
            space = self._arrays.known[array].space
            table.append(static_op(self._sites.by_id[site], width, space, place[array]))
        return table

    @property
    def arrays(self) -> list[ArrayInfo]:
        """The arrays that were accessed so far, in the order in which they came to be."""
        return [self._arrays.info(number, self._shared.get(number, 0)) for number in self._ops.arrays]

    def launch_shape(self, registers: int = 32, shared_bytes: int | None = None) -> LaunchShape:
        """The launch, with the registers of a thread and the shared memory of a block.

        Args:
            registers: as the compiler reports them.
            shared_bytes: static ones, as the compiler reports them; None: those of the arrays declared.
        """
        assert self._launch is not None
        dynamic = self._launch.dynamic_shared
        seen = any(self._arrays.known[number].dynamic for number in self._shared)
        static = self._shared_bytes - (dynamic if seen else 0) if shared_bytes is None else shared_bytes
        return LaunchShape(
            self._launch.grid, self._launch.block, registers=registers, shared_bytes=max(0, static) + dynamic
        )

    def blocks(self, message: Blocks) -> Chunk:
        """The instructions of some blocks' warps; they continue those of the blocks before."""
        assert self._launch is not None
        shape = self.launch_shape()
        if (message.words[message.starts[:-1] + 1] != shape.threads_per_block).any():
            raise self._foreign("a block has too many threads, or too few")
        if message.ids.min() < 0 or message.ids.max() >= shape.n_blocks:
            raise self._foreign("a block is outside the grid")
        n_warps = len(message.ids) * shape.warps_per_block
        self._log.clear()
        self._merge(message, n_warps, shape.warps_per_block)
        return self._next_warps(n_warps)

    def is_in_parts(self, message: Blocks) -> bool:
        """Whether these are one block, the last part of it."""
        return self._parts.holds(int(message.ids[0]))

    def joined(self, message: Blocks) -> Iterator[Chunk]:
        """The instructions of a block whose parts came before, this message the last of them.

        Each chunk has the next of them, its warps numbered as in the trace: most have none there.
        """
        self._add_part(message.words[message.starts[0] : message.starts[1] - MESSAGE_WORDS], last=True)
        shape, parts, block = self.launch_shape(), self._parts, int(message.ids[0])
        if parts.n_threads(block) != shape.threads_per_block or not 0 <= block < shape.n_blocks:
            raise self._foreign("a block outside the grid, or with too many threads or too few")
        n_warps = shape.warps_per_block
        state, words = np.zeros((n_warps, STATE), np.int64), np.empty((WARP_SIZE, WINDOW_WORDS), np.int64)
        self._log.clear()
        for warp in range(n_warps):
            places = [Place() for _ in range(min(WARP_SIZE, shape.threads_per_block - warp * WARP_SIZE))]
            self._lane["at"] = self._lane["stop"] = self._turn[BEGUN] = 0
            result = STARVED
            while result == STARVED:
                if self._log.cursor[0] >= PIECE_ROWS:
                    yield self._chunk(n_warps)
                    self._log.clear()
                self._refill(words, block, places, warp * WARP_SIZE)
                result = self._merge_window(words.ravel(), warp, block * n_warps + warp, len(places), state)
            self._check(result)
        parts.forget(block)
        yield self._next_warps(n_warps)

    def records(self, message: Records, blocks: range) -> Chunk:
        """The instructions of the blocks that a GPU was asked for, all at once."""
        assert self._launch is not None
        for window in WINDOWS:
            self._arrays.add(window)
        shape, words = self.launch_shape(), message.words
        starts, warps = np.empty((2, len(words) // HEADER_WORDS), np.int64)
        n = find_records(words, blocks.start, len(blocks), shape.warps_per_block, starts, warps)
        if n < 0:
            raise self._foreign("records outside the blocks asked for")
        n_warps, n_lanes = len(blocks) * shape.warps_per_block, (len(words) - HEADER_WORDS * n) // 2
        order, first_warp = np.argsort(warps[:n], kind="stable"), blocks.start * shape.warps_per_block
        self._log.clear()
        self._log.reserve(n + n_lanes, n_lanes)
        scratch, barrier = np.empty((2, WARP_SIZE), np.int64), np.empty(2, np.uint32)
        tables, out = self._tables(), self._out(np.zeros((n_warps, STATE), np.int64))
        self._check(merge_records(words, starts, warps, order, first_warp, *tables, out, *scratch, barrier))
        return self._next_warps(n_warps)

    def close(self) -> None:
        """Remove the file of long blocks."""
        self._parts.close()

    def _next_warps(self, n_warps: int) -> Chunk:
        """What was logged, with which the next warps of the trace are whole."""
        chunk = self._chunk(n_warps)
        self._n_warps += n_warps
        return chunk

    def _chunk(self, n_warps: int) -> Chunk:
        """What was logged of the next warps of the trace."""
        chunk = self._log.sorted_by_warp(n_warps, self._n_warps)
        self._move_shared(chunk)
        return chunk

    def _add_part(self, words: np.ndarray, last: bool = False) -> None:
        try:
            self._parts.add(words, last)
        except ValueError as error:
            raise self._foreign(str(error)) from None

    def _merge(self, message: Blocks, n_warps: int, warps_per_block: int) -> None:
        """Log the warps' instructions."""
        progress, first_warp = np.zeros(1, np.int64), message.ids * warps_per_block
        self._log.reserve(len(message.words), len(message.words))
        self._turn[BEGUN] = 0
        where = message.words, message.starts, first_warp, progress, self._turn
        tables, out = self._tables(), self._out(np.zeros((n_warps, STATE), np.int64))
        result = TOO_DEEP
        while result == TOO_DEEP:
            result = merge_warps(*where, *tables, out, self._lane, self._calls, self._group, self._barrier)
            if result == TOO_DEEP:
                self._deepen()
        self._check(result)

    def _merge_window(self, words: np.ndarray, warp: int, number: int, n_lanes: int, state: np.ndarray) -> int:
        """Log what a warp of a long block does until a lane has no more words here."""
        self._log.reserve(len(words), len(words))
        where = words, warp, number, n_lanes, self._turn
        tables, out = self._tables(), self._out(state)
        result = TOO_DEEP
        while result == TOO_DEEP:
            result = merge_window(*where, *tables, out, self._lane, self._calls, self._group, self._barrier)
            if result == TOO_DEEP:
                self._deepen()
        return int(result)

    def _deepen(self) -> None:
        """Room for twice as many calls in one another."""
        self._calls = np.hstack([self._calls, np.zeros_like(self._calls)])

    def _refill(self, words: np.ndarray, block: int, places: Sequence[Place], first_thread: int) -> None:
        """Read the next words of the lanes that have none left here."""
        for i, place in enumerate(places):
            lane = self._lane[i]
            if lane["at"] == lane["stop"]:
                lane["at"] = i * WINDOW_WORDS
                lane["stop"] = lane["at"] + self._parts.read(block, first_thread + i, place, words[i])
                lane["more"] = not self._parts.is_read(block, place)

    def _tables(self) -> tuple[Sites, Memory, Ops]:
        """What the compiled loops look up."""
        n_accesses = len(self._sites.accesses)
        ops = self._ops.loop(n_accesses, len(self._arrays.known))
        return self._sites.loop(), self._arrays.loop(n_accesses), ops

    def _out(self, state: np.ndarray) -> Out:
        """Where the compiled loops log instructions of warps with a state."""
        return Out(self._log.rows, self._log.addresses, self._log.cursor, state, *self._scratch)

    def _check(self, result: int) -> None:
        """Raise what a compiled loop returned, unless it is done."""
        if result == TOO_MANY_OPS:
            raise InputError(self._program, "kernel", f"accesses more than {NO_OP} pairs of expression and array")
        if result != DONE:
            wrong = {BAD_BLOCK: "threads' words overlap", BAD_WORD: "a variant or mark nobody announced"}
            raise self._foreign(wrong[result])

    def _place_shared(self, number: int) -> None:
        """Give a shared array a place in the block's memory, behind those that have one."""
        if number not in self._shared:
            array = self._arrays.known[number]
            self._shared[number] = -(-self._shared_bytes // SHARED_ALIGNMENT) * SHARED_ALIGNMENT
            self._shared_bytes = self._shared[number] + (0 if array in WINDOWS else array.bytes)

    def _move_shared(self, chunk: Chunk) -> None:
        """Move accesses of shared arrays to their places; one declared outside of kernels gets it when it is used."""
        for number in self._ops.arrays:
            if self._arrays.known[number].space is Space.shared:
                self._place_shared(number)
        if any(self._shared.values()):
            starts = np.zeros(NO_OP + 1, np.uint64)
            starts[: len(self._ops.made)] = [self._shared.get(array, 0) for array in self._ops.made[:, 1].tolist()]
            chunk.base[:] += starts[chunk.op]

    def _foreign(self, what: str) -> InputError:
        return InputError(self._program, "log", f"is not what memsim's probes write: {what}")


def load_loops() -> None:
    """Merge a block of one idle thread, which compiles the loops or reads them from Numba's cache."""
    merger = Merger([])
    merger.take(Launch("", "", 0, 0, grid=(1, 1, 1), block=(1, 1, 1)))
    number_and_thread, no_words, next_header = [0, 1], [0, 0], [0, 0]
    words = np.array([*number_and_thread, *no_words, *next_header])
    with loading_loops():
        merger.blocks(Blocks(np.zeros(1, np.int64), words, np.array([0, len(words)])))
