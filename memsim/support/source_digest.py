"""A digest of memsim's own sources: what was made by other sources is not taken for what these would make."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


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
