"""Finds the PTX of machine code that a package has compiled itself, among the files of PTX that it keeps on request."""

from __future__ import annotations

import re
from pathlib import Path

DUMPED_PTX = "MEMSIM_DUMPED_PTX"  # the environment variable with the folder of a program
_ENTRY = re.compile(r"\.entry\s+([\w$.]+)")


def dumped_ptx(image: bytes, folder: Path) -> str | None:
    """The newest PTX text in a folder whose kernels' names stand in an image; None: there is none."""
    for path in sorted(folder.rglob("*.ptx"), key=lambda one: -one.stat().st_mtime_ns):
        text = path.read_text(errors="replace").rstrip("\0")
        names = _ENTRY.findall(text)
        if names and all(name.encode() in image for name in names):
            return text
    return None
