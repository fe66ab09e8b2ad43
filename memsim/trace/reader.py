"""Reads trace files, a run of warps at a time. Files are untrusted: everything is checked before it is used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numba
import numpy as np

from memsim.errors import InputError
from memsim.trace.schema import (
    ADDRESS_DTYPE,
    ARRAY_COLUMNS,
    EXPLICIT,
    INDEX_COLUMNS,
    INSTRUCTION_COLUMNS,
    NO_OP,
    OP_COLUMNS,
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


@dataclass(frozen=True)
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
        """Reads the tables and checks the file's shape.

        Raises:
            InputError: not there, not HDF5, truncated, another schema, a newer major version, or a part that is
                missing, of a wrong type or inconsistent; the message names the file and the part.
        """
        with _Source(Path(path)) as source:
            source.check_version()
            about = source.attributes()
            index = {name: source.column(name, dtype) for name, dtype in INDEX_COLUMNS.items()}
            trace = cls(
                path=Path(path),
                ops=tuple(StaticOp(**row) for row in source.table("ops", OP_COLUMNS)),
                arrays=tuple(ArrayInfo(**row) for row in source.table("arrays", ARRAY_COLUMNS)),
                block_ids=index["blocks/id"],
                first_warp=index["blocks/first_warp"],
                first_instruction=index["warps/first_instruction"],
                first_address=index["warps/first_address"],
                **about,
            )
            source.check_index(trace)
        return trace

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
        """Yields whole warps in order, as many at a time as have up to ``max_instructions`` (at least one warp).

        Raises:
            InputError: an instruction names an op that is not in the table, or the addresses do not fit the masks.
        """
        with _Source(self.path) as source:
            first = 0
            while first < self.n_warps:
                limit = self.first_instruction[first] + max_instructions
                last = int(np.searchsorted(self.first_instruction, limit, side="right")) - 1
                last = max(first + 1, min(last, self.n_warps))
                yield source.chunk(self, range(first, last))
                first = last


class _Source:
    """An open trace file whose every access either succeeds or raises InputError naming the part."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> _Source:
        try:
            self._file = h5py.File(self.path, "r")
        except FileNotFoundError:
            raise self._bad("file", "does not exist; give a trace made by `memsim trace`") from None
        except OSError as error:
            raise self._bad("file", f"is not a readable HDF5 file ({error}); give a complete trace") from error
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def _bad(self, field: str, problem: str) -> InputError:
        return InputError(self.path, field, problem)

    def check_version(self) -> None:
        if self._file.attrs.get("schema") != SCHEMA:
            raise self._bad("schema", f"is {self._file.attrs.get('schema')!r}; give a {SCHEMA!r} file")
        version = self._attribute("version", np.ndarray)
        if version.shape != (2,) or version.dtype.kind not in "iu":
            raise self._bad("version", f"is {version.tolist()}; it must be two whole numbers")
        if version[0] > VERSION[0]:
            raise self._bad("version", f"is {version[0]}.{version[1]}, newer than {VERSION[0]}; update memsim")

    def _attribute(self, name: str, kind: type) -> Any:
        try:
            value = self._file.attrs[name]
        except (KeyError, OSError) as error:
            raise self._bad(name, "is missing; give a complete trace") from error
        if not isinstance(value, kind):
            raise self._bad(name, f"has type {type(value).__name__}; it must be {kind.__name__}")
        return value

    def attributes(self) -> dict[str, Any]:
        """Everything of Trace that is an attribute of the file."""
        texts = {name: self._attribute(name, str) for name in ("digest", "created_by", "kernel", "source")}
        try:
            parameters = json.loads(self._attribute("parameters", str))
        except ValueError as error:
            raise self._bad("parameters", f"is not JSON ({error})") from error
        if not isinstance(parameters, dict):
            raise self._bad("parameters", "is not a JSON object")
        extents = {name: self._extents(name) for name in ("grid", "block")}
        warp_size, registers, shared = (
            int(self._attribute(name, np.integer)) for name in ("warp_size", "registers", "shared_bytes")
        )
        if not 1 <= warp_size <= 32:
            raise self._bad("warp_size", f"is {warp_size}; memsim traces have warps of 1 to 32 lanes")
        if registers < 0 or shared < 0:
            raise self._bad("registers" if registers < 0 else "shared_bytes", "is negative")
        launch = LaunchShape(extents["grid"], extents["block"], warp_size, registers, shared)
        return {**texts, "parameters": parameters, "launch": launch}

    def _extents(self, name: str) -> tuple[int, int, int]:
        value = self._attribute(name, np.ndarray)
        if value.shape != (3,) or value.dtype.kind not in "iu" or (value < 1).any():
            raise self._bad(name, f"is {value.tolist()}; it must be three positive whole numbers")
        return int(value[0]), int(value[1]), int(value[2])

    def column(self, name: str, dtype: str, part: slice | None = None) -> np.ndarray:
        """One dataset (or a part of it), checked to be one-dimensional and of its dtype."""
        dataset = self._dataset(name)
        if dataset.dtype != np.dtype(dtype):
            raise self._bad(name, f"has dtype {dataset.dtype}; it must be {np.dtype(dtype)}")
        return self._read(name, dataset, part)

    def _dataset(self, name: str) -> h5py.Dataset:
        dataset = self._file.get(name)
        if not isinstance(dataset, h5py.Dataset):
            raise self._bad(name, "is missing; give a complete trace")
        if dataset.ndim != 1:
            raise self._bad(name, f"has {dataset.ndim} dimensions; it must have one")
        return dataset

    def _read(self, name: str, dataset: h5py.Dataset, part: slice | None) -> np.ndarray:
        try:
            return dataset[:] if part is None else dataset[part]
        except (OSError, ValueError, RuntimeError) as error:
            raise self._bad(name, f"cannot be read ({error}); the file is damaged") from error

    def table(self, group: str, columns: dict[str, str]) -> list[dict[str, Any]]:
        """Rows of a table stored as one dataset a column."""
        values: dict[str, list[Any]] = {}
        for name, dtype in columns.items():
            full = f"{group}/{name}"
            if dtype == "str":
                dataset = self._dataset(full)
                if h5py.check_string_dtype(dataset.dtype) is None:
                    raise self._bad(full, f"has dtype {dataset.dtype}; it must be text")
                values[name] = self._read(full, dataset.asstr(), None).tolist()
            else:
                values[name] = self.column(full, dtype).tolist()
            if len(values[name]) != len(next(iter(values.values()))):
                raise self._bad(full, "has another length than the table's other columns")
        for name, enum in (("kind", Kind), ("space", Space)):
            if name in values:
                values[name] = [self._member(f"{group}/{name}", enum, value) for value in values[name]]
        return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]

    def _member(self, field: str, enum: type[Kind] | type[Space], value: int) -> Kind | Space:
        try:
            return enum(value)
        except ValueError:
            raise self._bad(field, f"holds {value}; known are 0 to {len(enum) - 1}") from None

    def check_index(self, trace: Trace) -> None:
        """The tables that find blocks, warps, instructions and addresses agree with each other and the columns."""
        lengths = {name: len(self._dataset(f"instructions/{name}")) for name in INSTRUCTION_COLUMNS}
        for name, length in lengths.items():
            if length != lengths["op"]:
                raise self._bad(f"instructions/{name}", f"has {length} rows; instructions/op has {lengths['op']}")
        self._check_starts("blocks/first_warp", trace.first_warp, trace.n_blocks, len(trace.first_instruction) - 1)
        self._check_starts("warps/first_instruction", trace.first_instruction, trace.n_warps, lengths["op"])
        addresses = len(self._dataset("addresses"))
        self._check_starts("warps/first_address", trace.first_address, trace.n_warps, addresses)
        if (np.diff(trace.first_warp) != trace.launch.warps_per_block).any():
            raise self._bad("blocks/first_warp", f"must give every block {trace.launch.warps_per_block} warps")
        if ((trace.block_ids < 0) | (trace.block_ids >= trace.launch.n_blocks)).any():
            raise self._bad("blocks/id", f"must lie in the grid's 0 to {trace.launch.n_blocks - 1}")
        for op in trace.ops:
            if not 0 <= op.array < len(trace.arrays):
                raise self._bad("ops/array", f"holds {op.array}; there are {len(trace.arrays)} arrays")
            if op.width < 1:
                raise self._bad("ops/width", "holds 0; a lane accesses at least one byte")

    def _check_starts(self, name: str, starts: np.ndarray, count: int, total: int) -> None:
        if len(starts) != count + 1:
            raise self._bad(name, f"has {len(starts)} entries; it must have {count + 1}")
        if starts[0] != 0 or starts[-1] != total or (np.diff(starts) < 0).any():
            raise self._bad(name, f"must rise from 0 to {total}")

    def chunk(self, trace: Trace, warps: range) -> Chunk:
        """The instructions and addresses of some warps, checked."""
        rows = trace.first_instruction[warps.start : warps.stop + 1]
        offsets = trace.first_address[warps.start : warps.stop + 1]
        columns = {
            name: self.column(f"instructions/{name}", dtype, slice(rows[0], rows[-1]))
            for name, dtype in INSTRUCTION_COLUMNS.items()
        }
        addresses = self.column("addresses", ADDRESS_DTYPE, slice(offsets[0], offsets[-1]))
        chunk = Chunk(warps, rows - rows[0], offsets - offsets[0], addresses=addresses, **columns)
        if not ((chunk.op < len(trace.ops)) | (chunk.op == NO_OP)).all():
            raise self._bad("instructions/op", f"names an op that is not in the table of {len(trace.ops)}")
        bad_lanes = chunk.mask >> np.uint64(trace.launch.warp_size)
        if bad_lanes.any() or ((chunk.mask == 0) & (chunk.op != NO_OP)).any():
            raise self._bad("instructions/mask", f"must name some of the warp's {trace.launch.warp_size} lanes")
        wrong = first_wrong_warp(chunk.first_instruction, chunk.first_address, chunk.stride, chunk.mask)
        if wrong >= 0:
            raise self._bad("warps/first_address", f"of warp {warps[wrong]} does not fit its explicit instructions")
        return chunk


@numba.njit(cache=True)
def first_wrong_warp(
    first_instruction: np.ndarray, first_address: np.ndarray, stride: np.ndarray, mask: np.ndarray
) -> int:
    """The first warp that does not have one address a lane of its explicit instructions, or -1."""
    for warp in range(len(first_instruction) - 1):
        count = 0
        for i in range(first_instruction[warp], first_instruction[warp + 1]):
            if stride[i] == EXPLICIT:
                bits = mask[i]
                while bits:
                    bits &= bits - np.uint32(1)
                    count += 1
        if count != first_address[warp + 1] - first_address[warp]:
            return warp
    return -1
