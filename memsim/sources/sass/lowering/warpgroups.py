"""Matrix products of warpgroups, whose matrices lie in shared memory (PTX ISA 9.0, section 9.7.15)."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import ZERO
from memsim.sources.ptx.lowering.tensors import cut_of
from memsim.sources.ptx.machine.codes import Micro, Type
from memsim.sources.sass.builder import SassBuilder
from memsim.sources.sass.operands import Reg, SharedMatrices, Unknown

_TYPES = {
    "F16": Type.f16, "BF16": Type.bf16, "TF32": Type.tf32, "E4M3": Type.e4m3, "E5M2": Type.e5m2,
    "S8": Type.signed, "U8": Type.unsigned, "F32": Type.f32,
}  # fmt: skip
_FLAGS = {"tnspA": 1, "tnspB": 2, "negA": 4, "negB": 8}
_ROWS = 64  # of the product; each of four warps has a quarter
_THREADS = 128


def multiply(b: SassBuilder) -> None:
    """HGMMA, IGMMA, QGMMA: d = a b + d, computed when it is issued. The time it takes is in the trace's rows."""
    columns, depth = (int(part) for part in b.one.modifiers[0].split("x")[1:])
    total, factors = _types(b)
    bits = {Type.tf32: 32, Type.f16: 16, Type.bf16: 16}.get(factors[0], 8)
    result, left, matrices, adds = _operands(b)
    counts = [_ROWS * columns * (16 if total == Type.f16 else 32) // (32 * _THREADS), 0]
    rows = [b.row(f"R{result.number + k}") for k in range(counts[0])]
    if left is not None:
        counts[1] = _ROWS * depth * bits // (32 * _THREADS)
        rows += [b.raw(left, k) for k in range(counts[1])]
    first, second = (b.wide(Reg("UR", matrices.descriptors + k)) for k in (0, 2))
    cut = cut_of(b.capability, factors[0].name, depth, is_group=True)
    b.emit(
        Micro.wgmma, a=first if left is None else ZERO, b=second, c=int(left is not None),
        shift=b.plain_predicate(adds), mask=sum(_FLAGS[one] for one in matrices.modifiers),
        list=b.listed(rows), count=counts[0] | counts[1] << 8, x=columns | depth << 16 | bits << 32 | cut << 40,
        y=sum(int(kind) << 8 * k for k, kind in enumerate((*factors, total, total))),
    )  # fmt: skip


def _operands(b: SassBuilder) -> tuple[Reg, Reg | None, SharedMatrices, Reg]:
    """The sum, a where it lies in registers, the matrices in shared memory, and the predicate that says whether to add.

    What is added is the sum as it was, or nothing (RZ). ``gsb0`` at the end counts groups that are waited for.
    """
    given = [one for one in b.operands if not (isinstance(one, Unknown) and one.text.startswith("gsb"))]
    left = given.pop(1) if isinstance(given[1], Reg) else None
    if len(given) == 3:
        given.append(Reg("P", -1))
    result, matrices, added, adds, *more = given
    if not isinstance(result, Reg) or not isinstance(matrices, SharedMatrices) or more:
        raise b.unknown()
    if not isinstance(added, Reg) or not isinstance(adds, Reg) or not isinstance(left, Reg | None):
        raise b.unknown()
    if {*matrices.modifiers} - _FLAGS.keys() or added.number not in (-1, result.number):
        raise b.unknown()
    if added.number < 0 and adds != Reg("UP", -1, inverted=True):
        raise b.unknown()
    return result, left, matrices, adds


def _types(b: SassBuilder) -> tuple[Type, tuple[Type, Type]]:
    """Of the sum, and of both factors: HGMMA names those that are no halves, IGMMA no sum."""
    named = [_TYPES[one] for one in b.one.modifiers if one in _TYPES]
    if b.one.name == "IGMMA":
        named.insert(0, Type.signed)
    if b.one.name == "HGMMA":
        named = [named[0], *[named[1] if len(named) > 1 else Type.f16] * 2]
    if len(named) != 3:
        raise b.unknown()
    return named[0], (named[1], named[2])
