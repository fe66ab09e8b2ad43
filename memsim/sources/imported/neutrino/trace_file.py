"""A trace file of Neutrino: the launch, and of each thread the records that probes saved.

Little-endian: the grid's and the block's extents, shared bytes and the number of maps, u4 each; of each map the bytes
that a thread saved, u4, threads that share a record (0 or 1: none do), u4, and where its records begin, u8; the records
of all threads, block after block (``trace_header_t`` and ``trace_section_t`` of Neutrino's ``common.h``). A record of
the maps that memsim reads is a clock and an address, u8 each (its tool ``dmat``); what a thread did not use is 0.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from memsim.sources.imported.accelsim.header import LARGEST_GRID, MOST_THREADS
from memsim.support.errors import InputError

RECORD = np.dtype([("clock", "<u8"), ("address", "<u8")])
_HEADER, _SECTION = struct.Struct("<8I"), struct.Struct("<IIQ")
_MOST_MAPS = 64


@dataclass(frozen=True)
class TraceFile:
    """A file that was looked at.

    Attributes:
        path: the file.
        grid, block: extents in blocks and threads.
        shared_bytes: dynamic, of a block.
        maps: RECORD [blocks, threads of a block, records of a thread], mapped; one a map of the probes.
    """

    path: Path
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    maps: tuple[np.ndarray, ...]


def open_trace(path: Path) -> TraceFile:
    """Look at a file.

    Raises:
        InputError: it is none of Neutrino's, is cut, or holds records other than of clock and address.
        OSError: the system does not let it be read.
    """
    size = path.stat().st_size
    with open(path, "rb") as file:
        start = file.read(_HEADER.size + _MOST_MAPS * _SECTION.size)
    if len(start) < _HEADER.size:
        raise InputError(path, "file", "is shorter than a header; give a .bin that Neutrino wrote")
    *extents, shared, count = _HEADER.unpack_from(start)
    grid, block = (extents[0], extents[1], extents[2]), (extents[3], extents[4], extents[5])
    if not all(1 <= got <= most for got, most in zip(grid, LARGEST_GRID, strict=True)):
        raise InputError(path, "grid", f"is {grid}, which no GPU can launch; give a .bin that Neutrino wrote")
    if not 1 <= prod(block) <= MOST_THREADS:
        raise InputError(path, "block", f"is {block}; a block has 1 to {MOST_THREADS} threads")
    if not 1 <= count <= _MOST_MAPS or len(start) < _HEADER.size + count * _SECTION.size:
        raise InputError(path, "maps", f"are {count}; there must be 1 to {_MOST_MAPS}, each with its place")
    maps = []
    for number in range(count):
        section = _SECTION.unpack_from(start, _HEADER.size + number * _SECTION.size)
        maps.append(_map(path, number, section, size, prod(grid), prod(block)))
    return TraceFile(path, grid, block, shared, tuple(maps))


def _map(path: Path, number: int, section: tuple[int, ...], size: int, blocks: int, threads: int) -> np.ndarray:
    """The records of a map."""
    bytes_, shared_by, offset = section
    where = f"map {number}"
    if shared_by > 1:
        raise InputError(
            path, where, "has one record per warp; memsim reads maps of level thread with a clock and an address"
        )
    if bytes_ % RECORD.itemsize:
        raise InputError(path, where, f"has {bytes_} bytes per thread; records of a clock and an address have 16 each")
    if offset + bytes_ * blocks * threads > size:
        raise InputError(path, where, "ends too early; give a complete file")
    shape = (blocks, threads, bytes_ // RECORD.itemsize)
    return np.memmap(path, RECORD, "r", offset, shape) if prod(shape) else np.zeros(shape, RECORD)
