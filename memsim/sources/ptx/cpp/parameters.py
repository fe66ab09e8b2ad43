"""A kernel's parameters in PTX, and the arguments of a launch in the bytes that they take."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from memsim.sources.capture.lane_log import Argument

_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([^,)\[]*?)(?:\[(\d*)\])?\s*(?=[,)])", re.DOTALL)
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel: PTX type (``u64``, ``f32``, ``b8`` of a structure), alignment and size in bytes."""

    kind: str
    align: int
    bytes: int


def parameters(ptx: str, entry: str) -> list[Parameter]:
    r"""The parameters of a kernel of a PTX text.

    >>> parameters(".entry k(\n.param .u64 .ptr .align 1 a,\n.param .f32 b,\n.param .align 8 .b8 c[24]\n)", "k")[1:]
    [Parameter(kind='f32', align=4, bytes=4), Parameter(kind='b8', align=8, bytes=24)]
    """
    start = re.search(rf"\.entry\s+{re.escape(entry)}\s*\(", ptx)
    if start is None:
        return []
    head = ptx[start.end() - 1 : ptx.index("{", start.end())] if "{" in ptx[start.end() :] else ptx[start.end() - 1 :]
    found = []
    for align, kind, _, count in _PARAMETER.findall(head):
        size = int(kind[1:]) // 8 * int(count or 1)
        found.append(Parameter(kind, int(align or int(kind[1:]) // 8), size))
    return found


def packed(given: Sequence[Argument], wanted: Sequence[Parameter]) -> bytes | None:
    """The buffer of a launch's parameters, each at its alignment; None where the arguments are not of these types.

    >>> packed([Argument("i", b"\\x02\\0\\0\\0")], [Parameter("f32", 4, 4)]) == struct.pack("<f", 2)
    True
    """
    if len(given) != len(wanted):
        return None
    buffer = bytearray()
    for argument, parameter in zip(given, wanted, strict=True):
        data = _converted(argument, parameter)
        if data is None:
            return None
        buffer += bytes(-len(buffer) % parameter.align) + data
    return bytes(buffer)


def _converted(argument: Argument, parameter: Parameter) -> bytes | None:
    """An argument in the type of its parameter, as C++ converts arithmetic types; None where it does not."""
    if argument.kind == "s" or parameter.kind == "b8":
        return argument.data if len(argument.data) == parameter.bytes else None
    if argument.kind == "p":
        return argument.data if parameter.bytes == len(argument.data) else None
    if argument.kind == "f":
        if parameter.bytes == len(argument.data) and parameter.kind[0] in "fb":
            return argument.data
        (real,) = struct.unpack(_FLOATS[len(argument.data)], argument.data) if len(argument.data) in _FLOATS else (0.0,)
        return _float(real, parameter) if parameter.kind[0] == "f" else _integer(int(real), parameter)
    whole = int.from_bytes(argument.data, "little", signed=argument.kind == "i")
    return _float(float(whole), parameter) if parameter.kind[0] == "f" else _integer(whole, parameter)


def _float(value: float, parameter: Parameter) -> bytes:
    return struct.pack(_FLOATS[parameter.bytes], value)


def _integer(value: int, parameter: Parameter) -> bytes:
    return (value & ((1 << 8 * parameter.bytes) - 1)).to_bytes(parameter.bytes, "little")
