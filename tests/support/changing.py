"""Changes to files of memsim's by somebody who also seals them again: what only the checks behind the seal can find."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np

from memsim.support.seal import seal
from memsim.trace.digest import STREAMS, ContentDigest
from memsim.trace.reader import Trace


@contextmanager
def changed(path: Path) -> Iterator[h5py.File]:
    """The HDF5 file, open for changes; sealed anew when the block ends."""
    with h5py.File(path, "r+") as file:
        yield file
    seal(path)


def unsealed(path: Path) -> None:
    """Make the file one of another program: HDF5 from its first byte on."""
    old = path.with_suffix(".old")
    with h5py.File(path, "r") as file, h5py.File(old, "w", libver="v110") as copy:
        for name, value in file.attrs.items():
            copy.attrs[name] = value.decode() if isinstance(value, bytes) else value
        for name in file:
            file.copy(name, copy)
    old.replace(path)
    assert path.read_bytes()[:4] == b"\x89HDF"


def content_digest(path: Path) -> str:
    """The digest of what is read from a trace, whatever digest the file states."""
    trace, digest = Trace.open(path), ContentDigest()
    (chunk,) = trace.chunks()
    for name, dtype in STREAMS.items():
        owner = trace if name.startswith(("blocks/", "warps/")) else chunk
        attribute = "block_ids" if name == "blocks/id" else name.rpartition("/")[2]
        digest.take(name, np.ascontiguousarray(getattr(owner, attribute), dtype))
    about = {"kernel": trace.kernel, "source": trace.source, "parameters": json.dumps(trace.parameters, sort_keys=True)}
    return digest.hexdigest(about, trace.launch, trace.ops, trace.arrays, trace.issue)
