"""Matrix products of a warp. Fragments are those of PTX's mma (PTX ISA 9.0, section 9.7.14)."""

from __future__ import annotations

from dataclasses import replace

from memsim.sources.ptx.lowering.builder import ZERO
from memsim.sources.ptx.lowering.tensors import cut_of
from memsim.sources.ptx.machine.codes import Micro, Type
from memsim.sources.sass.builder import SassBuilder
from memsim.sources.sass.operands import Reg, SassOperand


def multiply_halves(b: SassBuilder) -> None:
    """HMMA: products of halves or of TF32, summed in single or half precision."""
    depth = 16 if b.has("16816") else 8 if b.has("1688") else 4 if b.has("1684") else 0
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
    if not depth or len(kinds) != 2:
        raise b.unknown()
    left, right = (Type.signed if one == "S8" else Type.unsigned for one in kinds)
    _multiply(b, depth, 8, (left, right), Type.signed)


def multiply_small_floats(b: SassBuilder) -> None:
    """QMMA: products of numbers of eight bits with an exponent, summed in single or half precision."""
    depth = 32 if b.has("16832") else 16 if b.has("16816") else 0
    kinds = [Type.e4m3 if one == "E4M3" else Type.e5m2 for one in b.one.modifiers if one in ("E4M3", "E5M2")]
    if not depth or len(kinds) != 2 or len(b.operands) != 4:
        raise b.unknown()
    _multiply(b, depth, 8, (kinds[0], kinds[1]), Type.f32 if b.has("F32") else Type.f16)


def _multiply(b: SassBuilder, depth: int, bits: int, factors: tuple[Type, Type], total: Type) -> None:
    """d = a b + c with 16 rows and 8 columns: registers of a lane are as many as its share of the elements."""
    cut = cut_of(b.capability, factors[0].name, depth)
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
    shape = 8 | depth << 16 | bits << 32 | cut << 40
    b.emit(Micro.mma, list=b.listed(rows), count=packed, x=shape, y=kinds, a=int(b.has("SAT")))


def multiply_bits(b: SassBuilder) -> None:
    """BMMA: bits that both factors have, counted."""
    if not b.has("168256") or not b.has("AND") or len(b.operands) != 4:
        raise b.unknown()
    _multiply(b, 256, 1, (Type.unsigned, Type.unsigned), Type.signed)


def multiply_doubles(b: SassBuilder) -> None:
    """DMMA: products in double precision of 8 x 4 and 4 x 8 elements."""
    if not b.has("8x8x4") or len(b.operands) != 4:
        raise b.unknown()
    rows = [b.temp(), b.temp(), b.wide(b.operand(1)), b.wide(b.operand(2))]
    rows += [b.wide(_pair(b, b.operand(3), k)) for k in (0, 1)]
    counts = 2 | 1 << 8 | 1 << 16 | 2 << 24
    kinds = sum(int(Type.f64) << 8 * i for i in range(4))
    b.emit(Micro.mma, list=b.listed(rows), count=counts, x=8 | 4 << 16 | 64 << 32, y=kinds)
    for k in (0, 1):
        b.split(_pair(b, b.operand(0), k), rows[k])


def _pair(b: SassBuilder, operand: SassOperand, k: int) -> Reg:
    """The k-th pair of an operand's registers."""
    if not isinstance(operand, Reg) or operand.negative or operand.modifiers:
        raise b.unknown()
    return operand if operand.number < 0 else replace(operand, number=operand.number + 2 * k)
