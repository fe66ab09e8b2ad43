"""The folder in which memsim keeps what it can make again: compiled loops, libraries, compilers' results."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path


def cache_folder(kind: str) -> Path:
    """The folder of one kind of cached files, which need not exist yet.

    ``MEMSIM_CACHE`` names the folder of all kinds; by default it is ``memsim`` in the user's cache folder
    (``XDG_CACHE_HOME``, else ``~/.cache``; XDG Base Directory Specification).

    >>> cache_folder("loops").name
    'loops'
    """
    given = os.environ.get("MEMSIM_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return (Path(given) if given else Path(base) / "memsim") / kind


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
