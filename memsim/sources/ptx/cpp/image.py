"""The device memory of a program that waits for an answer, copied with its addresses."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from memsim.sources.capture.lane_log import Array
from memsim.sources.ptx import Memory
from memsim.support.errors import InputError
from memsim.trace.schema import Space

_READABLE = (1, 2, 4, 8)  # bytes of elements that are integers of numpy; others are copied as bytes


def image(process: int, arrays: Iterable[Array], program: str) -> Memory:
    """A copy of a process's arrays, at the addresses that its pointers have.

    Args:
        process: the system's number of it; it is a child of this one.
        arrays: of its device memory.
        program: named in messages.

    Raises:
        InputError: the system lets nobody read it.
    """
    memory = Memory()
    try:
        source = os.open(f"/proc/{process}/mem", os.O_RDONLY)
        try:
            for array in arrays:
                space = "const" if array.space is Space.constant else "global"
                memory.add(_read(source, array), array.name, space=space, address=array.base)
        finally:
            os.close(source)
    except OSError as error:
        problem = f"cannot be read while it runs ({error.strerror}); leave out --by ptx"
        raise InputError(program, "memory", problem) from error
    return memory


def _read(source: int, array: Array) -> np.ndarray:
    width = array.element_bytes if array.element_bytes in _READABLE and array.bytes % array.element_bytes == 0 else 1
    values = np.empty(array.bytes // width, f"u{width}")
    rest, at = values.view(np.uint8).data, array.base
    while rest:
        got = os.preadv(source, [rest], at)
        rest, at = rest[got:], at + got
    return values
