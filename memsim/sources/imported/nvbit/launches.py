"""The LAUNCH lines of NVBit's mem_trace."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memsim.sources.imported.text import shown
from memsim.trace.schema import LaunchShape

_MOST_THREADS = 1024
_MOST_WARPS = 1 << 40  # of a grid, which a record's key can hold
_LINE = re.compile(
    rb"- LAUNCH - Kernel pc 0x[0-9a-fA-F]+ - Kernel name (?P<name>.*?) - grid launch id (?P<id>\d{1,18})"
    rb" - grid size (?P<grid>\d{1,10},\d{1,10},\d{1,10}) - block size (?P<block>\d{1,9},\d{1,9},\d{1,9})"
    rb"(?: - nregs (?P<registers>\d{1,9}))?(?: - shmem (?P<shared>\d{1,9}))?"
)


@dataclass(frozen=True)
class NvbitLaunch:
    """One launch: the kernel's name, its number in the program, and how it was launched."""

    kernel: str
    id: int
    shape: LaunchShape


def read_launch(line: bytes) -> NvbitLaunch:
    """The launch that a line describes.

    Raises:
        ValueError: says what is wrong with the line.

    >>> line = b"MEMTRACE: CTX 0x5 - LAUNCH - Kernel pc 0x7 - Kernel name f(int*) - grid launch id 3 - grid size 2,1,1"
    >>> read_launch(line + b" - block size 64,1,1 - nregs 16 - shmem 0 - cuda stream id 0").shape.warps_per_block
    2
    """
    found = _LINE.search(line)
    if not found:
        fields = "Kernel pc ... - Kernel name ... - grid launch id N - grid size x,y,z - block size x,y,z"
        raise ValueError(f"must continue with '- {fields}'")
    grid, block = _extents(found["grid"]), _extents(found["block"])
    shape = LaunchShape(grid, block, 32, int(found["registers"] or 32), int(found["shared"] or 0))
    if not 1 <= shape.threads_per_block <= _MOST_THREADS:
        raise ValueError(f"has a block size of {shape.threads_per_block} threads; it must be 1 to {_MOST_THREADS}")
    if not 1 <= shape.n_blocks * shape.warps_per_block < _MOST_WARPS or max(grid) >= 2**31:
        raise ValueError("has a grid size that no GPU can launch")
    return NvbitLaunch(shown(found["name"]), int(found["id"]), shape)


def _extents(text: bytes) -> tuple[int, int, int]:
    x, y, z = map(int, text.split(b","))
    return x, y, z
