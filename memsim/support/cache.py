"""The folder for what memsim makes once and keeps: built libraries, compiled programs and loops.

What was made by other sources of memsim is not taken for what these would make: a digest of them is part of its name.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from memsim.support.errors import InputError

PACKAGE = Path(__file__).parents[1]
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
    with open(folder.with_name(f"{folder.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # which the system takes away from a process that is killed
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


def source_digest(package: Path, rooms: Iterable[str]) -> str:
    """Hexadecimal digest of all Python files of some rooms.

    Args:
        package: the folder of memsim.
        rooms: names of folders in it.
    """
    total = hashlib.sha256()
    for room in rooms:
        for source in sorted((package / room).rglob("*.py")):
            total.update(str(source.relative_to(package)).encode() + b"\0" + source.read_bytes())
    return total.hexdigest()[:16]


@cache
def own_digest(*rooms: str) -> str:
    """That of this process's memsim."""
    return source_digest(PACKAGE, rooms)
