"""Writes trace files, a batch of blocks at a time; nothing half-written is ever left under the file's name."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np

from memsim.errors import InputError
from memsim.trace.schema import (
    ADDRESS_DTYPE,
    ARRAY_COLUMNS,
    INDEX_COLUMNS,
    INSTRUCTION_COLUMNS,
    OP_COLUMNS,
    SCHEMA,
    VERSION,
    ArrayInfo,
    Chunk,
    LaunchShape,
    StaticOp,
)

CHUNK_BYTES = 1 << 20  # of one HDF5 chunk before compression: large enough to stream, small enough for h5py's cache

# Every streamed dataset, in the order the digest takes them.
STREAMS: dict[str, str] = {
    **INDEX_COLUMNS,
    **{f"instructions/{name}": dtype for name, dtype in INSTRUCTION_COLUMNS.items()},
    "addresses": ADDRESS_DTYPE,
}


class TraceWriter:
    """Writes one trace file as a stream of batches of whole blocks.

    A context manager: data goes to a file beside ``path``, renamed to it by :meth:`finish`; leaving the block without
    ``finish`` (an exception) removes it. ``batch.warps`` of consecutive batches continue each other.

    Args:
        path: the file to make.
        kernel: name of the kernel function.
        source: file that describes the kernel.
        parameters: what the workload was built from, JSON values.

    Raises:
        InputError: the file cannot be written (no permission, no such folder, disk full).
    """

    def __init__(self, path: str | Path, *, kernel: str, source: str, parameters: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        self._about = {"kernel": kernel, "source": source, "parameters": json.dumps(dict(parameters), sort_keys=True)}
        self._hashes = {name: blake2b(digest_size=20) for name in STREAMS}
        self._n_warps = self._n_instructions = self._n_addresses = 0
        self._finished = False
        try:
            self._file = h5py.File(self._temporary, "w", libver="v110")
            for name, dtype in STREAMS.items():
                _create_stream(self._file, name, np.dtype(dtype))
        except OSError as error:
            self._remove()
            raise self._cannot_write(error) from error

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._finished:
            self._remove()

    def append(self, block_ids: np.ndarray, batch: Chunk) -> None:
        """Adds whole blocks.

        Args:
            block_ids: i8 [n_blocks], linear number in the grid; all blocks of a launch have the same number of warps.
            batch: the blocks' warps, in order of block.
        """
        warps_per_block, rest = divmod(len(batch.warps), len(block_ids))
        assert rest == 0 and batch.warps.start == self._n_warps
        starts = self._n_warps + warps_per_block * np.arange(len(block_ids))
        streams: dict[str, np.ndarray] = {
            "blocks/id": block_ids,
            "blocks/first_warp": starts,
            "warps/first_instruction": self._n_instructions + batch.first_instruction[:-1],
            "warps/first_address": self._n_addresses + batch.first_address[:-1],
            "addresses": batch.addresses,
        }
        streams |= {f"instructions/{name}": getattr(batch, name) for name in INSTRUCTION_COLUMNS}
        for name, values in streams.items():
            self._extend(name, values)
        self._n_warps += len(batch.warps)
        self._n_instructions += len(batch.op)
        self._n_addresses += len(batch.addresses)

    def finish(self, launch: LaunchShape, ops: Sequence[StaticOp], arrays: Sequence[ArrayInfo]) -> str:
        """Completes the file, gives it its name and returns its digest.

        The digest covers everything but the writer's version; compression and batching do not change it.
        """
        self._extend("blocks/first_warp", np.array([self._n_warps]))
        self._extend("warps/first_instruction", np.array([self._n_instructions]))
        self._extend("warps/first_address", np.array([self._n_addresses]))
        attributes = {**self._about, **asdict(launch)}
        digest = self._digest(attributes, ops, arrays)
        try:
            _write_table(self._file, "ops", OP_COLUMNS, ops)
            _write_table(self._file, "arrays", ARRAY_COLUMNS, arrays)
            attributes |= {"schema": SCHEMA, "version": VERSION, "created_by": _created_by(), "digest": digest}
            for name, value in attributes.items():
                self._file.attrs[name] = value
            self._file.close()
            os.replace(self._temporary, self.path)
        except OSError as error:
            self._remove()
            raise self._cannot_write(error) from error
        self._finished = True
        return digest

    def _extend(self, name: str, values: np.ndarray) -> None:
        values = np.ascontiguousarray(values, dtype=STREAMS[name])
        self._hashes[name].update(values)
        dataset = self._file[name]
        try:
            size = dataset.shape[0]
            dataset.resize(size + len(values), axis=0)
            dataset[size:] = values
        except OSError as error:
            self._remove()
            raise self._cannot_write(error) from error

    def _digest(self, attributes: dict[str, Any], ops: Sequence[StaticOp], arrays: Sequence[ArrayInfo]) -> str:
        tables = [attributes, [asdict(op) for op in ops], [asdict(array) for array in arrays]]
        total = blake2b(json.dumps(tables, sort_keys=True).encode(), digest_size=20)
        for stream in self._hashes.values():
            total.update(stream.digest())
        return total.hexdigest()

    def _remove(self) -> None:
        if hasattr(self, "_file"):
            try:
                self._file.close()
            except (OSError, RuntimeError):  # the disk is full: HDF5 cannot flush, and need not
                pass
        self._temporary.unlink(missing_ok=True)

    def _cannot_write(self, error: OSError) -> InputError:
        reason = os.strerror(error.errno) if error.errno else str(error)
        return InputError(self.path, "file", f"cannot be written ({reason}); choose a writable place with room")


def _create_stream(file: h5py.File, name: str, dtype: np.dtype) -> None:
    file.create_dataset(
        name,
        shape=(0,),
        maxshape=(None,),
        dtype=dtype,
        chunks=(CHUNK_BYTES // dtype.itemsize,),
        shuffle=True,
        compression="lzf",
    )


def _write_table(file: h5py.File, group: str, columns: dict[str, str], rows: Sequence[StaticOp | ArrayInfo]) -> None:
    for name, dtype in columns.items():
        values = [getattr(row, name) for row in rows]
        as_dtype = h5py.string_dtype() if dtype == "str" else np.dtype(dtype)
        file.create_dataset(f"{group}/{name}", data=np.array(values, dtype=as_dtype))


def _created_by() -> str:
    try:
        return f"memsim {version('memsim')}"
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "memsim"
