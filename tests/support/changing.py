"""Changes to files of memsim's by somebody who also seals them again: what only the checks behind the seal can find."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py

from memsim.support.seal import seal


@contextmanager
def changed(path: Path) -> Iterator[h5py.File]:
    """The HDF5 file, open for changes; sealed anew when the block ends."""
    with h5py.File(path, "r+") as file:
        yield file
    seal(path)


def unsealed(path: Path) -> None:
    """Make the file one from before there were seals: HDF5 from its first byte on."""
    old = path.with_suffix(".old")
    with h5py.File(path, "r") as file, h5py.File(old, "w", libver="v110") as copy:
        for name, value in file.attrs.items():
            copy.attrs[name] = value.decode() if isinstance(value, bytes) else value
        for name in file:
            file.copy(name, copy)
    old.replace(path)
    assert path.read_bytes()[:4] == b"\x89HDF"
