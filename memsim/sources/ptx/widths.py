"""How many bytes per lane of an access touches."""

from __future__ import annotations

from memsim.sources.ptx.module import Instruction
from memsim.sources.ptx.text import type_bytes


def width_of_access(one: Instruction) -> int:
    """Bytes of a lane's access."""
    if one.name in ("ldmatrix", "stmatrix"):
        return 16
    if one.name == "cp":
        return copy_bytes(one)
    if one.name in ("suld", "sust"):
        kind = next((part for part in one.opcode if part in ("b8", "b16", "b32", "b64")), "b32")
        count = next((int(part[1:]) for part in one.opcode if part in ("v2", "v4")), 1)
        return count * type_bytes(kind)
    count = next((int(part[1:]) for part in one.opcode if part in ("v2", "v4", "v8")), 1)
    return count * type_bytes(one.type)


def copy_bytes(one: Instruction) -> int:
    """Bytes of a lane's asynchronous copy; bulk copies are logged as pieces of 16."""
    size = one.operands[2] if len(one.operands) > 2 and not one.has("bulk") else None
    return int(getattr(size, "value", 16))
