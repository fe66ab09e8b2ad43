"""Columns that grow: in memory, or in .npy files that processes then share by mapping them."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

import numpy as np
from numpy.lib import format as npy

from memsim.files import replacing


class Column(Protocol):
    """Something that takes arrays and gives them back as one."""

    def append(self, values: np.ndarray) -> None:
        """Take a copy of `values`."""

    def finish(self) -> np.ndarray:
        """Return everything appended, in order; nothing can be appended after."""


class MemoryColumn:
    """A column in memory.

    >>> column = MemoryColumn(np.dtype("u1"))
    >>> column.append(np.array([1, 2], "u1")); column.append(np.array([3], "u1"))
    >>> column.finish()
    array([1, 2, 3], dtype=uint8)
    """

    def __init__(self, dtype: np.dtype) -> None:
        self._parts = [np.zeros(0, dtype)]

    def append(self, values: np.ndarray) -> None:
        self._parts.append(values.astype(self._parts[0].dtype))

    def finish(self) -> np.ndarray:
        return np.concatenate(self._parts)


class FileColumn:
    """A column in an .npy file: a context that leaves the whole file, or none when an exception passes."""

    def __init__(self, path: Path, dtype: np.dtype) -> None:
        self._path, self._dtype, self._length = path, dtype, 0

    def __enter__(self) -> Self:
        self._replacing = replacing(self._path)
        self._file: IO[bytes] = self._replacing.__enter__().open("w+b")
        self._write_header()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._replacing.__exit__(kind, error, trace)

    def append(self, values: np.ndarray) -> None:
        self._file.write(values.astype(self._dtype, copy=False).view(np.uint8).data)
        self._length += len(values)

    def finish(self) -> np.ndarray:
        """Complete the file and return it mapped read-only."""
        self._write_header()
        self._file.flush()
        return np.load(self._file.name, mmap_mode="r")

    def _write_header(self) -> None:
        """Write the header for the present length; numpy pads it so that the length may grow in place."""
        self._file.seek(0)
        about: dict[str, Any] = {
            "descr": npy.dtype_to_descr(self._dtype), "fortran_order": False, "shape": (self._length,)
        }  # fmt: skip
        npy.write_array_header_1_0(self._file, about)
