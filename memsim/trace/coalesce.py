"""Coalescing: from the lanes' addresses of a trace to the transactions that a GPU's load-store unit makes of them.

:mod:`memsim.trace.coalescing_rules` decides which accesses share a transaction; this module streams a trace
through the compiled loop once per (trace, GPU).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from memsim.gpu.choices import Divergence
from memsim.gpu.config import GPU
from memsim.gpu.occupancy import resident_blocks
from memsim.support.errors import InputError
from memsim.support.one_behind import read_ahead
from memsim.trace import coalesce_loop as loop
from memsim.trace.coalescing_rules import SECTOR_BYTES, local_stores, make_rules
from memsim.trace.columns import MemoryColumn, TraceColumn, file_column
from memsim.trace.divergence import find_divergences, note_clear_scoreboards
from memsim.trace.line_numbers import LineNumbers
from memsim.trace.local_memory import of_slots
from memsim.trace.merged_stores import COVERED_SHAPE, merge_stores
from memsim.trace.reader import Trace
from memsim.trace.schema import (
    CONTROL_DEFAULTS,
    NO_OP,
    NO_WAIT,
    WAIT_COLUMNS,
    Chunk,
    Flag,
    KnownWaits,
    RepairedChunk,
    Space,
)
from memsim.trace.transactions import COLUMNS, CONTROL, DIVERGENCE, INSTRUCTION, NO_ANSWER, Transactions, column_path

CHUNK_INSTRUCTIONS = 1 << 16
_BUFFER = 1 << 16  # transactions of one call of the compiled loop
_WIDTHS = (1, 2, 4, 8, 16)
_WAITS = int(Flag.sequence | Flag.barrier | Flag.data)


def coalesce(
    trace: Trace, gpu: GPU, directory: str | Path | None = None, progress: Callable[[int], None] | None = None
) -> Transactions:
    """Coalesce a trace for a GPU.

    Args:
        trace: the trace; read once, a chunk at a time.
        gpu: its compute capability, and the L1's line, sector and whether it is enabled, choose the rules.
        directory: where to write one .npy file per column, which the result (and ``Transactions.load``) maps read-only;
            the caller owns it. None keeps the columns in memory.
        progress: called with the number of instructions done.

    Raises:
        InputError: a trace of another warp size, an access wider than 16 bytes or at a negative address, or a
            directory that cannot be written.
    """
    if trace.launch.warp_size != gpu.sm.warp_size:
        right = f"{gpu.name} has warps of {gpu.sm.warp_size}, give a trace made for it"
        raise InputError(trace.path, "warp_size", f"is {trace.launch.warp_size}; {right}")
    for op in trace.ops:
        if op.width not in _WIDTHS:
            raise InputError(trace.path, "ops/width", f"holds {op.width}; a lane accesses 1, 2, 4, 8 or 16 bytes")
    if directory is None:
        columns = {name: MemoryColumn(dtype) for name, dtype in COLUMNS.items() if name != "n_ops"}
        _stream(trace, gpu, columns, progress)
        return Transactions(**{name: column.concatenated() for name, column in columns.items()}, n_ops=len(trace.ops))
    with _written(directory), ExitStack() as stack:
        files = {
            name: stack.enter_context(file_column(column_path(directory, name), dtype))
            for name, dtype in COLUMNS.items()
        }
        files["n_ops"].append(np.array([len(trace.ops)]))
        _stream(trace, gpu, files, progress)
    return Transactions.load(directory)


def _stream(trace: Trace, gpu: GPU, columns: Mapping[str, TraceColumn], progress: Callable[[int], None] | None) -> None:
    columns["first_instruction"].append(trace.first_instruction)
    columns["first_warp"].append(trace.first_warp)
    columns["mixes"].append(trace.issue.mixes)
    columns["local"].append(local_stores(trace.ops, gpu))
    coalescer = _Coalescer(trace, gpu, columns)
    for chunk in read_ahead(trace.chunks(CHUNK_INSTRUCTIONS), "memsim-reader"):
        coalescer.take(chunk)
        if progress:
            progress(int(trace.first_instruction[chunk.warps.stop]))
    coalescer.finish()


@contextmanager
def _written(directory: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(directory, "coalesced trace", f"cannot be written: {error.strerror or error}") from None


class _Coalescer:
    """Feeds chunks to the compiled loop and its buffers to the columns."""

    def __init__(self, trace: Trace, gpu: GPU, columns: Mapping[str, TraceColumn]) -> None:
        self._trace, self._columns = trace, columns
        self._rules = make_rules(trace.ops, gpu, trace.arrays)
        self._line_shift = (gpu.l1.line_bytes // SECTOR_BYTES).bit_length() - 1
        self._tags = gpu.l1.tags_per_cycle
        self._merges, self._words = gpu.l1.merges_stores, gpu.l2.max_partial_ways is not None
        self._covered = np.zeros(COVERED_SHAPE, np.int64)
        self._position = np.zeros(1, loop.POSITION)
        self._scratch = np.full(loop.SCRATCH_SHAPE, loop.EMPTY, np.int64)
        n = len(trace.ops)
        of_last = np.empty((n, loop.MOST_TRANSACTIONS), np.int64), np.empty((n, loop.MOST_TRANSACTIONS), np.int64)
        self._last = np.zeros(n, loop.TAKEN), *of_last
        self._addresses, self._masks = np.empty(_BUFFER, np.int64), np.empty(_BUFFER, np.int64)
        self._numbers = LineNumbers()
        self._taken, self._arrivals, self._diverges = 0, np.zeros(0, np.uint32), False
        self._interleaved = gpu.sm.divergence is Divergence.interleaved
        self._by_control_code = trace.issue.dependence is KnownWaits.control_code
        self._local = np.array([op.space is Space.local for op in trace.ops], bool)
        self._local_bytes = max((one.bytes for one in trace.arrays if one.space is Space.local), default=0)
        self._resident = _resident_warps(trace, gpu) if self._local.any() and gpu.sm.local_memory_by_slot else None

    def take(self, chunk: Chunk) -> None:
        """Coalesce the warps of one chunk, which follow those taken before."""
        chunk = self._with_local_memory_of_slots(chunk)
        position = self._position
        position["instruction"] = position["address"] = 0
        self._last[0]["mask"] = 0
        out = np.zeros(len(chunk.op), INSTRUCTION)
        flags = chunk.flags & ~np.uint8(Flag.path_switch)
        columns = (
            chunk.op,
            flags,
            chunk.compute_run,
            chunk.mask,
            chunk.base.view(np.int64),
            chunk.stride,
            chunk.off_path,
        )
        ended = loop.FULL
        while ended == loop.FULL:
            position["buffered"] = 0
            first_row, address = int(position["instruction"][0]), int(position["address"][0])
            ended = loop.coalesce_instructions(
                columns, chunk.addresses, self._rules, self._line_shift, self._tags, position, self._scratch,
                self._last, out, self._addresses, self._masks,
            )  # fmt: skip
            if ended == loop.BELOW_ZERO:
                row = int(self._trace.first_instruction[chunk.warps.start] + position["instruction"][0])
                raise InputError(self._trace.path, "instructions/base", f"of row {row} leads to a negative address")
            buffered = int(position["buffered"][0])
            if self._merges:
                self._merge_stores(chunk, out, first_row, address, buffered)
            lines, new_lines = self._numbers.number(self._addresses[:buffered])
            self._columns["lines"].append(lines)
            self._columns["masks"].append(self._masks[:buffered].astype(np.uint8))
            self._columns["partial"].append((self._masks[:buffered] >> loop.PARTIAL_SHIFT).astype(np.uint8))
            if self._words:
                self._columns["words"].append((self._masks[:buffered] >> loop.WORDS_SHIFT).astype(np.uint32))
            self._columns["line_address"].append(new_lines)
        self._add_waits(chunk, out)
        out["instruction_mix"] = chunk.instruction_mix
        self._add_phases(chunk)
        if self._by_control_code:
            self._columns["controls"].append(_controls(chunk))
        self._add_divergences(chunk, out)
        self._taken += len(chunk.op)
        self._columns["instructions"].append(out)

    def _with_local_memory_of_slots(self, chunk: Chunk) -> Chunk:
        """The chunk with the local memory of the block slots that the GPU has."""
        if self._resident is None:
            return chunk
        base, rows = chunk.base.copy(), np.flatnonzero(chunk.op != NO_OP)
        rows = rows[self._local[chunk.op[rows]]]
        warps = chunk.warps.start + np.searchsorted(chunk.first_instruction, rows, side="right") - 1
        base[rows] = of_slots(base[rows], warps, self._resident, self._local_bytes)
        return replace(chunk, base=base)

    def _merge_stores(self, chunk: Chunk, out: np.ndarray, first_row: int, address: int, buffered: int) -> None:
        """Mark the partial stores in the buffer that L1 merges."""
        merged = np.zeros(buffered, np.uint8)
        rows = chunk.op, chunk.flags, chunk.mask, chunk.base.view(np.int64), chunk.stride
        starts = np.asarray(chunk.first_instruction, np.int64)
        merge_stores(
            rows, chunk.addresses, self._rules, out, starts, self._line_shift, first_row, address,
            self._addresses[:buffered], self._masks[:buffered], merged, self._covered, self._scratch,
        )  # fmt: skip
        self._columns["merged"].append(merged)

    def _add_waits(self, chunk: Chunk, out: np.ndarray) -> None:
        """Say what each instruction waits for: all loads at sequences' starts, where the trace knows no better."""
        unknown = self._trace.issue.dependence is KnownWaits.sequence
        at_starts = np.where(chunk.flags & _WAITS, 0, NO_WAIT)
        for name in WAIT_COLUMNS:
            out[name] = at_starts if unknown else getattr(chunk, name)

    def _add_phases(self, chunk: Chunk) -> None:
        """Keep the column of mbarriers' phases from the first one on, and count who arrives at each."""
        if not len(self._arrivals) and chunk.phase.any():
            self._columns["phase"].append(np.zeros(self._taken, np.uint32))
            self._arrivals = np.zeros(1, np.uint32)
        if len(self._arrivals):
            self._columns["phase"].append(chunk.phase)
            more = np.zeros(max(len(self._arrivals), int(chunk.phase.max(initial=0)) + 1), np.uint32)
            more[: len(self._arrivals)] = self._arrivals
            np.add.at(more, chunk.phase[chunk.flags & Flag.arrives != 0], 1)
            self._arrivals = more

    def _add_divergences(self, chunk: Chunk, out: np.ndarray) -> None:
        """Keep the column of divergences from the first one on, where the GPU issues both paths of a branch at once.

        A what-if transform moves lanes and waits; warps diverge where they did before it. A divergence's first row
        waits for all.
        """
        found = np.zeros(len(chunk.op), DIVERGENCE)
        if self._interleaved and (chunk.flags & Flag.path_switch).any():
            rows, was = out, chunk.before if isinstance(chunk, RepairedChunk) else chunk
            if was is not chunk or self._by_control_code:
                rows = self._rows_before(was)
            flags, notes = chunk.flags | was.flags, np.zeros(len(out), np.uint8)
            find_divergences(chunk.first_instruction, flags, was.mask, rows, notes, found)
            for name in WAIT_COLUMNS:
                out[name][found["reconvergence"] > 0] = 0
        if not self._diverges and found["reconvergence"].any():
            self._columns["divergences"].append(np.zeros(self._taken, DIVERGENCE))
            self._diverges = True
        if self._diverges:
            self._columns["divergences"].append(found)

    def _rows_before(self, chunk: Chunk) -> np.ndarray:
        """What divergences are found by, before a transform: accesses, what they answer among, waits by class."""
        rows = np.zeros(len(chunk.op), INSTRUCTION)
        answers = np.full(NO_OP + 1, NO_ANSWER, rows["answers"].dtype)
        answers[: len(self._rules)] = self._rules["answers"]
        rows["op"], rows["answers"] = chunk.op, answers[chunk.op]
        self._add_waits(chunk, rows)
        if self._by_control_code:
            note_clear_scoreboards(chunk.first_instruction, _controls(chunk), rows)
        return rows

    def finish(self) -> None:
        """Write what is known when all chunks were taken."""
        self._columns["arrivals"].append(self._arrivals)


def _resident_warps(trace: Trace, gpu: GPU) -> int:
    """Warps of the trace's kernel that the whole GPU holds at a time."""
    shape = trace.launch
    blocks = resident_blocks(gpu, shape.threads_per_block, shape.registers, shape.shared_bytes)
    return blocks * gpu.sm.count * shape.warps_per_block


def _controls(chunk: Chunk) -> np.ndarray:
    """CONTROL records of a chunk's rows."""
    found = np.zeros(len(chunk.op), CONTROL)
    for field, name in zip(CONTROL.names or (), CONTROL_DEFAULTS, strict=True):
        found[field] = getattr(chunk, name)
    return found
