"""Which traces are equal but for the place of their launch in the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import h5py
import numpy as np

from memsim.support import hdf5
from memsim.trace.reader import Trace
from memsim.trace.schema import SCHEMA, VERSION

_OTHERS = ("digest", "parameters", "created_by")  # attributes that equal launches of a program differ in


def content_keys(traces: Sequence[Trace]) -> list[str]:
    """A key for each trace, equal where their files are equal but for the parameters, among them the launch's place.

    Only traces that look alike are read, as they are stored: the same content that is compressed in another way has
    another key.

    Raises:
        InputError: a trace is damaged.
    """
    by_digest = {trace.digest: trace for trace in traces}
    looks = {digest: _look(trace) for digest, trace in by_digest.items()}
    alike = Counter(looks.values())
    keys = {digest: _key(by_digest[digest]) if alike[look] > 1 else digest for digest, look in looks.items()}
    return [keys[trace.digest] for trace in traces]


def _look(trace: Trace) -> tuple[object, ...]:
    launch = trace.launch
    return trace.kernel, tuple(launch.grid), tuple(launch.block), trace.n_instructions, int(trace.first_address[-1])


def _key(trace: Trace) -> str:
    """A digest of the attributes and of all datasets of a file, without decompressing them."""
    found = sha256()
    with hdf5.opened(trace.path, SCHEMA, VERSION) as file:
        for name in sorted(set(file.attrs) - set(_OTHERS)):
            found.update(f"{name}={np.asarray(file.attrs[name]).tolist()!r};".encode())
        names: list[str] = []
        file.visit(names.append)
        for name in sorted(names):
            if isinstance(dataset := hdf5.find(file, name), h5py.Dataset):
                _add(found, hdf5.dataset(trace.path, file, name, dataset.dtype, dataset.shape))
    return found.hexdigest()


def _add(found: Any, dataset: h5py.Dataset) -> None:
    found.update(f"{dataset.name}{dataset.dtype}{dataset.shape};".encode())
    if dataset.chunks is None:
        found.update(np.asarray(dataset[()]).tobytes())
        return
    offsets: list[tuple[int, ...]] = []
    dataset.id.chunk_iter(lambda chunk: offsets.append(chunk.chunk_offset))
    for offset in offsets:
        found.update(dataset.id.read_direct_chunk(offset)[1])
