"""The lines of a CUTracer trace: what launch it is of, and the records of its warps.

The first line is ``kernel_metadata``; the others say what a warp did (CUTracer's docs/Outputs-and-File-Formats.md and
the JSON schemas of its validator).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memsim.support.errors import InputError

_Count = Annotated[int, Field(ge=0, lt=1 << 31)]
_Address = Annotated[int, Field(ge=0, lt=1 << 57)]
_Index = tuple[_Count, _Count, _Count]
_LANES = 32


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class Static(_Line):
    """An instruction of the kernel."""

    sass: str


class Metadata(_Line):
    """The launch: extents in blocks and threads, registers of a thread, shared bytes of a block."""

    type: str = Field(pattern="^kernel_metadata$")
    mangled_name: str
    nregs: _Count
    shmem_static: _Count
    shmem_dynamic: _Count
    grid: _Index
    block: _Index
    instructions: dict[str, Static] = {}


class Record(_Line):
    """One instruction of one warp, whose number counts those of the grid; of an access the lanes' addresses, or 0."""

    type: str
    cta: _Index
    warp: _Count
    opcode_id: _Count
    pc: str = Field(pattern="^0x[0-9a-fA-F]{1,10}$")
    sass: str | None = None
    addrs: list[_Address] | None = Field(None, min_length=_LANES, max_length=_LANES)


_Model = TypeVar("_Model", bound=_Line)


def read_line(model: type[_Model], path: Path, number: int, line: bytes) -> _Model:
    """A line as what it must be.

    Raises:
        InputError: names the line, its field, and what is wrong with it.
    """
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        where = f"line {number}: {field}" if field else f"line {number}"
        hint = "give what CUTracer wrote with CUTRACER_TRACE_FORMAT=ndjson or zstd"
        raise InputError(path, where, f"is invalid: {first['msg'].splitlines()[0]}; {hint}") from None
