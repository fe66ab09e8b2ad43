"""Compiled loops on disk that no longer fit their sources."""

from __future__ import annotations

from pathlib import Path


def drop_stale(folder: Path) -> None:
    """Forget the loops on disk that are older than any source in a folder or below it.

    Numba looks at a function's own file only, not at those of the functions that it calls or that are inlined in it.
    """
    newest = max(source.stat().st_mtime for source in folder.rglob("*.py"))
    for index in folder.rglob("__pycache__/*.nbi"):
        if index.stat().st_mtime < newest:
            index.unlink(missing_ok=True)
