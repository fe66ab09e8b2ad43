"""Finds the PTX of machine code that a package has compiled itself, among the files of PTX that it keeps on request."""

from __future__ import annotations

import re
from pathlib import Path

from memsim.capture.fatbin import section_names

KEPT_PTX = "MEMSIM_KEPT_PTX"  # the environment variable with the folder of a program
_ENTRY = re.compile(r"\.entry\s+([\w$.]+)")
_CODE = ".text."


def kept_ptx(cubin: bytes, folder: Path) -> str | None:
    """The newest PTX text in a folder that has all kernels of a cubin; None: there is none."""
    wanted = {name[len(_CODE) :] for name in section_names(cubin) if name.startswith(_CODE)}
    if not wanted:
        return None
    for path in sorted(folder.rglob("*.ptx"), key=lambda one: -one.stat().st_mtime_ns):
        text = path.read_text(errors="replace").rstrip("\0")
        if set(_ENTRY.findall(text)) & wanted:
            return text
    return None
