"""Reads an HDF5 file without a seal in a process of its own, where a damaged one can hang, crash or take memory.

``python -m memsim.support.probe FILE`` opens the file, reads every attribute and dataset that is stored in it, and ends
with status 0 if libhdf5 came through.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

SECONDS = 10  # for the smallest file; a whole one takes half a second
BYTES_PER_SECOND = 5e6  # in addition to that; the slowest that a file is read
MOST_MEMORY = 1 << 31
_CHUNK = 1 << 20  # values read at once


def survives_reading(path: str | Path) -> bool:
    """Whether another process can read the whole of an HDF5 file, in time and in bounded memory."""
    found = os.stat(path)
    return _survives(os.fspath(path), found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache(64)
def _survives(path: str, _inode: int, size: int, _changed: int) -> bool:
    package = str(Path(__file__).parents[2])
    search_path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", __name__, os.path.abspath(path)],
            env=os.environ | {"PYTHONPATH": search_path, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS + size / BYTES_PER_SECOND,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _read_all(path: str) -> None:
    import h5py

    from memsim.support.hdf5 import is_stored

    def visit(_name: str, found: h5py.Group | h5py.Dataset) -> None:
        list(found.attrs.items())
        if isinstance(found, h5py.Dataset) and is_stored(found, os.path.getsize(path)):
            if found.shape:
                for first in range(0, len(found), _CHUNK):
                    found[first : first + _CHUNK]
            else:
                found[()]

    with h5py.File(path, "r") as file:
        visit("/", file)
        file.visititems(visit)  # follows no link out of the file


def _bounded() -> None:
    """Bound this process's memory."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _bounded()
    _read_all(sys.argv[1])
