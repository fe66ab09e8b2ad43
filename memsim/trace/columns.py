"""Columns that grow: in memory, or in .npy files that processes then share by mapping them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

import numpy as np
from numpy.lib import format as npy

from memsim.support.files import replacing


class TraceColumn(Protocol):
    """Something that takes arrays and keeps them as one."""

    def append(self, values: np.ndarray) -> None:
        """Take a copy of `values`."""


class MemoryColumn:
    """A column in memory.

    >>> column = MemoryColumn(np.dtype("u1"))
    >>> column.append(np.array([1, 2])); column.append(np.array([3]))
    >>> column.concatenated()
    array([1, 2, 3], dtype=uint8)
    """

    def __init__(self, dtype: np.dtype) -> None:
        self._dtype, self._pieces = dtype, [np.zeros(0, dtype)]

    def append(self, values: np.ndarray) -> None:
        self._pieces.append(values.astype(self._dtype))

    def concatenated(self) -> np.ndarray:
        """All values that were appended, in order, as one array."""
        return np.concatenate(self._pieces)


class FileColumn:
    """A column in an .npy file; see :func:`file_column`."""

    def __init__(self, file: IO[bytes], dtype: np.dtype) -> None:
        self._file, self._dtype, self._length = file, dtype, 0
        self.write_header()

    def append(self, values: np.ndarray) -> None:
        self._file.write(values.astype(self._dtype, copy=False).view(np.uint8).data)
        self._length += len(values)

    def write_header(self) -> None:
        """Write the header for the present length; numpy pads it so that the length may grow in place."""
        self._file.seek(0)
        shape = {"descr": npy.dtype_to_descr(self._dtype), "fortran_order": False, "shape": (self._length,)}
        npy.write_array_header_1_0(self._file, shape)


@contextmanager
def file_column(path: Path, dtype: np.dtype) -> Iterator[FileColumn]:
    """A column in a new .npy file: the block leaves the whole file, or none when an exception passes.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "column.npy"
    >>> with file_column(path, np.dtype("u1")) as column:
    ...     column.append(np.array([1, 2])); column.append(np.array([3]))
    >>> np.load(path)
    array([1, 2, 3], dtype=uint8)
    """
    with replacing(path) as temporary, temporary.open("wb") as file:
        column = FileColumn(file, dtype)
        yield column
        column.write_header()
