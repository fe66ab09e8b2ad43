"""mma and wgmma (PTX ISA 9.0, sections 9.7.14 and 9.7.15)."""

from __future__ import annotations

import re

from memsim.gpu.architecture import architecture
from memsim.sources.ptx.lowering.builder import ZERO, Builder, width_of
from memsim.sources.ptx.lowering.types import number_type
from memsim.sources.ptx.machine.codes import Micro, Type
from memsim.sources.ptx.module import Immediate, Instruction, Operand, Register, Vector

_ELEMENTS = ("f16", "bf16", "tf32", "s8", "u8", "e4m3", "e5m2", "f64", "s4", "u4", "b1")
_NARROW = {"s4": 4, "u4": 4, "b1": 1}  # bits of elements that share bytes
_SUMS = {"f32": Type.f32, "f16": Type.f16, "f64": Type.f64, "s32": Type.signed}


def cut_of(capability: int, element: str, depth: int, *, is_group: bool = False) -> int:
    """How a tensor core of a compute capability cuts sums off: see ``_products`` in :mod:`.machine.tensors`.

    From *MMA-Sim* (arXiv 2511.10909): with 23 bits on Volta, 24 until Ada, then 25; 13 for numbers of 8 bits of Ada and
    of warpgroups. Ampere and Ada sum 128 bits of a row at once. For mma, Hopper makes halves of numbers of 8 bits.

    Args:
        element: PTX's type of the factors.
        depth: k of the instruction.
        is_group: a product of a warpgroup.
    """
    if element not in ("f16", "bf16", "tf32", "e4m3", "e5m2"):
        return 0
    of = architecture(f"{capability // 10}.{capability % 10}")
    bits = 13 if element.startswith("e") and (is_group or of.tensor_row_bits) else of.tensor_sum_bits
    at_once = of.tensor_row_bits // {"tf32": 32, "e4m3": 8, "e5m2": 8}.get(element, 16)
    return bits | (min(at_once or depth, depth)) << 8


def _shape(b: Builder, one: Instruction) -> tuple[int, int, int]:
    found = next((found for part in one.opcode if (found := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", part))), None)
    if found is None:
        raise b.error("has a shape that memsim does not support")
    return int(found[1]), int(found[2]), int(found[3])


def _rows(b: Builder, operand: Operand) -> list[int]:
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    return [b.row(part.name) if isinstance(part, Register) else b.value(part, "b32") for part in elements]


def lower_mma(b: Builder, one: Instruction, values: bool) -> None:
    """mma.sync: d, a, b, c in registers; computed where values matter."""
    m, n, k = _shape(b, one)
    types = [part for part in one.opcode if part in _ELEMENTS or part in _SUMS][-4:]
    known = len(types) == 4 and types[1] in _ELEMENTS and types[2] in _ELEMENTS and types[0] in _SUMS
    if not known or one.has("sp", "block_scale", "xor") or (m, n) not in ((16, 8), (8, 8)):
        raise b.error("multiplies in a way that memsim does not support")
    if (m, n) == (8, 8) and types[1] != "f64":
        raise b.error("multiplies in a way that memsim does not support")
    if not values:
        return
    lists = [_rows(b, operand) for operand in one.operands[:4]]
    _emit(
        b,
        Micro.mma,
        lists,
        (n, k, _NARROW.get(types[1]) or width_of(types[1])),
        [types[1], types[2], types[3], types[0]],
        a=int(one.has("satfinite")),
    )


def _emit(
    builder: Builder, op: Micro, lists: list[list[int]], shape: tuple[int, int, int], types: list[str], **more: int
) -> None:
    n, k, bits = shape
    cut = cut_of(builder.capability, types[0], k, is_group=op == Micro.wgmma)
    counts = sum(len(rows) << 8 * i for i, rows in enumerate(lists))
    kinds = sum(int(_SUMS.get(kind, number_type(builder, kind))) << 8 * i for i, kind in enumerate(types))
    first = builder.listed([row for rows in lists for row in rows])
    builder.emit(op, list=first, count=counts, x=n | k << 16 | bits << 32 | cut << 40, y=kinds, **more)


def lower_wgmma(b: Builder, one: Instruction, values: bool) -> None:
    """wgmma.mma_async, computed when it is issued; its fences, commits and waits order nothing then."""
    if not one.has("mma_async"):
        return
    _m, n, k = _shape(b, one)
    types = [part for part in one.opcode if part in _ELEMENTS or part in _SUMS]
    if one.has("sp") or len(types) < 3:
        raise b.error("multiplies in a way that memsim does not support")
    if not values:
        return
    total, left, right, scaled = one.operands[:4]
    signs = [operand.value if isinstance(operand, Immediate) else 1 for operand in one.operands[4:]]
    in_registers = isinstance(left, Vector)
    scales, turns = (signs + [1, 1])[:2], (signs[2:] + [0, 0])[:2]
    if in_registers and len(signs) == 3:
        turns = [0, signs[2]]
    flags = turns[0] | turns[1] << 1 | (scales[0] < 0) << 2 | (scales[1] < 0) << 3
    lists = [_rows(b, total), _rows(b, left) if in_registers else []]
    more = {
        "a": ZERO if in_registers else b.value(left, "b64"), "b": b.value(right, "b64"), "c": int(in_registers),
        "mask": flags, "shift": _scale(b, scaled),
    }  # fmt: skip
    _emit(b, Micro.wgmma, lists, (n, k, width_of(types[1])), [types[1], types[2], types[0], types[0]], **more)


def _scale(b: Builder, scaled: Operand) -> int:
    """The predicate that says whether the sum is added to: a register, or a constant."""
    if isinstance(scaled, Register):
        return b.predicate(scaled.name)
    if isinstance(scaled, Immediate):
        return b.predicate("#true" if scaled.value else "#false")
    raise b.error("has no predicate that says whether it adds")
