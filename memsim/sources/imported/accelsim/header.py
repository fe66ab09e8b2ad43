"""The header of an Accel-Sim trace: ``-key = value`` lines up to the first line that begins with ``#``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsim.sources.imported.text import shown
from memsim.support.errors import InputError
from memsim.trace.schema import LaunchShape

MOST_THREADS = 1024  # of a block, on every GPU so far (CUDA C Programming Guide, "Compute Capabilities")
LARGEST_GRID = (2**31 - 1, 65535, 65535)  # the same table
_PREFIXED = 3  # tracers before this version begin every instruction with its block and warp
_COMMITS = 6  # from this version on, those of warp groups' matrix products say whether they end a group
_BEGIN = b"#BEGIN_TB"


@dataclass(frozen=True)
class Header:
    """What a header says. A key that is missing has Accel-Sim's default; grid and block cannot be missing.

    Attributes:
        kernel, kernel_id: its name, mangled, and its number among the launches.
        launch: grid, block, registers of a thread, shared bytes of a block.
        binary_version: ten times the compute capability of the code.
        tracer_version: 0 when missing, as in Accel-Sim.
        line_info: whether instructions begin with a source line.
        shared_base, local_base: of the generic address space's windows, 0 when not known.
    """

    kernel: str
    kernel_id: int
    launch: LaunchShape
    binary_version: int
    tracer_version: int
    line_info: bool
    shared_base: int
    local_base: int

    @property
    def prefixed(self) -> bool:
        return self.tracer_version < _PREFIXED

    @property
    def tells_commits(self) -> bool:
        return self.tracer_version >= _COMMITS


def read_header(path: Path, text: bytes | bytearray) -> tuple[Header, int, int]:
    """The header at the start of `text`, the position after it, and the number of the line there.

    Raises:
        InputError: it does not end within the text, holds anything but keys, or a value that cannot be.
    """
    values: dict[str, tuple[int, str]] = {}
    at, line = 0, 1
    while (stop := text.find(b"\n", at)) >= 0:
        content = bytes(text[at:stop]).strip()
        if content.startswith(b"#"):
            # The first such line names the columns; should it be missing, nothing of the body may be lost.
            after = (at, line) if content.startswith(_BEGIN) else (stop + 1, line + 1)
            return (_header(path, values), *after)
        if content:
            key, equals, value = shown(content).partition("=")
            if not key.startswith("-") or not equals:
                problem = f"is {content[:40]!r}; the header of a trace has '-key = value' lines, then one with '#'"
                raise InputError(path, f"line {line}", problem)
            values[key[1:].strip()] = (line, value.strip())
        at, line = stop + 1, line + 1
    raise InputError(path, f"line {line}", "the header does not end: no line begins with '#'; give a complete trace")


def _header(path: Path, values: dict[str, tuple[int, str]]) -> Header:
    def get(key: str, parse: Callable[[str], Any], right: str, default: Any = None) -> Any:
        if key not in values:
            if default is None:
                raise InputError(path, f"-{key}", f"is missing in the header; it must be {right}")
            return default
        line, value = values[key]
        try:
            return parse(value)
        except ValueError:
            problem = f"is {value[:40]!r}; it must be {right}"
            raise InputError(path, f"line {line}: -{key}", problem) from None

    return Header(
        kernel=get("kernel name", str, "a name", path.name.split(".")[0]),
        kernel_id=get("kernel id", _count, "a whole number", 0),
        launch=LaunchShape(
            grid=get("grid dim", _grid, "(x,y,z), 1 to 2147483647, 65535 and 65535 blocks"),
            block=get("block dim", _block, f"(x,y,z), 1 to {MOST_THREADS} threads in all"),
            registers=get("nregs", _count, "a whole number", 32),
            shared_bytes=get("shmem", _count, "a whole number", 0),
        ),
        binary_version=get("binary version", _count, "ten times the compute capability", 70),
        tracer_version=get("accelsim tracer version", _count, "a whole number", 0),
        line_info=bool(get("enable lineinfo", _count, "0 or 1", 0)),
        shared_base=get("shmem base_addr", _address, "a hexadecimal address below 2**57", 0),
        local_base=get("local mem base_addr", _address, "a hexadecimal address below 2**57", 0),
    )


def _count(text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise ValueError
    return int(text)


def _address(text: str) -> int:
    if not re.fullmatch(r"(0[xX])?[0-9a-fA-F]{1,16}", text) or int(text, 16) >= 1 << 57:
        raise ValueError
    return int(text, 16)


def _extents(text: str) -> tuple[int, int, int]:
    if not (found := re.fullmatch(r"\(\s*(\d{1,10})\s*,\s*(\d{1,10})\s*,\s*(\d{1,10})\s*\)", text, re.ASCII)):
        raise ValueError
    x, y, z = map(int, found.groups())
    return x, y, z


def _grid(text: str) -> tuple[int, int, int]:
    extents = _extents(text)
    if not all(1 <= value <= most for value, most in zip(extents, LARGEST_GRID, strict=True)):
        raise ValueError
    return extents


def _block(text: str) -> tuple[int, int, int]:
    x, y, z = _extents(text)
    if not 1 <= x * y * z <= MOST_THREADS:
        raise ValueError
    return x, y, z
