"""The digest that names a trace's content, whatever the file's layout, compression and minor version."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256

import numpy as np
from numpy.lib.recfunctions import repack_fields

from memsim.support.deprecated import old_column
from memsim.trace.schema import (
    ADDRESS_DTYPE,
    INDEX_COLUMNS,
    INSTRUCTION_COLUMNS,
    INSTRUCTION_DEFAULTS,
    MIX,
    MIX_DEFAULTS,
    OP_DEFAULTS,
    ArrayInfo,
    Issue,
    LaunchShape,
    StaticInstruction,
)

# Every streamed dataset, in the order the digest takes them.
STREAMS: dict[str, str] = {
    **INDEX_COLUMNS,
    **{f"instructions/{name}": dtype for name, dtype in INSTRUCTION_COLUMNS.items()},
    "addresses": ADDRESS_DTYPE,
}
DEFAULTS = {f"instructions/{name}": value for name, value in INSTRUCTION_DEFAULTS.items()}


class ContentDigest:
    """Takes a trace's streams piece by piece, then its tables.

    A column at its default counts as if it were not there, so traces keep their digests over minor versions.
    """

    def __init__(self) -> None:
        self._plain = dict.fromkeys(DEFAULTS, 0)  # how many values columns have that have only their default so far
        self._hashes = {name: sha256() for name in STREAMS}  # most processors have instructions for it

    def is_plain(self, name: str) -> bool:
        """Whether a stream has a default and nothing else so far."""
        return name in self._plain

    def take(self, name: str, values: np.ndarray) -> int:
        """Take the next values of a stream, contiguous and of its dtype.

        Returns:
            How many default values lie before them that were not hashed until now.
        """
        before = 0
        if name in self._plain:
            if not (values != DEFAULTS[name]).any():
                self._plain[name] += len(values)
                return 0
            before = self._plain.pop(name)
            self._hashes[name].update(np.full(before, DEFAULTS[name], values.dtype).data)
        self._hashes[name].update(values.data)
        return before

    def hexdigest(
        self,
        about: Mapping[str, str],
        launch: LaunchShape,
        ops: Sequence[StaticInstruction],
        arrays: Sequence[ArrayInfo],
        issue: Issue,
    ) -> str:
        """The digest, hexadecimal.

        Args:
            about: kernel, source and parameters (JSON text).
        """
        op_rows = [
            {k: v for k, v in asdict(replace(op, by_data=False)).items() if v != OP_DEFAULTS.get(k)} for op in ops
        ]
        tables = [{**about, **asdict(launch), **issue.stated}, op_rows, [asdict(array) for array in arrays]]
        total = sha256(json.dumps(tables, sort_keys=True).encode())
        for name, stream in self._hashes.items():
            if name not in self._plain:
                total.update(stream.digest())
        if len(issue.mixes) > 1:
            links = [name for name in MIX_DEFAULTS if issue.mixes[name].any()]
            written = [name for name in MIX.names or () if name not in MIX_DEFAULTS or name in links]
            # The values alone would not show which of them are there. Their first names keep digests over versions.
            names = [old_column(f"instruction_mixes/{name}").partition("/")[2] for name in links]
            total.update(" ".join(names).encode())
            total.update(repack_fields(issue.mixes[written]).data)
        return total.hexdigest()
