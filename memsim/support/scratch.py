"""Temporary folders that do not outlive their process for long: what a killed one leaves, the next one removes.

A folder is locked by the process that made it, and by those forked from it; the system takes the lock away with the
last of them, however it ends. A lock says more than a process's id would: ids are given again, and mean nothing on
another machine.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from memsim.support.errors import InputError

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
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if not entry.name.startswith(prefix) or not entry.is_dir(follow_symlinks=False):
                continue
            with suppress(FileNotFoundError):
                is_mine = entry.stat(follow_symlinks=False).st_uid == os.getuid()
                if is_mine and (lock := _locked(entry.path, wait=False)) is not None:
                    shutil.rmtree(entry.path, ignore_errors=True)
                    os.close(lock)


def _locked(folder: str, *, wait: bool) -> int | None:
    """A descriptor that holds the folder's lock; None where it is held, or cannot be (some network file systems)."""
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
