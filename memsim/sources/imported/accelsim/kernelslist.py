"""``kernelslist.g``: what a traced program copied to the GPU and launched, in order.

One command a line: ``MemcpyHtoD,0xADDRESS,bytes``, or the name of a kernel's trace, which begins with ``kernel``.
Anything else is ignored, as Accel-Sim does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from memsim.sources.imported.accelsim.tracez import trace_blocks
from memsim.sources.imported.ops import CopiedRange
from memsim.sources.imported.text import line_blocks
from memsim.support.errors import InputError

_COPY = re.compile(rb"MemcpyHtoD\s*,\s*(?:0[xX])?([0-9a-fA-F]{1,16})\s*,\s*(\d{1,18})\s*")
_PACKED = ("", ".xz", ".zst", ".gz")  # a trace may have been packed after the list was written
_LARGEST = 1 << 57


@dataclass(frozen=True)
class AccelsimLaunch:
    """One kernel's trace file, the copies before it, and which of the list's launches it is, if there is a list."""

    path: Path
    copies: tuple[CopiedRange, ...]
    order: int | None


def is_list(path: Path) -> bool:
    """Whether a file is a list, not a trace itself: a trace's first line that is not blank begins with '-' or '#'."""
    for block in trace_blocks(path, block_bytes=1 << 16):
        if start := bytes(block).lstrip()[:1]:
            return start not in (b"-", b"#")
    return True


def read_list(path: Path) -> list[AccelsimLaunch]:
    """The kernels of a list, each with the copies made before it.

    Raises:
        InputError: a line that is no such command, a file that is missing or not in the list's folder, or no kernel.
        OSError: the system does not let it be read.
    """
    launches: dict[Path, AccelsimLaunch] = {}
    copies: dict[int, CopiedRange] = {}
    lines = chain.from_iterable(bytes(block).split(b"\n")[:-1] for block in line_blocks(path))
    for number, line in enumerate(lines, 1):
        if line.startswith(b"MemcpyHtoD"):
            copy = _copy(path, number, line)
            before = copies.get(copy.base)
            if before is None or before.bytes < copy.bytes:
                copies[copy.base] = copy
        elif line.startswith(b"kernel"):
            trace = _trace(path, number, line.decode("utf-8", "replace").strip())
            launches.setdefault(trace, AccelsimLaunch(trace, tuple(copies.values()), len(launches)))
    if not launches:
        raise InputError(path, "file", "names no kernel; give a kernelslist.g, or a .traceg or .tracez file itself")
    return list(launches.values())


def _copy(path: Path, number: int, line: bytes) -> CopiedRange:
    found = _COPY.fullmatch(line)
    if not found or int(found[1], 16) + int(found[2]) >= _LARGEST:
        raise InputError(path, f"line {number}", f"is {line[:50]!r}; give 'MemcpyHtoD,0xADDRESS,bytes'")
    return CopiedRange(int(found[1], 16), int(found[2]))


def _trace(path: Path, number: int, name: str) -> Path:
    relative = Path(name)
    if relative.is_absolute() or ".." in relative.parts or "\0" in name:
        raise InputError(path, f"line {number}", f"names {name[:60]!r}; give a file in the list's own folder")
    for suffix in _PACKED:
        trace = path.parent / f"{name}{suffix}"
        if trace.is_file():
            return trace
    raise InputError(path, f"line {number}", f"names {name[:60]!r}, which is not there; put it next to the list")
