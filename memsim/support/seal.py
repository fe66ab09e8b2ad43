"""Seals: the first bytes of every HDF5 file that memsim writes, which show whether the rest is as it was written.

libhdf5 goes round for ever, crashes or gives other numbers when bytes of a file are not what they were. So nothing of a
sealed file reaches it before a SHA-256 of all that follows the seal agrees (100 MB take 50 ms). HDF5 calls this place
a user block: whatever else reads HDF5 skips it. A seal protects from damage, not from malice: anybody can make one.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import time
from functools import lru_cache
from pathlib import Path

from memsim.support.errors import InputError

SEAL_BYTES = 512  # the smallest user block
_TICK_NS = 1_000_000_000  # a file that changed twice within its clock's tick looks unchanged
_TITLE = f"memsim: HDF5 from byte {SEAL_BYTES} on; the SHA-256 of all that follows is"


def seal_of(file: io.FileIO | io.BufferedReader | io.BufferedRandom) -> bytes:
    """The seal that fits the bytes of `file` behind its first SEAL_BYTES."""
    file.seek(SEAL_BYTES)
    return f"{_TITLE}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode().ljust(SEAL_BYTES, b"\0")


def seal(path: str | Path) -> None:
    """Seal a file again, after a change to it that was meant."""
    with open(path, "r+b") as file:
        new = seal_of(file)
        file.seek(0)
        file.write(new)


def has_intact_seal(path: str | Path) -> bool:
    """Whether a file is sealed; no file of memsim is without.

    Raises:
        InputError: it is sealed and not as it was written, or no file.
        OSError: the system does not let it be read.
    """
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):  # reading a pipe waits for its writer
        raise InputError(path, "file", "is a device or a pipe; give the path of a file")
    if time.time_ns() - found.st_ctime_ns < _TICK_NS:
        return _has_intact_seal(path)
    return _known(path, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


@lru_cache(64)
def _known(path: str | Path, _unchanged: tuple[int, ...]) -> bool:
    """The same, read once as long as the system says that the file has not changed."""
    return _has_intact_seal(path)


def _has_intact_seal(path: str | Path) -> bool:
    with open(path, "rb") as file:
        found = file.read(SEAL_BYTES)
        if not found.startswith(_TITLE.encode()[:8]):
            return False
        if found == seal_of(file):
            return True
    problem = "is damaged or was changed since it was written (its checksum differs); take a copy or make it again"
    raise InputError(path, "file", problem)
