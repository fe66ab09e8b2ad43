"""Texture and surface instructions (PTX ISA 9.0, sections 9.7.10 and 9.7.11)."""

from __future__ import annotations

from memsim.sources.ptx import textures
from memsim.sources.ptx.lowering.builder import SINK, ZERO, Builder, width_of
from memsim.sources.ptx.machine import access
from memsim.sources.ptx.machine import textures as machine
from memsim.sources.ptx.machine.codes import Micro
from memsim.sources.ptx.module import Address, Instruction, Operand, Register, Vector

_DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
_COMPONENTS = {"r": 0, "g": 1, "b": 2, "a": 3}
_QUERIES = {
    "width": textures.WIDTH, "height": textures.HEIGHT, "depth": textures.DEPTH, "array_size": textures.DEPTH,
    "num_mipmap_levels": textures.LEVELS, "normalized_coords": textures.NORMALIZED,
}  # fmt: skip
BASE_LEVEL = 0xC2000000  # -32, below every level


def _geometry(b: Builder, one: Instruction) -> tuple[int, int]:
    """Dimensions, and the flags of layers and cubes."""
    name = next((part for part in one.opcode if part in _DIMENSIONS), None)
    if name is None:
        raise b.error("has a geometry that memsim does not support")
    layered, cube = name.startswith("a"), name.endswith("cube")
    return _DIMENSIONS[name], machine.LAYER * layered | machine.CUBE * cube


def _rows(b: Builder, operand: Operand, kind: str) -> list[int]:
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    return [b.row(part.name) if isinstance(part, Register) else b.value(part, kind) for part in elements]


def _object(b: Builder, operand: Operand) -> tuple[int, list[int]]:
    """The row of a handle, and those of the coordinates."""
    if not isinstance(operand, Address) or not isinstance(operand.base, Register):
        raise b.error("names no texture object; memsim does not support texture references")
    return b.row(operand.base.name), [row for part in operand.coordinates for row in _rows(b, part, "b32")]


def lower_fetch(b: Builder, one: Instruction, values: bool) -> None:
    """tex and tld4."""
    dimensions, flags = _geometry(b, one)
    gathers = one.name == "tld4"
    handle, coordinates = _object(b, one.operands[1])
    results = _rows(b, one.operands[0], "b32")
    if "grad" in one.opcode or one.opcode[-2] not in ("f32", "s32", "u32") or not values and not results:
        raise b.error("is a texture fetch that memsim does not support")
    flags |= machine.INTEGERS * (one.type == "s32")
    level = ZERO
    if one.type == "f32":  # the lowest level: ptxas asks for this one unless the program names another
        flags, level = flags | machine.HAS_LEVEL, b.constant(BASE_LEVEL)
    if one.has("level"):
        flags |= machine.HAS_LEVEL | machine.INTEGER_LEVEL * (one.type == "s32")
        level = b.value(one.operands[2], "b32")
    component = next((_COMPONENTS[part] for part in one.opcode if part in _COMPONENTS), 0) if gathers else 0
    used = coordinates[: dimensions + bool(flags & machine.LAYER)]
    b.emit(
        Micro.texture, dst=machine.GATHER if gathers else machine.FETCH, a=handle, c=level, shift=flags, x=len(used),
        mask=dimensions | component << 8, list=b.listed(used + results), count=len(results),
        y=access.VALUES * values | access.LOGGED | access.LOAD_STORE | access.WAITED,
    )  # fmt: skip


def lower_surface(b: Builder, one: Instruction, values: bool) -> None:
    """suld.b and sust.b."""
    dimensions, flags = _geometry(b, one)
    stores = one.name == "sust"
    kind = next((part for part in one.opcode if part in ("b8", "b16", "b32", "b64")), None)
    if "b" not in one.opcode or kind is None:
        raise b.error("is a surface access that memsim does not support")
    target, data = (one.operands[0], one.operands[1]) if stores else (one.operands[1], one.operands[0])
    handle, coordinates = _object(b, target)
    used = coordinates[: dimensions + bool(flags & machine.LAYER)]
    rows = _rows(b, data, kind)
    flags |= machine.CLAMPED * one.has("clamp") | machine.ZEROED * one.has("zero")
    b.emit(
        Micro.surface, dst=machine.STORE_SURFACE if stores else machine.LOAD_SURFACE, a=handle, shift=flags,
        x=len(used), mask=dimensions | (width_of(kind) // 8) << 8, list=b.listed(used + rows), count=len(rows),
        y=access.VALUES * values | access.LOGGED | access.LOAD_STORE | access.WAITED * (not stores),
    )  # fmt: skip


def lower_query(b: Builder, one: Instruction) -> None:
    """txq and suq."""
    column = next((_QUERIES[part] for part in one.opcode if part in _QUERIES), None)
    if column is None:
        raise b.error("reads a property of a texture that memsim does not support")
    handle, _ = _object(b, one.operands[1])
    flags, level = (machine.HAS_LEVEL, b.value(one.operands[2], "b32")) if one.has("level") else (0, ZERO)
    to = one.operands[0]
    row = b.row(to.name) if isinstance(to, Register) else SINK
    b.emit(
        Micro.texture, dst=machine.QUERY, a=handle, c=level, shift=flags, mask=column << 8, list=b.listed([row]),
        count=0,
    )  # fmt: skip
