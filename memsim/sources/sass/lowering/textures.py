"""Texture fetches, surface accesses and queries of texture objects.

Which registers hold what was found by assembling PTX for each architecture
(``tests/sources/sass/test_sass_textures.py`` does it again).
"""

from __future__ import annotations

from memsim.sources.ptx import textures
from memsim.sources.ptx.lowering.builder import ZERO
from memsim.sources.ptx.lowering.textures import BASE_LEVEL
from memsim.sources.ptx.machine import access
from memsim.sources.ptx.machine import textures as machine
from memsim.sources.ptx.machine.codes import Micro
from memsim.sources.sass.builder import SassBuilder
from memsim.sources.sass.lowering.memory import width_of
from memsim.sources.sass.operands import Bank, Imm, Mem, Reg, SassOperand, Unknown

_GEOMETRIES = {  # dimensions and flags
    "1D": (1, 0), "2D": (2, 0), "3D": (3, 0), "ARRAY_1D": (1, machine.LAYER), "ARRAY_2D": (2, machine.LAYER),
    "CUBE": (3, machine.CUBE), "ARRAY_CUBE": (3, machine.LAYER | machine.CUBE),
}  # fmt: skip
_SURFACES = {"1D": (1, 0), "2D": (2, 0), "3D": (3, 0), "1D_ARRAY": (1, machine.LAYER), "2D_ARRAY": (2, machine.LAYER)}
_COMPONENTS = "RGBA"
_COLUMNS = (textures.WIDTH, textures.HEIGHT, textures.DEPTH)
_ALL = 0xF


def fetch(b: SassBuilder) -> None:
    """TEX, TLD and TLD4: texels by coordinates of floating point, by whole numbers, and four texels' components.

    Components go to the second register and the next, then to the first and the next. Elements (layer, coordinates, a
    handle that is no constant, level) lie in two operands: coordinates in the first and the others in the second, or
    with .SCR, for up to four elements, two in each.
    """
    printed = b.one.operands.split(", ")
    geometry = next((k for k, part in enumerate(printed) if part in _GEOMETRIES), 0)
    if not geometry:
        raise b.unknown()
    dimensions, flags = _GEOMETRIES[printed[geometry]]
    between = 4 if printed[3].startswith("R") else 3
    handle = b.operands[between:geometry]
    n_coordinates = dimensions + bool(flags & machine.LAYER)
    count = n_coordinates + (not handle) + b.has("LL")
    rows = _elements(b, count, n_coordinates, b.operands[3] if between == 4 else None)
    coordinates, others = rows[:n_coordinates], rows[n_coordinates:]
    row = _handle(b, handle) if handle else others.pop(0)
    gathers, integers = b.one.name == "TLD4", b.one.name == "TLD"
    flags |= machine.INTEGERS * integers | machine.INTEGER_LEVEL * integers | machine.HAS_LEVEL * (not gathers)
    level = others[0] if others else ZERO if b.has("LZ") or gathers else b.constant(BASE_LEVEL)
    component = _COMPONENTS.index(next(part for part in b.one.modifiers if part in _COMPONENTS)) if gathers else 0
    results = _results(b, b.operands[geometry + 1 :])
    b.emit(
        Micro.texture, dst=machine.GATHER if gathers else machine.FETCH, a=row, c=level, shift=flags,
        x=len(coordinates), mask=dimensions | component << 8, list=b.listed(coordinates + results), count=len(results),
        y=access.VALUES | access.LOGGED | access.LOAD_STORE | access.WAITED,
    )  # fmt: skip


def _elements(b: SassBuilder, count: int, n_coordinates: int, second: SassOperand | None) -> list[int]:
    """The rows of a fetch's elements."""
    in_first = n_coordinates
    if b.has("SCR"):
        in_first = 1 if count <= 2 else 2
    in_second = count - in_first
    if in_second and second is None or in_second > 2:
        raise b.unknown("has a number of operands")
    rows = [b.raw(b.operands[2], k) for k in range(in_first)]
    return rows + [b.raw(second, k) for k in range(in_second) if second is not None]


def _results(b: SassBuilder, behind: tuple[SassOperand, ...]) -> list[int]:
    """The rows that get the components x, y, z and w up to the last that is written."""
    mask = behind[0].value if behind and isinstance(behind[0], Imm) else _ALL
    if len(behind) > 1 or behind and not isinstance(behind[0], Imm):
        raise b.unknown()
    written = [c for c in range(4) if mask >> c & 1]
    places = {c: b.to(b.operands[1 - k // 2], k % 2) for k, c in enumerate(written)}
    return [places.get(c, b.temp()) for c in range(max(written, default=-1) + 1)]


def _handle(b: SassBuilder, operands: tuple[SassOperand, ...]) -> int:
    """The row of a handle: a word of a bank that two constants name, or a register."""
    first = operands[0]
    if isinstance(first, Imm) and len(operands) == 2 and isinstance(operands[1], Imm):
        return b.bank(Bank(first.value, 4 * operands[1].value))
    if isinstance(first, Reg) and all(one == Imm(0) for one in operands[1:]):
        return b.raw(first)
    raise b.unknown("names a texture in a way")


def surface(b: SassBuilder) -> None:
    """SULD and SUST: the bytes of a surface, by coordinates with the layer behind them."""
    stores = b.one.name == "SUST"
    place, data = (b.operand(0), b.operand(1)) if stores else (b.operand(1), b.operand(0))
    geometry = next((part for part in b.one.modifiers if part in _SURFACES), None)
    if geometry is None or not b.has("BA") or not isinstance(place, Mem) or place.offset or len(place.registers) != 1:
        raise b.unknown()
    dimensions, flags = _SURFACES[geometry]
    layered = bool(flags & machine.LAYER)
    rows = [b.raw(place.registers[0], k) for k in range(dimensions + layered)]
    used = [rows[-1], *rows[:-1]] if layered else rows
    flags |= machine.ZEROED if b.has("IGN") else 0 if b.has("TRAP") else machine.CLAMPED
    width = width_of(b.one.modifiers)
    count, element = max(width // 4, 1), min(width, 4)
    values = [b.raw(data, k) if stores else b.to(data, k) for k in range(count)]
    b.emit(
        Micro.surface, dst=machine.STORE_SURFACE if stores else machine.LOAD_SURFACE, a=_handle(b, b.operands[2:]),
        shift=flags, x=len(used), mask=dimensions | element << 8, list=b.listed(used + values), count=count,
        y=access.VALUES | access.LOGGED | access.LOAD_STORE | access.WAITED * (not stores),
    )  # fmt: skip


def query(b: SassBuilder) -> None:
    """TXQ: a texture's extents at a level."""
    kind, *behind = b.operands[3:]
    if kind != Unknown("TEX_HEADER_DIMENSION") or not behind or not isinstance(behind[-1], Imm):
        raise b.unknown()
    mask, bindless = behind[-1].value, len(behind) == 1
    handle = b.raw(b.operand(2)) if bindless else _handle(b, tuple(behind[:-1]))
    level = b.raw(b.operand(2), int(bindless))
    columns = [column for k, column in enumerate(_COLUMNS) if mask >> k & 1]
    if mask >> len(_COLUMNS):
        raise b.unknown()
    results = [b.temp() for _ in columns]
    for row, column in zip(results, columns, strict=True):
        flags = machine.HAS_LEVEL
        b.emit(Micro.texture, dst=machine.QUERY, a=handle, c=level, shift=flags, mask=column << 8, list=b.listed([row]))
    for k, row in enumerate(results):
        b.emit(Micro.copy, dst=b.to(b.operands[1 - k // 2], k % 2), a=row)
