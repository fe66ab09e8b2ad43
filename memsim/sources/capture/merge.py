"""Merges what a program's threads did into the instructions of its warps: the log's messages in, chunks out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memsim.sources.batch_log import BatchLog
from memsim.sources.capture.accesses import Memory, Ops, Out, Sites
from memsim.sources.capture.lane_log import Array, Blocks, Free, Launch, Message, Records, Variant
from memsim.sources.capture.merge_loop import merge_warps
from memsim.sources.capture.ops import AccessOps, static_op
from memsim.sources.capture.positions import BAD_BLOCK, BAD_WORD, DONE, LANE, TOO_DEEP, TOO_MANY_OPS, WARP_SIZE
from memsim.sources.capture.records import HEADER_WORDS, find_records, merge_records
from memsim.sources.capture.sites import Site
from memsim.sources.capture.tables import WINDOWS, ArrayTable, SiteTable
from memsim.sources.rows import STATE
from memsim.support.compiled import loading_loops
from memsim.support.errors import InputError
from memsim.trace.schema import NO_OP, ArrayInfo, Chunk, LaunchShape, Space, StaticOp

SHARED_ALIGNMENT = 16  # of the widest vector access
PIECE_WORDS = 1 << 20  # merged by one call; the words of a longer block are merged warp by warp
DEEPEST = 16  # calls a lane can be in at first


class Merger:
    """The state of a capture: the program's sites and arrays, and the trace of the launch under way.

    Messages go to :meth:`take`, in the order in which they come; blocks come back as chunks of their launch's trace,
    and so do the records of a GPU from :meth:`records`.

    Args:
        sites: the front end's table.
        gaps: whether instructions get the estimated number of arithmetic instructions before them.
        program: named in messages.
        unroll: iterations that a compiler puts before a back-edge of a counted loop, where the source does not say.
    """

    def __init__(
        self, sites: Sequence[Site], gaps: bool = False, program: str = "the program", unroll: int = 1
    ) -> None:
        self._program = program
        self._sites, self._arrays = SiteTable(sites, gaps, unroll), ArrayTable()
        self._log = BatchLog()
        self._calls = np.zeros((WARP_SIZE + 1, DEEPEST), np.int32)
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
            case Launch():
                self._launch = message
                self._begin()
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
        return self._chunk(n_warps)

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
        return self._chunk(n_warps)

    def _chunk(self, n_warps: int) -> Chunk:
        """What was logged, as the next warps of the trace."""
        chunk = self._log.sorted_by_warp(n_warps, self._n_warps)
        self._n_warps += n_warps
        self._move_shared(chunk)
        return chunk

    def _merge(self, message: Blocks, n_warps: int, warps_per_block: int) -> None:
        """Log the warps' instructions, all by one call unless that took too much room."""
        state, progress = np.zeros((n_warps, STATE), np.int64), np.zeros(1, np.int64)
        first_warp, whole = message.ids * warps_per_block, len(message.words) <= PIECE_WORDS
        lane, group, barrier = np.zeros(WARP_SIZE + 1, LANE), np.empty((3, WARP_SIZE), np.int64), np.empty(2, np.uint32)
        while (warp := int(progress[0])) < n_warps:
            n_words = len(message.words) if whole else _words_of_warp(message, *divmod(warp, warps_per_block))
            last = n_warps if whole else warp + 1
            self._log.reserve(n_words, n_words)
            where = message.words, message.starts, first_warp, progress, last
            tables, out = self._tables(), self._out(state)
            result = merge_warps(*where, *tables, out, lane, self._calls, group, barrier)
            if result == TOO_DEEP:
                self._calls = np.zeros((WARP_SIZE + 1, 2 * self._calls.shape[1]), np.int32)
            else:
                self._check(result)

    def _tables(self) -> tuple[Sites, Memory, Ops]:
        """What the compiled loops look up."""
        n_accesses = len(self._sites.accesses)
        ops = self._ops.loop(n_accesses, len(self._arrays.known))
        return self._sites.loop(), self._arrays.loop(n_accesses), ops

    def _out(self, state: np.ndarray) -> Out:
        """Where the compiled loops log instructions of warps with a state."""
        return Out(
            self._log.rows,
            self._log.addresses,
            self._log.cursor,
            state,
            issued=np.empty(len(self._sites.loop().gap), np.int32),
            latched=np.empty(len(self._sites.loop().gap), np.int32),
            some=np.empty(WARP_SIZE, np.int64),
            place=np.empty(WARP_SIZE, np.int64),
            left=np.empty(WARP_SIZE, np.bool_),
        )

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


def _words_of_warp(message: Blocks, block: int, warp: int) -> int:
    """How many words the threads of a warp have."""
    start = int(message.starts[block])
    offsets = message.words[start + 2 : start + 3 + int(message.words[start + 1])]
    of_warp = offsets[warp * WARP_SIZE : (warp + 1) * WARP_SIZE + 1]
    return max(0, int(of_warp[-1] - of_warp[0]))
