"""Reads an HDF5 file without a seal in a process of its own, where a damaged one can hang, crash or take memory.

``python -m memsim.support.probe FILE`` opens the file, reads every attribute and dataset that is stored in it, and ends
with status 0 if libhdf5 came through.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import h5py
import hdf5plugin

SECONDS = 10  # for the smallest file; a whole one takes half a second
BYTES_PER_SECOND = 5e6  # in addition to that; the slowest that a file is read
MOST_MEMORY = 1 << 31
_CHUNK = 1 << 20  # values read at once
MOST_RATIO = 256  # bytes from one stored byte: LZ4 ends at 255
MOST_CHUNK_BYTES = 1 << 24  # of a chunk, which is unpacked whole
_LZF = 32000  # of the first traces
_FILTERS = {hdf5plugin.Blosc.filter_id, _LZF, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32}


def is_stored(dataset: h5py.Dataset, file_bytes: int) -> bool:
    """Whether every value of a dataset lies in its file of `file_bytes`, packed by what memsim packs with if at all.

    This bounds the memory that reading it takes. A file of 100 KB can claim 16 GB: values that were never written read
    as zeros.
    """
    if dataset.is_virtual or dataset.external:
        return False
    size, stored = math.prod(dataset.shape) * dataset.dtype.itemsize, dataset.id.get_storage_size()
    if stored > file_bytes:
        return False
    if dataset.chunks is None:
        return bool(stored >= size)  # a text of any length takes more than its pointer in memory
    properties = dataset.id.get_create_plist()
    filters = {properties.get_filter(i)[0] for i in range(properties.get_nfilters())}
    chunk_bytes = math.prod(dataset.chunks) * dataset.dtype.itemsize
    count = math.prod(-(-length // step) for length, step in zip(dataset.shape, dataset.chunks, strict=True))
    return (
        filters <= _FILTERS
        and chunk_bytes <= MOST_CHUNK_BYTES
        and count * chunk_bytes <= MOST_RATIO * stored
        and dataset.id.get_num_chunks() == count
    )


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
