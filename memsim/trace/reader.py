"""Reads trace files, a run of warps at a time. Files are untrusted: everything is checked before it is used."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from memsim.support import hdf5
from memsim.support.compiled import loop
from memsim.support.errors import InputError
from memsim.trace.bits import popcount
from memsim.trace.schema import (
    ADDRESS_DTYPE,
    ARRAY_COLUMNS,
    EXPLICIT,
    INDEX_COLUMNS,
    INSTRUCTION_COLUMNS,
    INSTRUCTION_DEFAULTS,
    NO_OP,
    OP_COLUMNS,
    OP_DEFAULTS,
    SCHEMA,
    VERSION,
    ArrayInfo,
    Chunk,
    Kind,
    LaunchShape,
    Space,
    StaticOp,
)

CHUNK_INSTRUCTIONS = 1 << 20
LARGEST_TABLE = 1 << 31  # bytes of a table that is held in memory


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """A trace file: its tables in memory, its instructions read as a stream by :meth:`chunks`.

    Attributes:
        path: the file.
        digest: names the content.
        kernel, source, parameters: what was traced, from which file, built from what.
        launch: grid, block, warp size, registers, shared bytes.
        ops, arrays: the static ops and the arrays.
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
    ops: tuple[StaticOp, ...]
    arrays: tuple[ArrayInfo, ...]
    block_ids: np.ndarray
    first_warp: np.ndarray
    first_instruction: np.ndarray
    first_address: np.ndarray

    @classmethod
    def open(cls, path: str | Path) -> Trace:
        """Read the tables and check the file's shape.

        Raises:
            InputError: not HDF5, truncated, another schema, a newer major version, or a part that is missing, of a
                wrong type or inconsistent; the message names the file and the part.
            OSError: the system does not let it be read.
        """
        path = Path(path)
        with hdf5.opened(path, SCHEMA, VERSION) as file:
            index = {
                name: hdf5.array(path, file, name, dtype, (None,), LARGEST_TABLE)
                for name, dtype in INDEX_COLUMNS.items()
            }
            trace = cls(
                path=path,
                **{name: _attribute(path, file, name, str) for name in ("digest", "created_by", "kernel", "source")},
                parameters=_parameters(path, file),
                launch=_launch(path, file),
                ops=tuple(StaticOp(**row) for row in _table(path, file, "ops", OP_COLUMNS, OP_DEFAULTS)),
                arrays=tuple(ArrayInfo(**row) for row in _table(path, file, "arrays", ARRAY_COLUMNS)),
                block_ids=index["blocks/id"],
                first_warp=index["blocks/first_warp"],
                first_instruction=index["warps/first_instruction"],
                first_address=index["warps/first_address"],
            )
            trace._check_index(file)
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
            first = 0
            while first < self.n_warps:
                limit = self.first_instruction[first] + max_instructions
                last = int(np.searchsorted(self.first_instruction, limit, side="right")) - 1
                last = max(first + 1, min(last, self.n_warps))
                yield self._chunk(file, range(first, last))
                first = last

    def _chunk(self, file: h5py.File, warps: range) -> Chunk:
        rows = self.first_instruction[warps.start : warps.stop + 1]
        offsets = self.first_address[warps.start : warps.stop + 1]
        columns = {name: self._column(file, name, rows[0], rows[-1]) for name in INSTRUCTION_COLUMNS}
        addresses = hdf5.dataset(self.path, file, "addresses", ADDRESS_DTYPE, (None,))[offsets[0] : offsets[-1]]
        chunk = Chunk(warps, rows - rows[0], offsets - offsets[0], addresses=addresses, **columns)
        access = chunk.op != NO_OP
        if (chunk.op[access] >= len(self.ops)).any():
            raise self._bad("instructions/op", f"names an op beyond the table of {len(self.ops)}")
        if (chunk.mask >> np.uint64(self.launch.warp_size)).any() or (chunk.mask[access] == 0).any():
            raise self._bad("instructions/mask", f"must name some of the warp's {self.launch.warp_size} lanes")
        if (chunk.beside > chunk.gap).any():
            raise self._bad("instructions/beside", "must not be more than the gap's instructions")
        wrong = first_wrong_warp(chunk.first_instruction, chunk.first_address, chunk.stride, chunk.mask)
        if wrong >= 0:
            raise self._bad("warps/first_address", f"of warp {warps[wrong]} does not fit its explicit instructions")
        return chunk

    def _column(self, file: h5py.File, name: str, first: int, end: int) -> np.ndarray:
        """Rows of a column of the instructions; an older file may lack it."""
        full, dtype = f"instructions/{name}", INSTRUCTION_COLUMNS[name]
        if name in INSTRUCTION_DEFAULTS and full not in file:
            return np.full(end - first, INSTRUCTION_DEFAULTS[name], dtype)
        values: np.ndarray = hdf5.dataset(self.path, file, full, dtype, (None,))[first:end]
        return values

    def _check_index(self, file: h5py.File) -> None:
        """The tables that find blocks, warps, instructions and addresses agree with each other and the columns."""
        n_rows = self.n_instructions if len(self.first_instruction) else 0
        for name, dtype in INSTRUCTION_COLUMNS.items():
            if name not in INSTRUCTION_DEFAULTS or f"instructions/{name}" in file:
                hdf5.dataset(self.path, file, f"instructions/{name}", dtype, (n_rows,))
        addresses = hdf5.dataset(self.path, file, "addresses", ADDRESS_DTYPE, (None,))
        self._check_starts("blocks/first_warp", self.first_warp, self.n_blocks, self.n_warps)
        self._check_starts("warps/first_instruction", self.first_instruction, self.n_warps, n_rows)
        self._check_starts("warps/first_address", self.first_address, self.n_warps, len(addresses))

    def _check_starts(self, name: str, starts: np.ndarray, count: int, total: int) -> None:
        if count < 0 or len(starts) != count + 1:
            raise self._bad(name, f"has {len(starts)} entries; it must have {max(count, 0) + 1}")
        if starts[0] != 0 or starts[-1] != total or (starts[1:] < starts[:-1]).any():
            raise self._bad(name, f"must rise from 0 to {total}")

    def _check_tables(self) -> None:
        """Blocks lie in the grid and have all their warps; ops are possible."""
        if (np.diff(self.first_warp) != self.launch.warps_per_block).any():
            raise self._bad("blocks/first_warp", f"must give every block {self.launch.warps_per_block} warps")
        if ((self.block_ids < 0) | (self.block_ids >= self.launch.n_blocks)).any():
            raise self._bad("blocks/id", f"must lie in the grid's 0 to {self.launch.n_blocks - 1}")
        if len(self.ops) >= NO_OP:
            raise self._bad("ops", f"has {len(self.ops)} rows; a trace has at most {NO_OP - 1}")
        for op in self.ops:
            if not 0 <= op.array < len(self.arrays):
                raise self._bad("ops/array", f"holds {op.array}; there are {len(self.arrays)} arrays")
            if op.width not in (1, 2, 4, 8, 16):
                raise self._bad("ops/width", f"holds {op.width}; a lane accesses 1, 2, 4, 8 or 16 bytes")

    def _bad(self, field: str, problem: str) -> InputError:
        return InputError(self.path, field, problem)


def _attribute(path: Path, file: h5py.File, name: str, kind: type) -> Any:
    value = file.attrs.get(name)
    if not isinstance(value, kind):
        raise InputError(path, name, "is missing or of another type; give a complete trace")
    return value


def _parameters(path: Path, file: h5py.File) -> dict[str, Any]:
    try:
        parameters = json.loads(_attribute(path, file, "parameters", str))
    except (ValueError, RecursionError) as error:
        raise InputError(path, "parameters", f"is not JSON ({error})") from error
    if not isinstance(parameters, dict):
        raise InputError(path, "parameters", "is not a JSON object")
    return parameters


def _launch(path: Path, file: h5py.File) -> LaunchShape:
    warp_size = _count(path, file, "warp_size")
    if not 1 <= warp_size <= 32:
        raise InputError(path, "warp_size", f"is {warp_size}; memsim traces have warps of 1 to 32 lanes")
    return LaunchShape(
        _extents(path, file, "grid"),
        _extents(path, file, "block"),
        warp_size,
        _count(path, file, "registers"),
        _count(path, file, "shared_bytes"),
    )


def _extents(path: Path, file: h5py.File, name: str) -> tuple[int, int, int]:
    value = _attribute(path, file, name, np.ndarray)
    if value.shape != (3,) or value.dtype.kind not in "iu" or not ((value >= 1) & (value < 2**31)).all():
        raise InputError(path, name, f"is {value.tolist()}; it must be three whole numbers from 1 to 2147483647")
    return int(value[0]), int(value[1]), int(value[2])


def _count(path: Path, file: h5py.File, name: str) -> int:
    number = int(_attribute(path, file, name, np.integer))
    if number < 0:
        raise InputError(path, name, f"is {number}; it cannot be negative")
    return number


def _table(
    path: Path, file: h5py.File, group: str, columns: dict[str, str], defaults: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Rows of a table that is stored as one dataset a column; columns with a default may be missing."""
    values: dict[str, list[Any]] = {}
    n_rows = None
    for name, dtype in columns.items():
        full = f"{group}/{name}"
        if defaults and name in defaults and full not in file:
            values[name] = [defaults[name]] * (n_rows or 0)
            continue
        as_dtype = h5py.string_dtype() if dtype == "str" else np.dtype(dtype)
        dataset = hdf5.dataset(path, file, full, as_dtype, (n_rows,))
        n_rows = len(dataset)
        if dtype == "str" and h5py.check_string_dtype(dataset.dtype) is None:
            raise InputError(path, full, f"has dtype {dataset.dtype}; it must be text")
        values[name] = (dataset.asstr() if dtype == "str" else dataset)[:].tolist()
    if "bypass_l1" in values:
        values["bypass_l1"] = [bool(value) for value in values["bypass_l1"]]
    for name, enum in (("kind", Kind), ("space", Space)):
        if name in values:
            values[name] = [_member(path, f"{group}/{name}", enum, value) for value in values[name]]
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def _member(path: Path, field: str, enum: type[Kind] | type[Space], value: int) -> Kind | Space:
    if value not in enum.__members__.values():
        raise InputError(path, field, f"holds {value}; known are 0 to {len(enum) - 1}")
    return enum(value)


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
