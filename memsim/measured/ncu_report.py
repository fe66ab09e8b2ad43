"""Nsight Compute's own report, ``.ncu-rep``, without the vendor's software.

::

    "NVR\\0"
    u32 size, FileHeader                 little-endian sizes; all messages are Protocol Buffers
    then blocks:  u32 size, BlockHeader  sources 1, results 2, string table 4 (strings 1), bytes of the payload 5
                  payload: sources, then results, each u32 size, message

A result is a launch: function's name 6, with its types 7, grid 10 and block 11 (x 1, y 2, z 3), and metrics 13: name 1
(its index in the string table) and value 2 (text 1, float 2, double 3, u32 4, u64 5). A block without strings uses
those of the block before. Field numbers are those of the ``.proto`` files in the profiler's ``extras/FileFormat``.
Values are in base units.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path

from memsim.measured.launch import MeasuredLaunch, grid_of_blocks
from memsim.measured.wire import Value, WireError, fields
from memsim.support.errors import InputError

MAGIC = b"NVR\0"
_FLOAT, _DOUBLE, _INTEGERS = 2, 3, (4, 5)


def read_ncu_report(path: Path, content: bytes) -> list[MeasuredLaunch]:
    """The launches of a report, in its order.

    Raises:
        InputError: it is damaged, or of another format.
    """
    try:
        return list(_launches(memoryview(content)))
    except (WireError, struct.error, UnicodeDecodeError) as error:
        raise InputError(path, "report", f"is damaged or of a newer format ({error}); export it: ncu --csv") from None


def _launches(content: memoryview) -> Iterator[MeasuredLaunch]:
    _, at = _sized(content, len(MAGIC))
    strings: list[str] = []
    while at < len(content):
        header, at = _sized(content, at)
        counts = {1: 0, 2: 0, 5: 0}  # sources, results, bytes of the payload
        own: list[str] = []
        for number, value in fields(header):
            if number in counts:
                counts[number] = _integer(value)
            elif number == 4:
                own = [_text(string) for number, string in fields(_message(value)) if number == 1]
        strings = own or strings
        if counts[5] > len(content) - at:
            raise WireError("a block ends behind the file")
        yield from _results(content[at : at + counts[5]], counts[1], counts[2], strings)
        at += counts[5]


def _results(payload: memoryview, sources: int, results: int, strings: list[str]) -> Iterator[MeasuredLaunch]:
    at = 0
    for number in range(sources + results):
        message, at = _sized(payload, at)
        if number >= sources:
            yield _launch(message, strings)


def _launch(message: memoryview, strings: list[str]) -> MeasuredLaunch:
    names: dict[int, str] = {}
    shapes: dict[int, tuple[int, int, int]] = {}
    metrics: dict[str, float] = {}
    for number, value in fields(message):
        if number in (6, 7):
            names[number] = _text(value)
        elif number in (10, 11):
            extents = {number: _integer(size) for number, size in fields(_message(value))}
            shapes[number] = (extents.get(1, 1), extents.get(2, 1), extents.get(3, 1))
        elif number == 13:
            metrics.update(_metric(_message(value), strings))
    grid, block = grid_of_blocks(shapes.get(10), shapes.get(11), metrics), shapes.get(11)
    return MeasuredLaunch(names.get(7) or names.get(6, ""), grid, block, metrics)


def _metric(message: memoryview, strings: list[str]) -> Iterator[tuple[str, float]]:
    """The metric by its name; nothing for a text or a list."""
    name, value = 0, None
    for number, field in fields(message):
        if number == 1:
            name = _integer(field)
        elif number == 2:
            value = _number(_message(field))
    if value is not None:
        if name >= len(strings):
            raise WireError(f"a metric's name is string {name} of {len(strings)}")
        yield strings[name], value


def _number(message: memoryview) -> float | None:
    """A metric's value; None for a text, and for what is no finite number."""
    for number, value in fields(message):
        if number in _INTEGERS:
            return float(_integer(value))
        if number in (_FLOAT, _DOUBLE):
            (found,) = struct.unpack("<f" if number == _FLOAT else "<d", _message(value))
            return found if math.isfinite(found) else None
    return None


def _sized(content: memoryview, at: int) -> tuple[memoryview, int]:
    """The bytes after their size, and the offset after them."""
    (size,) = struct.unpack_from("<I", content, at)
    at += 4
    if size > len(content) - at:
        raise WireError("a message ends behind its block")
    return content[at : at + size], at + size


def _message(value: Value) -> memoryview:
    if isinstance(value, int):
        raise WireError("an integer stands for a message")
    return value


def _integer(value: Value) -> int:
    if not isinstance(value, int):
        raise WireError("bytes stand for an integer")
    return value


def _text(value: Value) -> str:
    return bytes(_message(value)).decode()
