"""HDF5 files: making them on disks that may be full, opening them when nobody vouches for them."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np

from memsim.support.errors import InputError

# How datasets are compressed: bytes of equal rank together, then LZ4. On addresses this writes nine times as fast as
# h5py's own LZF, reads fifteen times as fast, and takes a tenth more room.
COMPRESSED: dict[str, Any] = dict(hdf5plugin.Blosc(cname="lz4", shuffle=hdf5plugin.Blosc.SHUFFLE))


class Sink(io.FileIO):
    """A file for HDF5 to write to (``h5py.File(sink, "w")``) that survives a full disk.

    HDF5 cannot close a file whose last writes fail: it reports them again and again while Python exits, and may crash.
    So after the first failure a sink accepts and drops what is written, and :meth:`check` raises what happened. Whoever
    writes calls it now and then, and once after closing the HDF5 file.
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

    def check(self) -> None:
        """Raise the OSError of the first write that failed, if one did."""
        if self._failure is not None:
            raise self._failure


def stamp(file: h5py.File, schema: str, version: tuple[int, int]) -> None:
    """Mark a new file with its schema and version."""
    file.attrs["schema"] = schema
    file.attrs["version"] = np.asarray(version, "<i4")


@contextmanager
def opened(path: str | Path, schema: str, version: tuple[int, int]) -> Iterator[h5py.File]:
    """An HDF5 file of `schema`, open for reading.

    Raises:
        InputError: it is no HDF5 file, of another schema, of a newer major version than `version`, or unreadable
            anywhere inside the block (truncated or damaged).
        OSError: the system does not let it be read (missing, no permission).
    """
    with open(path, "rb"):
        pass  # the system's own error, before HDF5 wraps it
    try:
        with h5py.File(path, "r") as file:
            _check_stamp(path, file, schema, version)
            yield file
    except (OSError, RuntimeError, KeyError, ValueError) as error:  # what h5py raises on damaged files
        if isinstance(error, OSError) and error.errno:
            raise  # the system's, not the file's fault
        raise InputError(path, "file", f"is damaged or no HDF5 file; give a whole {schema} file") from error


def _check_stamp(path: str | Path, file: h5py.File, schema: str, version: tuple[int, int]) -> None:
    found = file.attrs.get("schema")
    if not isinstance(found, str) or found != schema:
        raise InputError(path, "schema", f"is {found!r:.60}; give a file of schema {schema!r}")
    number = np.asarray(file.attrs.get("version", ()))
    if number.shape != (2,) or number.dtype.kind not in "iu":
        raise InputError(path, "version", "is not a pair of whole numbers (major, minor)")
    if number[0] > version[0]:
        major, minor = (int(part) for part in number)
        raise InputError(
            path, "version", f"is {major}.{minor}; this memsim reads up to {version[0]}.x, install a newer one"
        )


def dataset(
    path: str | Path, file: h5py.File, name: str, dtype: np.dtype | str, shape: tuple[int | None, ...]
) -> h5py.Dataset:
    """The dataset `name`, stored in the file itself, of this dtype and shape (None: any length).

    Raises:
        InputError: it is missing, a link to elsewhere, or of another dtype or shape.
    """
    link = file.get(name, getlink=True)
    found = file.get(name) if isinstance(link, h5py.HardLink) else None
    if not isinstance(found, h5py.Dataset) or found.is_virtual or found.external:
        raise InputError(path, name, "is missing; the file is incomplete or was changed")
    fits = len(found.shape) == len(shape) and all(
        wanted in (None, length) for wanted, length in zip(shape, found.shape, strict=True)
    )
    if found.dtype != np.dtype(dtype) or not fits:
        raise InputError(path, name, f"is {found.dtype}{list(found.shape)}; it must be {np.dtype(dtype)}{_any(shape)}")
    return found


def array(
    path: str | Path, file: h5py.File, name: str, dtype: np.dtype | str, shape: tuple[int | None, ...], limit_bytes: int
) -> np.ndarray:
    """The same dataset, read whole; refused when it would take more than `limit_bytes` of memory."""
    found = dataset(path, file, name, dtype, shape)
    size = math.prod(found.shape) * found.dtype.itemsize
    if size > limit_bytes:
        raise InputError(path, name, f"has {size} bytes; at most {limit_bytes} are read")
    return found[...]


def _any(shape: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("any" if length is None else str(length) for length in shape) + "]"
