"""The folder for what memsim makes once and keeps: built libraries, compiled programs and loops."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memsim.support.errors import InputError

VARIABLE = "MEMSIM_CACHE"
"""Environment variable with the folder to use in the place of ``~/.cache/memsim``."""


def cache_folder(kind: str) -> Path:
    """The folder for one kind of cached files, made if need be.

    It lies in ``$MEMSIM_CACHE``, else in ``$XDG_CACHE_HOME/memsim``, else in ``~/.cache/memsim``; where that cannot be
    written, among the system's temporary files.

    Args:
        kind: a name: ``programs``, ``libraries``.

    Raises:
        InputError: no folder can be made.
    """
    folder = Path()
    for root in _roots():
        folder = root / kind
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise InputError(VARIABLE, "folder", f"cannot be written ({folder}); set it to a writable folder")


def keep_newest(folder: Path, count: int) -> None:
    """Remove all but the most recently changed entries of a folder; another process may remove the same ones."""

    def changed(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except OSError:
            return 0.0

    with suppress(FileNotFoundError):
        for old in sorted(folder.iterdir(), key=changed, reverse=True)[count:]:
            shutil.rmtree(old, ignore_errors=True)


def _roots() -> list[Path]:
    if named := os.environ.get(VARIABLE):
        return [Path(named)]
    base = os.environ.get("XDG_CACHE_HOME")
    user = getattr(os, "getuid", lambda: 0)()
    usual = Path(base) if base else Path.home() / ".cache"
    return [usual / "memsim", Path(tempfile.gettempdir()) / f"memsim-cache-{user}"]


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """A folder, built if it is not there yet; of several processes one builds it."""
    if folder.is_dir():
        return folder
    with _building(folder):
        if not folder.is_dir():  # no other process has built it meanwhile
            made = folder.with_name(f"{folder.name}.{os.getpid()}")
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir()
            try:
                build(made)
                os.replace(made, folder)
            finally:
                shutil.rmtree(made, ignore_errors=True)
    return folder


@contextmanager
def _building(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder's build; the system takes it away from a process that is killed."""
    with open(folder.with_name(f"{folder.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
