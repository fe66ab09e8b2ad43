"""Whether files are as they were when something was made of them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

FileState = list[int | str] | None


def file_state(path: str) -> FileState:
    """Size, time and digest of a file; None: it is not there."""
    try:
        status = os.stat(path)
        return [status.st_size, status.st_mtime_ns, hashlib.sha256(Path(path).read_bytes()).hexdigest()]
    except OSError:
        return None


def is_unchanged(path: str, before: FileState) -> bool:
    """Whether a file is as it was: of the same size and time, or else of the same content."""
    try:
        status = os.stat(path)
    except OSError:
        return before is None
    if before is None:
        return False
    if before[:2] == [status.st_size, status.st_mtime_ns]:
        return True
    now = file_state(path)
    return now is not None and now[2] == before[2]
