"""One kernel's Accel-Sim trace to a memsim trace, as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from memsim.sources.imported.accelsim import problems
from memsim.sources.imported.accelsim.body import read_body
from memsim.sources.imported.accelsim.header import Header, read_header
from memsim.sources.imported.accelsim.state import STATE, UNREAD, new_tables
from memsim.sources.imported.accelsim.tracez import trace_blocks
from memsim.sources.imported.opcodes import Opcodes
from memsim.sources.imported.ops import CopiedRange, ImportedOps
from memsim.sources.imported.text import Progress, as_array
from memsim.sources.imported.warp_slices import index, order
from memsim.support.errors import InputError
from memsim.trace.local_memory import WINDOW
from memsim.trace.reader import Trace
from memsim.trace.schema import INSTRUCTION_COLUMNS, NO_OP, Chunk, Instructions, Issue, KnownWaits, Space
from memsim.trace.writer import TraceWriter

BATCH_ROWS, BATCH_ADDRESSES, BATCH_WARPS = 1 << 17, 1 << 20, 1 << 16  # what is held between two writes
_MOST_SHARED = 1 << 32  # bytes from the shared window's start to the local one's, if they follow each other


def convert(
    path: Path,
    out: str | Path,
    copies: Sequence[CopiedRange] = (),
    progress: Progress | None = None,
    order: int | None = None,
) -> Trace:
    """Read one ``.traceg`` file, plain or packed, or ``.tracez``, and write a trace file.

    Args:
        path: the file.
        out: the trace file.
        copies: ranges of memory that name arrays.
        progress: called with the bytes of the file that are read, and all.
        order: which of the program's launches it is, if that is known.

    Raises:
        InputError: anything in the file that is not as it must be, with its line; a trace file that cannot be written.
        OSError: the system does not let it be read.
    """
    return convert_text(path, trace_blocks(path, progress), out, copies, order=order)


def convert_text(
    path: Path,
    blocks: Iterator[bytearray],
    out: str | Path,
    copies: Sequence[CopiedRange] = (),
    instructions: Instructions = Instructions.compiled,
    order: int | None = None,
) -> Trace:
    """Write a trace file of text as :func:`convert` reads it, in blocks of whole lines.

    Args:
        path: the file that it comes from, for messages.
        blocks: the text.
        out, copies, order: as of :func:`convert`.
        instructions: what its compute runs are: ``none``, if the text has nothing but accesses.

    Raises:
        InputError: anything in the text that is not as it must be; a trace file that cannot be written.
    """
    first = next(blocks, bytearray())
    header, at, line = read_header(path, first)
    about = {"tracer_version": header.tracer_version, "binary_version": header.binary_version}
    about |= {} if order is None else {"order": order}
    with TraceWriter(out, kernel=header.kernel, source=path.name, parameters=about) as writer:
        body = _Body(path, header, line, ImportedOps(copies), writer, instructions)
        body.read(first, at)
        for block in blocks:
            body.read(block)
        body.finish()
    return Trace.open(out)


class _Body:
    """Feeds text to the compiled reader, answers what it asks, and hands whole blocks to the writer."""

    def __init__(
        self, path: Path, header: Header, line: int, ops: ImportedOps, writer: TraceWriter, instructions: Instructions
    ) -> None:
        self._path, self._header, self._writer = path, header, writer
        self._ops, self._opcodes, self._instructions = ops, Opcodes(), instructions
        self._warps = header.launch.warps_per_block
        blocks = max(BATCH_WARPS // self._warps, 1)
        self._tables = new_tables(self._opcodes, BATCH_ROWS, BATCH_ADDRESSES, blocks, self._warps)
        self._states = _state(header, line)
        self._state = self._states[0]
        self._n_warps = 0
        self._extended = False  # part of the first block at hand is written
        self._blocks: list[np.ndarray] = []

    def read(self, block: bytearray, at: int = 0) -> None:
        """Read whole lines from position `at` on."""
        text = as_array(block)
        self._state["at"] = at
        answers: dict[int, Callable[[bytearray], None]] = {
            problems.ROWS_FULL: self._make_room,
            problems.NEW_OPCODE: self._enter_opcode,
            problems.NEW_OP: self._enter_op,
        }
        while (ended := read_body(text, self._states, self._tables)) != problems.TEXT_USED:
            if ended not in answers:
                raise self._wrong(block, *problems.PROBLEMS[ended])
            answers[ended](block)

    def finish(self) -> None:
        """Check that the text ended where it may, and complete the trace."""
        if self._state["in_block"]:
            problem = "ends the file inside a thread block, without #END_TB; give a complete file"
            raise InputError(self._path, f"line {self._state['line'] - 1}", problem)
        self._write_blocks()
        blocks = np.concatenate(self._blocks)
        if not len(blocks):
            raise InputError(self._path, "file", "has no thread blocks; give one with #BEGIN_TB ... #END_TB")
        by_id = np.argsort(blocks["id"], kind="stable")
        again = by_id[1:][np.diff(blocks["id"][by_id]) == 0]
        if len(again):
            problem = "appears twice; every block may appear once"
            raise InputError(self._path, f"line {blocks['line'][again.min()]}: thread block", problem)
        issue = Issue(KnownWaits.scoreboard, self._instructions, self._tables.issue.mixes.table())
        self._writer.finish(self._header.launch, self._ops.ops, self._ops.arrays, issue)

    # -- what the compiled reader asks for

    def _enter_opcode(self, block: bytearray) -> None:
        try:
            self._opcodes.enter(block, self._header.binary_version)
        except ValueError as error:
            raise self._wrong(block, "opcode", str(error)) from None
        self._tables = self._tables._replace(pool=self._opcodes.pool)

    def _enter_op(self, block: bytearray) -> None:
        state, header = self._state, self._header
        if len(self._ops.ops) == NO_OP - 1:
            raise self._wrong(
                block, "PC", f"would be memory instruction number {NO_OP}; memsim reads at most {NO_OP - 1}"
            )
        opcode, variant = self._opcodes[state["opcode"]], int(state["variant"])
        number = self._ops.add(
            opcode,
            Space(variant % UNREAD),
            int(state["address"]),
            f"{int(state['pc']):#06x} {opcode.text}",
            # A source line is one of the kernel's source, whose name the trace does not state it.
            header.kernel if header.line_info else self._path.name,
            line=int(state["source_line"]) if header.line_info else 0,
            unread=variant >= UNREAD,
        )
        self._tables.ops[state["slot"]] = (state["key"], number)

    def _make_room(self, block: bytearray) -> None:
        if self._state["blocks"]:
            self._write_blocks()
            return
        rows, addresses = map(int, self._tables.cursor)  # one block alone fills the buffers: it goes out in parts
        self._writer.extend(self._columns(slice(0, rows)), self._tables.addresses[:addresses])
        self._extended = True
        self._forget(rows, addresses)

    # -- blocks to the writer

    def _write_blocks(self) -> None:
        """Hand the whole blocks to the writer and keep what there is of another."""
        state, tables = self._state, self._tables
        n, rows, addresses = (int(state[name]) for name in ("blocks", "block_row", "block_address"))
        blocks, spans = tables.blocks[:n].copy(), tables.spans[: n * self._warps]
        self._blocks.append(blocks)
        if n == 0:
            return
        row_order: slice | np.ndarray = slice(0, rows)
        address_order: slice | np.ndarray = slice(0, addresses)
        started = spans["row"][spans["row"] >= 0]
        if (started[1:] < started[:-1]).any():
            if self._extended:
                field, problem = problems.PROBLEMS[problems.DESCENDS]
                raise InputError(self._path, f"line {blocks['line'][0]}: {field}", problem)
            row_order = order(spans["row"] - state["rows_before"], spans["row_end"] - state["rows_before"])
            before = state["addresses_before"]
            address_order = order(spans["address"] - before, spans["address_end"] - before)
        chunk = Chunk(
            range(self._n_warps, self._n_warps + len(spans)),
            index(spans["row"], spans["row_end"]),
            index(spans["address"], spans["address_end"]),
            addresses=tables.addresses[address_order],
            **self._columns(row_order),
        )
        self._writer.append(blocks["id"], chunk)
        self._n_warps += len(spans)
        self._extended = False
        tables.spans[: self._warps] = tables.spans[n * self._warps : (n + 1) * self._warps]
        tables.blocks[0] = tables.blocks[n]
        state["blocks"] = 0
        self._forget(rows, addresses)

    def _columns(self, order: slice | np.ndarray) -> dict[str, np.ndarray]:
        rows = self._tables.rows[order]
        return {name: rows[name] for name in INSTRUCTION_COLUMNS}

    def _forget(self, rows: int, addresses: int) -> None:
        """Move what comes after so many rows and addresses to the start of the buffers."""
        state, tables = self._state, self._tables
        for held, count, written in ((tables.rows, rows, 0), (tables.addresses, addresses, 1)):
            rest = held[count : tables.cursor[written]].copy()
            held[: len(rest)] = rest
            tables.cursor[written] -= count
        state["rows_before"] += rows
        state["addresses_before"] += addresses
        state["block_row"] = state["block_address"] = 0

    def _wrong(self, block: bytearray, field: str, problem: str) -> InputError:
        """The error of the line at hand, which it quotes."""
        at = int(self._state["at"])
        line = bytes(block[at : block.find(b"\n", at)][:60]).decode("ascii", "backslashreplace").strip()
        return InputError(self._path, f"line {self._state['line']}: {field}", f"{problem} (the line is {line!r})")


def _state(header: Header, line: int) -> np.ndarray:
    """Where the compiled reader stands at the first line of the body."""
    state = np.zeros(1, STATE)
    shared, local = header.shared_base, header.local_base
    if shared and local:  # as Accel-Sim has it, the shared window ends where the local one begins
        state["shared_base"], state["local_base"], state["local_end"] = shared, local, local + WINDOW
        state["shared_end"] = local if shared < local <= shared + _MOST_SHARED else shared + WINDOW
    state["prefix"] = 4 if header.prefixed else 0
    state["line_info"], state["line"] = header.line_info, line
    state["commits"] = header.tells_commits
    state["grid"], state["warps_per_block"] = header.launch.grid, header.launch.warps_per_block
    state["block"] = state["warp"] = -1
    return state
