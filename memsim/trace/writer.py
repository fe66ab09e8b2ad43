"""Writes trace files, a batch of blocks at a time; nothing half-written is ever left under the file's name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np

from memsim import __version__
from memsim.support import hdf5
from memsim.support.files import replacing, writing
from memsim.trace import source_text
from memsim.trace.digest import DEFAULTS, STREAMS, ContentDigest
from memsim.trace.schema import (
    ARRAY_COLUMNS,
    INSTRUCTION_COLUMNS,
    MIX,
    OP_COLUMNS,
    SCHEMA,
    VERSION,
    ArrayInfo,
    Chunk,
    Issue,
    LaunchShape,
    StaticInstruction,
    instruction_columns,
)
from memsim.trace.source_text import Sources

CHUNK_BYTES = 1 << 17  # of one HDF5 chunk before compression; a stream is written once it has as much


class TraceWriter:
    """Writes one trace file as a stream of batches of whole blocks.

    A context manager: data goes to a file next to ``path``, renamed to it when the block ends after :meth:`finish` and
    removed when it ends otherwise. The warps of consecutive batches continue each other.

    Args:
        path: the file to make.
        kernel: name of the kernel function.
        source: file that describes the kernel.
        parameters: what the workload was built from, JSON values.
        gpu: that it is made for, as :func:`memsim.trace.target_gpu.gpu_label` has it; empty: not known.
        warp_size: lanes of a warp.

    Raises:
        InputError: the file cannot be written (no permission, no such folder, disk full).
    """

    def __init__(
        self,
        path: str | Path,
        *,
        kernel: str,
        source: str,
        parameters: Mapping[str, Any],
        gpu: str = "",
        warp_size: int = 32,
    ) -> None:
        self.path, self._gpu = Path(path), gpu
        self._dtypes = STREAMS | {"instructions/mask": instruction_columns(warp_size)["mask"]}
        built_from = json.dumps(dict(parameters), sort_keys=True)
        self._about = {"kernel": kernel, "source": source, "parameters": built_from}
        self._digest = ContentDigest()
        self._held: dict[str, list[np.ndarray]] = {name: [] for name in self._dtypes}  # not yet written
        self._held_bytes = dict.fromkeys(self._dtypes, 0)
        self._n_warps = self._n_instructions = self._n_addresses = 0
        self._early = [0, 0]  # instructions and addresses written ahead of their block
        self._finished = False

    def __enter__(self) -> TraceWriter:
        with writing(self.path), ExitStack() as stack:
            temporary = stack.enter_context(replacing(self.path))
            self._sink = stack.enter_context(hdf5.Sink(temporary))
            cache = {"rdcc_nbytes": 2 * CHUNK_BYTES}  # of each stream
            self._file = stack.enter_context(hdf5.created(self._sink, SCHEMA, VERSION, **cache))
            # They stay open: closing one compresses its last chunk, which the next batch fills further.
            self._streams = {
                name: _create_stream(self._file, name, np.dtype(dtype))
                for name, dtype in self._dtypes.items()
                if not self._digest.is_plain(name)
            }
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

    def finish(
        self,
        launch: LaunchShape,
        ops: Sequence[StaticInstruction],
        arrays: Sequence[ArrayInfo],
        issue: Issue | None = None,
        sources: Sources | None = None,
    ) -> str:
        """Complete the file and return its digest.

        Args:
            issue: what is known of waits and mixes; None: neither is.
            sources: the text of the files that `ops` name, as :func:`memsim.trace.source_text.at_hand` finds it.

        The digest covers everything but the writer's version, the GPU and the sources. Compression and batching do not
        change it.
        """
        self._extend("blocks/first_warp", np.array([self._n_warps]))
        self._extend("warps/first_instruction", np.array([self._n_instructions]))
        self._extend("warps/first_address", np.array([self._n_addresses]))
        for name in self._held:
            self._write_held(name)
        issue = issue or Issue()
        digest = self._digest.hexdigest(self._about, launch, ops, arrays, issue)
        known = {"dependence": issue.dependence.value, "instructions": issue.instructions.value, "gpu": self._gpu}
        with writing(self.path):
            _write_table(self._file, "ops", OP_COLUMNS, ops)
            _write_table(self._file, "arrays", ARRAY_COLUMNS, arrays)
            for name in MIX.fields or ():
                self._file.create_dataset(f"instruction_mixes/{name}", data=issue.mixes[name])
            source_text.write(self._file, sources or {})
            for name, text in {**self._about, **known, "created_by": f"memsim {__version__}", "digest": digest}.items():
                hdf5.put_text(self._file, name, text)
            for name, value in asdict(launch).items():
                self._file.attrs[name] = value
            self._file.close()
            self._sink.seal()
        self._finished = True
        return digest

    def _extend(self, name: str, values: np.ndarray) -> None:
        """Take the next values of a stream; small batches are written together, as each write costs h5py about 1 ms."""
        values = np.ascontiguousarray(values, dtype=self._dtypes[name])
        before = self._digest.take(name, values)
        if self._digest.is_plain(name):
            return
        held = self._held[name]
        if before:
            held.append(np.full(before, DEFAULTS[name], values.dtype))
        held.append(values)
        self._held_bytes[name] += (before + len(values)) * values.itemsize
        if self._held_bytes[name] >= CHUNK_BYTES:
            self._write_held(name)
        else:
            held[-1] = values.copy()  # the caller may use its array again

    def _write_held(self, name: str) -> None:
        """Write what :meth:`_extend` has taken of a stream since the last write."""
        if not (held := self._held[name]):
            return
        values = held[0] if len(held) == 1 else np.concatenate(held)
        held.clear()
        self._held_bytes[name] = 0
        with writing(self.path):
            if name not in self._streams:  # its first value that is not the default
                self._streams[name] = _create_stream(self._file, name, values.dtype)
            dataset = self._streams[name]
            size = dataset.shape[0]
            dataset.resize(size + len(values), axis=0)
            dataset[size:] = values
            self._sink.check()


def _create_stream(file: h5py.File, name: str, dtype: np.dtype) -> h5py.Dataset:
    return file.create_dataset(
        name, shape=(0,), maxshape=(None,), dtype=dtype, chunks=(CHUNK_BYTES // dtype.itemsize,), **hdf5.COMPRESSED
    )


def _write_table(
    file: h5py.File, group: str, columns: dict[str, str], rows: Sequence[StaticInstruction | ArrayInfo]
) -> None:
    for name, dtype in columns.items():
        values = [getattr(row, name) for row in rows]
        as_stored = hdf5.fixed_texts(values) if dtype == "str" else np.array(values, np.dtype(dtype))
        file.create_dataset(f"{group}/{name}", data=as_stored)
