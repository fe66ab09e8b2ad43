"""HDF5 files: making them on disks that may be full, opening them when nobody vouches for them."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np

from memsim.support.errors import InputError
from memsim.support.files import replacing, writing
from memsim.support.seal import SEAL_BYTES, has_intact_seal, seal_of
from memsim.support.text import all_printable

# How datasets are compressed: bytes of equal rank together, then LZ4. On addresses this writes nine times as fast as
# h5py's own LZF, reads fifteen times as fast, and takes a tenth more room.
COMPRESSED: dict[str, Any] = dict(hdf5plugin.Blosc(cname="lz4", shuffle=hdf5plugin.Blosc.SHUFFLE))

MOST_RATIO = 256  # bytes from one stored byte: LZ4 ends at 255
MOST_CHUNK_BYTES = 1 << 24  # of a chunk, which is unpacked whole
_FILTERS = {hdf5plugin.Blosc.filter_id, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32}
# What h5py raises on damaged files.
_DAMAGED = (OSError, RuntimeError, KeyError, ValueError, TypeError, OverflowError)


class Sink(io.FileIO):
    """A file for HDF5 to write to (:func:`created`) that survives a full disk.

    HDF5 cannot close a file whose last writes fail: it reports them again and again while Python exits, and may crash.
    So after the first failure a sink accepts and drops what is written, and :meth:`check` raises what happened. Whoever
    writes calls it now and then, and :meth:`seal` once after closing the HDF5 file.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, "w+")
        self._failure: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        try:
            while rest and self._failure is None:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self._failure = error
        return len(data)

    def truncate(self, size: int | None = None, /) -> int:
        try:
            return super().truncate(size) if self._failure is None else 0
        except OSError as error:
            self._failure = error
            return 0

    def seal(self) -> None:
        """Put the seal in front of what was written; raises what :meth:`check` does."""
        self.check()
        new = seal_of(self)
        self.seek(0)
        self.write(new)
        self.check()

    def check(self) -> None:
        """Raise the OSError of the first write that failed, if one did."""
        if self._failure is not None:
            raise self._failure


def created(sink: Sink, schema: str, version: tuple[int, int], **options: Any) -> h5py.File:
    """A new HDF5 file in `sink`, with room for the seal, marked with its schema and version.

    Args:
        options: further ones of h5py.File.
    """
    # The newest layout that h5py 3.10 knows: it has checksums of its own, and attributes may be of any size.
    file = h5py.File(sink, "w", libver="v110", userblock_size=SEAL_BYTES, **options)
    put_text(file, "schema", schema)
    file.attrs["version"] = np.asarray(version, "<i4")
    return file


@contextmanager
def written(path: str | Path, schema: str, version: tuple[int, int], durable: bool = False) -> Iterator[h5py.File]:
    """A new HDF5 file, sealed and moved to `path` when the block ends: whole or not at all.

    Args:
        durable: see :func:`memsim.support.files.replacing`.

    Raises:
        InputError: it cannot be written (no such folder, no permission, disk full).
    """
    with writing(path), replacing(path, durable) as temporary, Sink(temporary) as sink:
        with created(sink, schema, version) as file:
            yield file
        sink.seal()


def put_text(file: h5py.File, name: str, text: str) -> None:
    """Write an attribute of fixed length; those of any length lie in heaps, whose damage makes libhdf5 go round."""
    values = fixed_texts([text])
    file.attrs.create(name, values[0], dtype=values.dtype)


def fixed_texts(texts: Sequence[str]) -> np.ndarray:
    """Texts for a dataset of fixed-length UTF-8.

    >>> fixed_texts(["a", "bc"]).dtype
    dtype('S2')
    """
    encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
    return np.array(encoded, h5py.string_dtype("utf-8", max([1, *map(len, encoded)])))


def as_text(value: Any) -> str | None:
    """The text of an attribute or of a dataset's value; None: it is none."""
    if isinstance(value, bytes):  # numpy's too
        return value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else None


@contextmanager
def opened(path: str | Path, schema: str, version: tuple[int, int]) -> Iterator[h5py.File]:
    """An HDF5 file of `schema`, open for reading: as it was written (:mod:`memsim.support.seal`).

    Raises:
        InputError: it has no seal, has changed since it was written, is of another schema or of a newer major version
            than `version`, or cannot be read anywhere inside the block.
        OSError: the system does not let it be read (missing, no permission).
    """
    damaged = InputError(path, "file", f"is damaged or not an HDF5 file; give a complete {schema} file")
    if not has_intact_seal(path):
        raise damaged
    try:
        with h5py.File(path, "r") as file:
            _check_stamp(path, file, schema, version)
            yield file
    except MemoryError as error:
        raise InputError(path, "file", "is larger than the free memory") from error
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the system's, not the file's fault
        raise damaged from error


def is_readable(path: str | Path, schema: str, version: tuple[int, int]) -> bool:
    """Whether :func:`opened` opens a file; not a damaged one."""
    try:
        with opened(path, schema, version):
            return True
    except (InputError, OSError):
        return False


def _check_stamp(path: str | Path, file: h5py.File, schema: str, version: tuple[int, int]) -> None:
    found = as_text(file.attrs.get("schema"))
    if found != schema:
        raise InputError(path, "schema", f"is {found!r:.60}; give a file of schema {schema!r}")
    number = np.asarray(file.attrs.get("version", ()))
    if number.shape != (2,) or number.dtype.kind not in "iu":
        raise InputError(path, "version", "is not a pair of whole numbers (major, minor)")
    if number[0] > version[0]:
        major, minor = (int(level) for level in number)
        raise InputError(
            path, "version", f"is {major}.{minor}; this memsim reads up to {version[0]}.x, install a newer one"
        )


def find(file: h5py.File, name: str) -> h5py.Dataset | None:
    """The dataset `name` if the file has one of its own: no component of the path is a link to elsewhere."""
    found: Any = file
    for level in name.split("/"):
        if not isinstance(found, h5py.Group) or not isinstance(found.get(level, getlink=True), h5py.HardLink):
            return None
        found = found[level]
    return found if isinstance(found, h5py.Dataset) else None


def dataset(
    path: str | Path, file: h5py.File, name: str, dtype: np.dtype | str | None, shape: tuple[int | None, ...]
) -> h5py.Dataset:
    """The dataset `name`, stored in the file itself, of this dtype (None: text) and shape (None: any length).

    What it takes in memory is bounded by what it takes in the file (:func:`is_stored`).

    Raises:
        InputError: it is missing, a link to elsewhere, of another dtype or shape, or not stored.
    """
    found = find(file, name)
    if found is None or found.is_virtual or found.external:
        raise InputError(path, name, "is missing; the file is incomplete or was changed")
    fits = found.shape is not None and len(found.shape) == len(shape)
    fits = fits and all(expected in (None, length) for expected, length in zip(shape, found.shape, strict=True))
    is_type = h5py.check_string_dtype(found.dtype) is not None if dtype is None else found.dtype == np.dtype(dtype)
    if not is_type or not fits:
        expected = "text" if dtype is None else np.dtype(dtype)
        raise InputError(path, name, f"is {found.dtype}{_any(found.shape or ())}; it must be {expected}{_any(shape)}")
    if not is_stored(found, os.path.getsize(path)):
        raise InputError(path, name, "claims more values than are stored; the file is damaged or malicious")
    return found


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


def check_size(path: str | Path, found: Iterable[h5py.Dataset], limit_bytes: int) -> None:
    """Refuse datasets that together would take more than `limit_bytes` of memory.

    Raises:
        InputError: names the largest.
    """
    sizes = {each.name[1:]: math.prod(each.shape) * each.dtype.itemsize for each in found}
    if sum(sizes.values()) > limit_bytes:
        largest = max(sizes, key=lambda name: sizes[name])
        raise InputError(path, largest, f"has {sizes[largest]} bytes; at most {limit_bytes} are read")


def _any(shape: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("any" if length is None else str(length) for length in shape) + "]"


def write_text(group: h5py.Group, name: str, value: Any) -> None:
    """Write a value as JSON text."""
    (text,) = texts = fixed_texts([json.dumps(value)])
    group.create_dataset(name, data=text, dtype=texts.dtype)


def read_text(path: str | Path, file: h5py.File, name: str) -> Any:
    """The value of a JSON text, with every text in it printable.

    Raises:
        InputError: it is missing, or is none.
    """
    text = as_text(dataset(path, file, name, None, ())[()])
    try:
        return all_printable(json.loads(text or "", parse_constant=_refuse_constant))
    except (ValueError, RecursionError):
        raise InputError(path, name, "is not JSON text; the file is damaged") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")  # Python's reader takes NaN and Infinity
