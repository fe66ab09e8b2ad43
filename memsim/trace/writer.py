"""Writes trace files, a batch of blocks at a time; nothing half-written is ever left under the file's name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np

from memsim import __version__
from memsim.support import hdf5
from memsim.support.files import replacing, writing
from memsim.trace.schema import (
    ADDRESS_DTYPE,
    ARRAY_COLUMNS,
    INDEX_COLUMNS,
    INSTRUCTION_COLUMNS,
    INSTRUCTION_DEFAULTS,
    OP_COLUMNS,
    OP_DEFAULTS,
    SCHEMA,
    VERSION,
    ArrayInfo,
    Chunk,
    LaunchShape,
    StaticOp,
)

CHUNK_BYTES = 1 << 17  # of one HDF5 chunk before compression: what its cache holds while a stream grows

# Every streamed dataset, in the order the digest takes them.
STREAMS: dict[str, str] = {
    **INDEX_COLUMNS,
    **{f"instructions/{name}": dtype for name, dtype in INSTRUCTION_COLUMNS.items()},
    "addresses": ADDRESS_DTYPE,
}


class TraceWriter:
    """Writes one trace file as a stream of batches of whole blocks.

    A context manager: data goes to a file beside ``path``, renamed to it when the block ends after :meth:`finish` and
    removed when it ends otherwise. The warps of consecutive batches continue each other.

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
        self._about = {"kernel": kernel, "source": source, "parameters": json.dumps(dict(parameters), sort_keys=True)}
        # Columns with a default that have nothing else so far.
        self._plain = {f"instructions/{name}": value for name, value in INSTRUCTION_DEFAULTS.items()}
        self._hashes = {name: sha256() for name in STREAMS}  # most processors have instructions for it
        self._n_warps = self._n_instructions = self._n_addresses = 0
        self._early = [0, 0]  # instructions and addresses written ahead of their block
        self._finished = False

    def __enter__(self) -> TraceWriter:
        with writing(self.path), ExitStack() as stack:
            temporary = stack.enter_context(replacing(self.path))
            self._sink = stack.enter_context(hdf5.Sink(temporary))
            cache = {"rdcc_nbytes": 2 * CHUNK_BYTES}  # of each stream
            self._file = stack.enter_context(h5py.File(self._sink, "w", libver="v110", **cache))
            # They stay open: closing one compresses its last chunk, which the next batch goes on filling.
            self._streams = {name: _create_stream(self._file, name, np.dtype(dtype)) for name, dtype in STREAMS.items()}
            self._opened = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert error is not None or self._finished, "leave the block after finish()"
        with writing(self.path):
            self._opened.__exit__(kind, error, trace)

    def extend(self, columns: Mapping[str, np.ndarray], addresses: np.ndarray) -> None:
        """Write the first instructions of the block that :meth:`append` adds next: of one too large to be held whole.

        Args:
            columns: of INSTRUCTION_COLUMNS, the block's warps in order; the last warp may go on later.
            addresses: of the explicit ones among them.
        """
        for name in INSTRUCTION_COLUMNS:
            self._extend(f"instructions/{name}", columns[name])
        self._extend("addresses", addresses)
        self._early[0] += len(columns["op"])
        self._early[1] += len(addresses)

    def append(self, block_ids: np.ndarray, batch: Chunk) -> None:
        """Add whole blocks.

        Args:
            block_ids: i8 [n_blocks], linear number in the grid; all blocks of a launch have the same number of warps.
            batch: the blocks' warps, in order of block. The indexes of its warps count what :meth:`extend` wrote of the
                first block; the columns and addresses do not repeat it.
        """
        warps_per_block, rest = divmod(len(batch.warps), len(block_ids))
        assert rest == 0 and batch.warps.start == self._n_warps
        assert batch.first_instruction[-1] == self._early[0] + len(batch.op)
        assert batch.first_address[-1] == self._early[1] + len(batch.addresses)
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
        self._n_instructions += int(batch.first_instruction[-1])
        self._n_addresses += int(batch.first_address[-1])
        self._early = [0, 0]

    def finish(self, launch: LaunchShape, ops: Sequence[StaticOp], arrays: Sequence[ArrayInfo]) -> str:
        """Complete the file and return its digest.

        The digest covers everything but the writer's version; compression and batching do not change it.
        """
        self._extend("blocks/first_warp", np.array([self._n_warps]))
        self._extend("warps/first_instruction", np.array([self._n_instructions]))
        self._extend("warps/first_address", np.array([self._n_addresses]))
        attributes = {**self._about, **asdict(launch)}
        digest = self._digest(attributes, ops, arrays)
        with writing(self.path):
            hdf5.stamp(self._file, SCHEMA, VERSION)
            _write_table(self._file, "ops", OP_COLUMNS, ops)
            _write_table(self._file, "arrays", ARRAY_COLUMNS, arrays)
            for name, value in {**attributes, "created_by": f"memsim {__version__}", "digest": digest}.items():
                self._file.attrs[name] = value
            self._file.close()
            self._sink.check()
        self._finished = True
        return digest

    def _extend(self, name: str, values: np.ndarray) -> None:
        values = np.ascontiguousarray(values, dtype=STREAMS[name])
        self._hashes[name].update(values.data)
        if name in self._plain and (values != self._plain[name]).any():
            del self._plain[name]
        with writing(self.path):
            dataset = self._streams[name]
            size = dataset.shape[0]
            dataset.resize(size + len(values), axis=0)
            dataset[size:] = values
            self._sink.check()

    def _digest(self, attributes: dict[str, Any], ops: Sequence[StaticOp], arrays: Sequence[ArrayInfo]) -> str:
        # A column at its default counts as if it were not there: traces keep their digests over minor versions.
        op_rows = [{k: v for k, v in asdict(op).items() if k not in OP_DEFAULTS or v != OP_DEFAULTS[k]} for op in ops]
        tables = [attributes, op_rows, [asdict(array) for array in arrays]]
        total = sha256(json.dumps(tables, sort_keys=True).encode())
        for name, stream in self._hashes.items():
            if name not in self._plain:
                total.update(stream.digest())
        return total.hexdigest()


def _create_stream(file: h5py.File, name: str, dtype: np.dtype) -> h5py.Dataset:
    return file.create_dataset(
        name,
        shape=(0,),
        maxshape=(None,),
        dtype=dtype,
        chunks=(CHUNK_BYTES // dtype.itemsize,),
        **hdf5.COMPRESSED,
    )


def _write_table(file: h5py.File, group: str, columns: dict[str, str], rows: Sequence[StaticOp | ArrayInfo]) -> None:
    for name, dtype in columns.items():
        values = [getattr(row, name) for row in rows]
        as_dtype = h5py.string_dtype() if dtype == "str" else np.dtype(dtype)
        file.create_dataset(f"{group}/{name}", data=np.array(values, dtype=as_dtype))
