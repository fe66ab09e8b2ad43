"""A bounded cache of results that depend on nothing but their key: numbered arrays, one file per key.

A file is a row after the other, each with its length and digest. Processes append under a lock; what a killed one left
half written, or what is damaged, ends the file for its readers, and the next writer cuts it off. The cache may lose any
file at any time: what must last is in a journal (:mod:`memsim.support.journal`), which packs its rows alike.
"""

from __future__ import annotations

import fcntl
import io
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from itertools import count
from pathlib import Path

import numpy as np

from memsim.support.cache import cache_folder
from memsim.support.errors import InputError

KIND = "trials"  # the folder's name in the cache
VARIABLE = "MEMSIM_CACHE_MB"
"""Environment variable with the megabytes that kept trials, and kept captures, may take; 0 keeps none."""
DEFAULT_MB = 512
_HEAD = struct.Struct("<4sqI32s")  # mark, number, bytes of content, digest
_MARK = b"mstr"
_LONGEST = 1 << 28  # bytes of a row; a longer one is damage
_LOOK_AFTER = 32  # new files of this process between looks at the size of all
_made = count()


def limit_bytes() -> int:
    """What all files together may take.

    Raises:
        InputError: the variable is no number of 0 or more.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if given and not given.isdecimal():
        raise InputError(VARIABLE, "size", f"is {given!r:.40}; give megabytes, 0 or more")
    return int(given or DEFAULT_MB) * 1_000_000


class StoredRows:
    """The rows of one key.

    Args:
        key: hexadecimal digest of all that the rows depend on; None: nothing is kept.
        kind: the folder in the cache; each has the same limit for itself.

    >>> rows = StoredRows(None)
    >>> rows.add(0, {"cycles": np.array([7])})
    >>> dict(rows.read())
    {}
    """

    def __init__(self, key: str | None, kind: str = KIND) -> None:
        self._path: Path | None = None
        if key is not None and limit_bytes():
            with suppress(InputError):  # no folder can be written
                self._path = cache_folder(kind) / key

    def read(self) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Number and arrays of each row that is whole, in the order in which they were added."""
        if self._path is None:
            return
        try:
            data = self._path.read_bytes()
        except OSError:
            return
        with suppress(OSError):
            os.utime(self._path)  # the files that are used last stay
        for number, arrays, _ in _rows(data):
            yield number, arrays

    def add(self, number: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep a row; where that is not possible (a full disk), it is not kept."""
        if self._path is None:
            return
        content, digest = packed(arrays)
        row = _HEAD.pack(_MARK, number, len(content), digest) + content
        with suppress(OSError):
            new = not self._path.exists()
            with open(self._path, "a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if not new:
                    file.seek(0)
                    file.truncate(max((end for _, _, end in _rows(file.read())), default=0))
                file.write(row)
            if new and next(_made) % _LOOK_AFTER == 0:
                remove_beyond(self._path.parent, limit_bytes())


def packed(arrays: Mapping[str, np.ndarray]) -> tuple[bytes, bytes]:
    """The content of a row and its digest.

    >>> unpacked(*packed({"cycles": np.array([7])}))["cycles"].tolist()
    [7]
    """
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    content = buffer.getvalue()
    return content, sha256(content).digest()


def unpacked(content: object, digest: bytes) -> dict[str, np.ndarray] | None:
    """The arrays of a row; None of a damaged one."""
    if not isinstance(content, bytes) or sha256(content).digest() != digest:
        return None
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return dict(arrays)


def _rows(data: bytes) -> Iterator[tuple[int, dict[str, np.ndarray], int]]:
    """Each whole row, and where it ends; the first damaged one is the last."""
    at = 0
    while at + _HEAD.size <= len(data):
        mark, number, length, digest = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if mark != _MARK or length > _LONGEST:
            return
        found = unpacked(data[at : at + length], digest)
        if found is None:
            return
        at += length
        yield number, found, at


def remove_beyond(folder: Path, most: int) -> None:
    """Remove files, those used last the last, until a folder's take at most so many bytes."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                found.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
    total = 0
    for _, size, path in sorted(found, reverse=True):
        total += size
        if total > most:
            with suppress(OSError):
                os.unlink(path)
