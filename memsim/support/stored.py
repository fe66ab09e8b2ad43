"""Whether what an HDF5 dataset claims to hold is in its file: the bound on the memory that reading it takes.

A file of 100 KB can claim 16 GB: values that were never written read as zeros.
"""

from __future__ import annotations

import math

import h5py
import hdf5plugin

MOST_RATIO = 256  # bytes from one stored byte: LZ4 ends at 255
MOST_CHUNK_BYTES = 1 << 24  # of a chunk, which is unpacked whole
_LZF = 32000  # of the first traces
_FILTERS = {hdf5plugin.Blosc.filter_id, _LZF, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32}


def is_stored(dataset: h5py.Dataset, file_bytes: int) -> bool:
    """Whether every value of a dataset lies in its file of `file_bytes`, packed by what memsim packs with if at all."""
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
