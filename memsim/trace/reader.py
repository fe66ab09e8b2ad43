"""Reads trace files, a run of warps at a time. Files are untrusted: everything is checked before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from memsim.jit.compiled import loop
from memsim.support import hdf5
from memsim.support.errors import InputError
from memsim.support.text import printable
from memsim.trace import source_text
from memsim.trace.bits import popcount
from memsim.trace.schema import (
    ADDRESS_DTYPE,
    ALL_SCOREBOARDS,
    ARRAY_COLUMNS,
    CONTROL_DEFAULTS,
    EXPLICIT,
    INDEX_COLUMNS,
    INSTRUCTION_COLUMNS,
    INSTRUCTION_DEFAULTS,
    MOST_STALL,
    NO_OP,
    NO_SCOREBOARD,
    NO_WAIT,
    OP_COLUMNS,
    OP_DEFAULTS,
    PRODUCT,
    PRODUCT_GROUPS,
    RESULT_CLASSES,
    SCHEMA,
    SCOREBOARDS,
    VERSION,
    ArrayInfo,
    Chunk,
    Flag,
    Issue,
    KnownWaits,
    LaunchShape,
    LoadClass,
    StaticInstruction,
    instruction_columns,
)
from memsim.trace.source_text import Sources
from memsim.trace.tables import (
    check_lengths,
    read_issue,
    read_launch,
    read_parameters,
    read_table,
    read_text,
    stored_name,
)

CHUNK_INSTRUCTIONS = 1 << 20
LARGEST_TABLES = 1 << 31  # bytes of the tables of blocks and warps, which are held in memory
MOST_ARRAYS = 1 << 18
_AT_MBARRIER = int(Flag.arrives | Flag.awaits)
_OF_WARPS = int(Flag.barrier) | _AT_MBARRIER


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """A trace file: its tables in memory, its instructions read as a stream by :meth:`chunks`.

    Attributes:
        path: the file.
        digest: names the content.
        kernel, source, parameters: what was traced, from which file, built from what.
        launch: grid, block, warp size, registers, shared bytes.
        ops, arrays: the static instructions and the arrays.
        issue: what is known of waits and of mixes of instructions.
        sources: lines of the files that ops name, as far as the file has them (trace.source_text).
        gpu: that it was made for, or empty (trace.target_gpu).
        block_ids: i8 [n_blocks], linear number in the grid.
        first_warp: i8 [n_blocks + 1].
        first_instruction, first_address: i8 [n_warps + 1].
    """

    path: Path
    digest: str
    created_by: str
    kernel: str
    source: str
    parameters: dict[str, Any]
    launch: LaunchShape
    ops: tuple[StaticInstruction, ...]
    arrays: tuple[ArrayInfo, ...]
    block_ids: np.ndarray
    first_warp: np.ndarray
    first_instruction: np.ndarray
    first_address: np.ndarray
    issue: Issue = field(default_factory=Issue)
    sources: Sources = field(default_factory=dict)
    gpu: str = ""

    @classmethod
    def open(cls, path: str | Path) -> Trace:
        """Read the tables and check the file's shape.

        What is held in memory is bounded by the file's size (:func:`memsim.support.hdf5.is_stored`) and by
        LARGEST_TABLES. Texts are made printable.

        Raises:
            InputError: not HDF5, truncated, changed, another schema, a newer major version, or a part that is missing,
                of a wrong type or inconsistent; the message names the file and the part.
            OSError: the system does not let it be read.
        """
        path = Path(path)
        with hdf5.opened(path, SCHEMA, VERSION) as file:
            index = {name: hdf5.dataset(path, file, name, dtype, (None,)) for name, dtype in INDEX_COLUMNS.items()}
            launch = read_launch(path, file)
            check_lengths(path, file, launch, {name: len(found) for name, found in index.items()})
            hdf5.check_size(path, index.values(), LARGEST_TABLES)
            about = {name: read_text(path, file, name) for name in ("kernel", "source", "parameters")}
            ops = tuple(
                StaticInstruction(**row) for row in read_table(path, file, "ops", OP_COLUMNS, NO_OP - 1, OP_DEFAULTS)
            )
            arrays = tuple(ArrayInfo(**row) for row in read_table(path, file, "arrays", ARRAY_COLUMNS, MOST_ARRAYS))
            tables = {name: found[:] for name, found in index.items()}
            n_addresses = len(hdf5.dataset(path, file, "addresses", ADDRESS_DTYPE, (None,)))
            trace = cls(
                path=path,
                digest=read_text(path, file, "digest"),
                created_by=printable(read_text(path, file, "created_by")),
                kernel=printable(about["kernel"]),
                source=printable(about["source"]),
                parameters=read_parameters(path, about["parameters"]),
                launch=launch,
                ops=tuple(replace(op, file=printable(op.file), text=printable(op.text)) for op in ops),
                arrays=tuple(replace(array, name=printable(array.name)) for array in arrays),
                block_ids=tables["blocks/id"],
                first_warp=tables["blocks/first_warp"],
                first_instruction=tables["warps/first_instruction"],
                first_address=tables["warps/first_address"],
                issue=read_issue(path, file),
                sources=source_text.read(path, file),
                gpu=printable(read_text(path, file, "gpu", "")),
            )
            trace._check_index(len(hdf5.dataset(path, file, "instructions/op", "<u2", (None,))), n_addresses)
        trace._check_tables()
        return trace

    def __repr__(self) -> str:
        return (
            f"<Trace of {self.kernel}: {self.n_blocks} of {self.launch.n_blocks} blocks, {self.n_warps} warps, "
            f"{self.n_instructions} memory instructions, {self.path}>"
        )

    @property
    def n_blocks(self) -> int:
        return len(self.block_ids)

    @property
    def n_warps(self) -> int:
        return len(self.first_instruction) - 1

    @property
    def n_instructions(self) -> int:
        return int(self.first_instruction[-1])

    def chunks(self, max_instructions: int = CHUNK_INSTRUCTIONS) -> Iterator[Chunk]:
        """Yield whole warps in order, as many at a time as have up to ``max_instructions`` (at least one warp).

        Raises:
            InputError: an instruction names an op that is not in the table or a lane that is not in the warp, or the
                addresses do not fit the masks.
        """
        with hdf5.opened(self.path, SCHEMA, VERSION) as file:
            if read_text(self.path, file, "digest") != self.digest:
                raise self._bad("digest", "has changed since the file was opened; do not modify the file meanwhile")
            columns = self._columns(file)
            first = 0
            while first < self.n_warps:
                limit = self.first_instruction[first] + max_instructions
                last = int(np.searchsorted(self.first_instruction, limit, side="right")) - 1
                last = max(first + 1, min(last, self.n_warps))
                yield self._chunk(columns, range(first, last))
                first = last

    def _columns(self, file: h5py.File) -> dict[str, h5py.Dataset | None]:
        """What is read a chunk at a time; None for a column that an older file lacks."""
        dtypes = {f"instructions/{name}": dtype for name, dtype in instruction_columns(self.launch.warp_size).items()}
        lengths = dict.fromkeys(dtypes, self.n_instructions) | {"addresses": int(self.first_address[-1])}
        optional = {f"instructions/{name}" for name in INSTRUCTION_DEFAULTS}
        return {
            name: None
            if name in optional and hdf5.find(file, stored_name(file, name)) is None
            else hdf5.dataset(self.path, file, stored_name(file, name), dtype, (lengths[name],))
            for name, dtype in (dtypes | {"addresses": ADDRESS_DTYPE}).items()
        }

    def _chunk(self, columns: Mapping[str, h5py.Dataset | None], warps: range) -> Chunk:
        rows = self.first_instruction[warps.start : warps.stop + 1]
        offsets = self.first_address[warps.start : warps.stop + 1]
        read: dict[str, np.ndarray] = {}
        for full, column in columns.items():
            name, ends = full.removeprefix("instructions/"), offsets if full == "addresses" else rows
            if column is None:
                read[name] = np.full(ends[-1] - ends[0], INSTRUCTION_DEFAULTS[name], INSTRUCTION_COLUMNS[name])
            else:
                read[name] = column[ends[0] : ends[-1]]
        chunk = Chunk(warps, rows - rows[0], offsets - offsets[0], **read)
        access = chunk.op != NO_OP
        if (chunk.op[access] >= len(self.ops)).any():
            raise self._bad("instructions/op", f"names an op beyond the table of {len(self.ops)}")
        if (chunk.mask >> np.uint64(self.launch.warp_size)).any() or (chunk.mask[access] == 0).any():
            raise self._bad("instructions/mask", f"must name some of the warp's {self.launch.warp_size} lanes")
        if (chunk.off_path > chunk.compute_run).any():
            raise self._bad("instructions/off_path", "must not be more than the instructions of its `compute_run`")
        mixes = self.issue.mixes
        if (chunk.instruction_mix >= len(mixes)).any():
            raise self._bad("instructions/instruction_mix", f"names a mix beyond the table of {len(mixes)}")
        if ((chunk.instruction_mix > 0) & (self.issue.issued[chunk.instruction_mix] != chunk.compute_run)).any():
            raise self._bad("instructions/instruction_mix", "must count as many instructions as its `compute_run`")
        path_switches = chunk.flags & Flag.path_switch != 0
        if (path_switches & (access | (chunk.mask == 0) | (chunk.flags & _OF_WARPS != 0))).any():
            raise self._bad("instructions/flags", "must switch a warp to some lanes, in a row that does nothing else")
        if chunk.phase.any() or (chunk.flags & _AT_MBARRIER).any():
            self._check_phases(chunk)
        self._check_control_codes(chunk, access)
        wrong = first_wrong_warp(chunk.first_instruction, chunk.first_address, chunk.stride, chunk.mask)
        if wrong >= 0:
            raise self._bad("warps/first_address", f"of warp {warps[wrong]} does not fit its explicit instructions")
        return chunk

    def _check_phases(self, chunk: Chunk) -> None:
        """Rows with an mbarrier's phase arrive at it or wait for it, and those that do have one."""
        does = chunk.flags & _AT_MBARRIER
        if ((does != 0) != (chunk.phase > 0)).any() or (does == _AT_MBARRIER).any():
            raise self._bad(
                "instructions/phase", "must be given where flags say that a row arrives or awaits, one of both"
            )
        if (chunk.phase > self.n_instructions).any():
            raise self._bad("instructions/phase", f"must not be above the number of rows, {self.n_instructions}")
        copies = np.array([op.load_class is LoadClass.copies for op in self.ops], bool)
        access = chunk.op != NO_OP
        if (does[access] * ~copies[chunk.op[access]]).any():
            raise self._bad("instructions/flags", "must let no access but an asynchronous copy arrive at an mbarrier")
        if (does[access] & Flag.awaits).any():
            raise self._bad(
                "instructions/flags", "must let no access wait at an mbarrier; give the wait a row of its own"
            )
        self._check_owners(chunk, np.flatnonzero(does))

    def _check_control_codes(self, chunk: Chunk, access: np.ndarray) -> None:
        """Scoreboards exist, and what sets one brings something; no other trace than one of machine code has any."""
        if self.issue.dependence is not KnownWaits.control_code:
            for name, default in CONTROL_DEFAULTS.items():
                if (getattr(chunk, name) != default).any():
                    raise self._bad(f"instructions/{name}", f"must be {default}, as `dependence` is no control_code")
            return
        sets = chunk.scoreboard_set != NO_SCOREBOARD
        if (chunk.scoreboard_set[sets] >= SCOREBOARDS).any():
            known = f"0 to {SCOREBOARDS - 1}, or {NO_SCOREBOARD} for none"
            raise self._bad("instructions/scoreboard_set", f"must be {known}")
        for name, most in (
            ("scoreboard_wait", ALL_SCOREBOARDS), ("stall", MOST_STALL), ("result", len(RESULT_CLASSES))
        ):  # fmt: skip
            if (getattr(chunk, name) > most).any():
                raise self._bad(f"instructions/{name}", f"must not be more than {most}")
        products = (chunk.result >= PRODUCT) & ~access
        if (((chunk.result > 0) & ~products) != (sets & ~access)).any():
            raise self._bad("instructions/result", "must be given where a row without access sets a scoreboard")
        if ((chunk.wait_products >= PRODUCT_GROUPS) & (chunk.wait_products != NO_WAIT)).any():
            known = f"0 to {PRODUCT_GROUPS - 1}, or {NO_WAIT} for none"
            raise self._bad("instructions/wait_products", f"must be {known}")
        silent = np.array([op.load_class is None for op in self.ops], bool)
        if silent[chunk.op[sets & access]].any():
            raise self._bad("instructions/scoreboard_set", f"must be {NO_SCOREBOARD} of an access that has no result")

    def _check_owners(self, chunk: Chunk, rows: np.ndarray) -> None:
        """No phase that `rows` name is of two blocks."""
        rows = rows[np.argsort(chunk.phase[rows], kind="stable")]
        warps = chunk.warps.start + np.searchsorted(chunk.first_instruction, rows, side="right") - 1
        blocks, phase = np.searchsorted(self.first_warp, warps, side="right"), chunk.phase[rows]
        if ((phase[1:] == phase[:-1]) & (blocks[1:] != blocks[:-1])).any():
            raise self._bad(
                "instructions/phase", "must be of one block; give each block's mbarriers phases of their own"
            )

    def _check_index(self, n_rows: int, n_addresses: int) -> None:
        """The tables that find blocks, warps, instructions and addresses agree with each other and the columns."""
        self._check_starts("blocks/first_warp", self.first_warp, self.n_warps)
        self._check_starts("warps/first_instruction", self.first_instruction, n_rows)
        self._check_starts("warps/first_address", self.first_address, n_addresses)

    def _check_starts(self, name: str, starts: np.ndarray, total: int) -> None:
        if starts[0] != 0 or starts[-1] != total or (starts[1:] < starts[:-1]).any():
            raise self._bad(name, f"must rise from 0 to {total}")

    def _check_tables(self) -> None:
        """Blocks lie in the grid and have all their warps; ops are possible."""
        if (np.diff(self.first_warp) != self.launch.warps_per_block).any():
            raise self._bad("blocks/first_warp", f"must give every block {self.launch.warps_per_block} warps")
        if ((self.block_ids < 0) | (self.block_ids >= self.launch.n_blocks)).any():
            raise self._bad("blocks/id", f"must lie in the grid's 0 to {self.launch.n_blocks - 1}")
        for op in self.ops:
            if not 0 <= op.array < len(self.arrays):
                raise self._bad("ops/array", f"holds {op.array}; there are {len(self.arrays)} arrays")
            if op.width not in (1, 2, 4, 8, 16):
                raise self._bad("ops/width", f"holds {op.width}; a lane accesses 1, 2, 4, 8 or 16 bytes")

    def _bad(self, field: str, problem: str) -> InputError:
        return InputError(self.path, field, problem)


@loop
def first_wrong_warp(first_instruction, first_address, stride, mask):
    """Number of the first warp that does not have one address a lane of its explicit instructions, or -1."""
    for warp in range(len(first_instruction) - 1):
        count = 0
        for i in range(first_instruction[warp], first_instruction[warp + 1]):
            if stride[i] == EXPLICIT:
                count += popcount(mask[i])
        if count != first_address[warp + 1] - first_address[warp]:
            return warp
    return -1
