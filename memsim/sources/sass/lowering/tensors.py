"""Matrix products of a warp. Fragments are those of PTX's mma (PTX ISA 9.0, section 9.7.14)."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import ZERO
from memsim.sources.ptx.machine.codes import Micro, Type
from memsim.sources.sass.builder import SassBuilder
from memsim.sources.sass.operands import Reg


def multiply_halves(b: SassBuilder) -> None:
    """HMMA: products of halves or of TF32, summed in single or half precision."""
    depth = 16 if b.has("16816") else 8 if b.has("1688") else 0
    if not depth or len(b.operands) != 4:
        raise b.unknown()
    total = Type.f32 if b.has("F32") else Type.f16
    kind = Type.bf16 if b.has("BF16") else Type.tf32 if b.has("TF32") else Type.f16
    bits = 32 if kind == Type.tf32 else 16
    _multiply(b, depth, bits, (kind, kind), total)


def multiply_bytes(b: SassBuilder) -> None:
    """IMMA: products of bytes, summed in 32 bits."""
    depth = 32 if b.has("16832") else 16 if b.has("16816") else 0
    kinds = [one for one in b.one.modifiers if one in ("U8", "S8")]
    if not depth or b.has("SAT") or len(kinds) != 2:
        raise b.unknown()
    left, right = (Type.signed if one == "S8" else Type.unsigned for one in kinds)
    _multiply(b, depth, 8, (left, right), Type.signed)


def _multiply(b: SassBuilder, depth: int, bits: int, factors: tuple[Type, Type], total: Type) -> None:
    """d = a b + c with 16 rows and 8 columns: registers of a lane are as many as its share of the elements."""
    words = (4 if total != Type.f16 else 2, 16 * depth * bits // 1024, 8 * depth * bits // 1024)
    counts = (words[0], words[1], words[2], words[0])
    rows = []
    for k, count in enumerate(counts):
        operand = b.operand(k)
        if not isinstance(operand, Reg) or operand.negative or operand.modifiers not in ((), ("ROW",), ("COL",)):
            raise b.unknown()
        rows += [ZERO if operand.number < 0 else b.row(f"R{operand.number + i}") for i in range(count)]
    packed = sum(count << 8 * i for i, count in enumerate(counts))
    kinds = sum(int(kind) << 8 * i for i, kind in enumerate((factors[0], factors[1], total, total)))
    b.emit(Micro.mma, list=b.listed(rows), count=packed, x=8 | depth << 16 | bits << 32, y=kinds)
