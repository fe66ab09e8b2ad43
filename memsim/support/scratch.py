"""Temporary folders that do not outlive their process for long: what a killed one leaves, the next one removes.

A folder is locked by the process that made it, and by those forked from it; the system takes the lock away with the
last of them, however it ends. A lock tells more than a process's id would: ids are given again, and mean nothing on
another machine.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from memsim.support.errors import InputError

try:
    import fcntl
except ImportError:  # Windows has no such locks: nothing is locked there, and nothing removed
    fcntl = None  # type: ignore[assignment]

PREFIX = "memsim-tmp-"
HIDDEN = ".memsim-part-"  # next to an output


def _temporary() -> str:
    """The system's place for temporary files, which is looked for by writing to it."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        raise InputError("TMPDIR", "folder", "cannot be written; give a writable place with room") from None


class Scratch(TemporaryDirectory):
    """A temporary folder, locked while it is in use; making one removes those in the same place that nobody uses.

    Args:
        parent: where to make it; None: the system's place for temporary files.
        prefix: of its name, and of those that are removed.

    >>> with Scratch() as name:
    ...     Path(name, "a").write_text("b")
    1
    >>> Path(name).exists()
    False
    """

    def __init__(self, parent: str | Path | None = None, prefix: str = PREFIX) -> None:
        parent = _temporary() if parent is None else str(parent)
        remove_abandoned(parent, prefix)
        self._lock: int | None = None
        while True:
            super().__init__(prefix=prefix, dir=parent, ignore_cleanup_errors=True)
            self._lock = _locked(self.name, wait=True)
            if os.path.isdir(self.name):
                return
            self._finalizer.detach()  # type: ignore[attr-defined]  # another process took it for abandoned, and was here before the lock
            self._unlock()

    def cleanup(self) -> None:
        super().cleanup()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def leaving_in(folder: str | Path) -> dict[str, str]:
    """The environment of a command whose own temporary files go to a folder, where they lie when it is killed.

    >>> leaving_in("scratch")["TMPDIR"]
    'scratch'
    """
    return {**os.environ, "TMPDIR": str(folder)}


def remove_abandoned(parent: str | Path, prefix: str) -> None:
    """Remove the folders of this user whose names begin so and whose processes are gone."""
    with suppress(OSError):
        for folder in _folders(parent, prefix):
            lock = _locked(folder, wait=False)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _folders(parent: str | Path, prefix: str) -> Iterator[str]:
    with os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False) and _is_mine(entry):
                yield entry.path


def _is_mine(entry: os.DirEntry) -> bool:
    with suppress(OSError):
        return entry.stat(follow_symlinks=False).st_uid == os.getuid()
    return False


def _locked(folder: str, *, wait: bool) -> int | None:
    """A descriptor that holds the folder's lock; None where it is held, or cannot be (some network file systems)."""
    if fcntl is None:
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
