"""Conversions between integers and floating-point numbers (F2I, I2F, F2F, FRND, F2FP, F2IP, I2I)."""

from __future__ import annotations

from memsim.sources.ptx.machine import floats, numbers
from memsim.sources.ptx.machine.codes import Micro, Type
from memsim.sources.sass.builder import SIGN_64, WORD, SassBuilder
from memsim.sources.sass.lowering.floats import float_flags, rounding_mode, signed, single
from memsim.sources.sass.operands import Bank, Imm, Reg

KINDS = {
    "F16": (Type.f16, 16), "F32": (Type.f32, 32), "F64": (Type.f64, 64), "BF16": (Type.bf16, 16),
    "U8": (Type.unsigned, 8), "S8": (Type.signed, 8), "U16": (Type.unsigned, 16), "S16": (Type.signed, 16),
    "U32": (Type.unsigned, 32),
    "S32": (Type.signed, 32), "U64": (Type.unsigned, 64), "S64": (Type.signed, 64), "TF32": (Type.tf32, 32),
}  # fmt: skip


def _kinds(b: SassBuilder) -> list[str]:
    return [one for one in b.one.modifiers if one in KINDS]


def source_row(b: SassBuilder, k: int, kind: str) -> int:
    """The row of an operand that is converted; parts of registers are named by .B1, .H1 and the like."""
    operand, (number, width) = b.operand(k), KINDS[kind]
    if width == 64:
        if isinstance(operand, Imm) and operand.is_float:
            return b.constant(operand.value << 32)
        return signed(b, b.wide(operand), operand, SIGN_64)
    row = b.raw(operand)
    modifiers = operand.modifiers if isinstance(operand, Reg | Bank) else ()
    at = {"B1": 8, "B2": 16, "B3": 24, "H1": 16, "H1_H1": 16, "B0": 0, "H0": 0, "H0_H0": 0}
    if modifiers and modifiers[0] not in at:
        raise b.unknown("has an operand")
    if modifiers and at[modifiers[0]]:
        row = b.op(Micro.shift_right, row, b.constant(at[modifiers[0]]), x=64)
    if width < 32:
        row = b.op(Micro.bit_and, row, b.constant((1 << width) - 1))
    if number in (Type.signed, Type.unsigned):
        if isinstance(operand, Reg | Bank) and (operand.negative or operand.absolute or operand.inverted):
            raise b.unknown("has an operand")
        return row
    return signed(b, row, operand, 1 << (width - 1))


def _convert(b: SassBuilder, to: str, of: str, flags: int = 0) -> None:
    (target, out), (source, width) = KINDS[to], KINDS[of]
    row = source_row(b, len(b.operands) - 1, of)
    result = b.temp() if out == 64 else b.to(b.operand(0))
    fields = {"x": int(target), "y": int(source), "shift": rounding_mode(b), "mask": float_flags(b) | flags}
    b.emit(Micro.convert, dst=result, a=row, list=out | width << 8, count=0, **fields)
    if out == 64:
        b.split(b.operand(0), result)


def to_integer(b: SassBuilder) -> None:
    """F2I: without a type for the result 32 bits with a sign, for the operand single precision."""
    kinds = _kinds(b)
    integer_type = next((one for one in kinds if one[0] in "US"), "S32")
    of = next((one for one in kinds if one[0] in "FB"), "F32")
    _convert(b, integer_type, of)
    if integer_type in ("S8", "S16"):  # the result has the sign in all its bits
        to = b.to(b.operand(0))
        b.emit(Micro.extend, dst=to, a=to, shift=64 - KINDS[integer_type][1], mask=WORD)


def pack_bytes(b: SassBuilder) -> None:
    """F2IP: two numbers in single precision as whole ones in bytes, the first above."""
    if not b.has("U8", "S8") or not b.has("F32") or len(b.operands) != 4 or b.operand(3) != Reg("R", -1):
        raise b.unknown()
    kind = Type.signed if b.has("S8") else Type.unsigned
    fields = {"x": int(kind), "y": int(Type.f32), "shift": rounding_mode(b), "mask": float_flags(b)}
    b.emit(Micro.convert, dst=b.to(b.operand(0)), a=single(b, 1), b=single(b, 2), list=8 | 32 << 8, count=1, **fields)


def saturate_integer(b: SassBuilder) -> None:
    """I2I.SAT: a whole number of 32 bits in fewer, the nearest that they can be."""
    kinds = _kinds(b)
    if len(kinds) != 2 or not b.has("SAT") or kinds[1] not in ("S32", "U32") or len(b.operands) != 2:
        raise b.unknown()
    (target, out), is_signed = KINDS[kinds[0]], kinds[1] == "S32"
    low, high = (-(1 << (out - 1)), (1 << (out - 1)) - 1) if target == Type.signed else (0, (1 << out) - 1)
    row = b.word(b.operand(1))
    if is_signed:
        row = b.op(Micro.maximum_signed, row, b.constant(low & WORD), shift=32)
    micro = Micro.minimum_signed if is_signed else Micro.minimum
    b.emit(micro, dst=b.to(b.operand(0)), a=row, b=b.constant(high), shift=32)


def from_integer(b: SassBuilder) -> None:
    """I2F and I2FP."""
    kinds = _kinds(b)
    integer_type = next((one for one in kinds if one[0] in "US"), "S32")
    to = next((one for one in kinds if one[0] in "FB"), "F32")
    _convert(b, to, integer_type)


def between_floats(b: SassBuilder) -> None:
    """F2F: the first type is the result's."""
    kinds = _kinds(b)
    if len(kinds) != 2:
        raise b.unknown()
    _convert(b, kinds[0], kinds[1])


def round_to_integer(b: SassBuilder) -> None:
    """FRND: to a whole number of the same type."""
    kinds = _kinds(b) or ["F32"]
    _convert(b, kinds[0], kinds[-1], floats.TO_INTEGER)


def pack(b: SassBuilder) -> None:
    """F2FP: two numbers in single precision as two halves or bytes, the first above; .UNPACK_B: two bytes as halves."""
    if b.has("E4M3", "E5M2"):
        return _small(b)
    if not b.has("PACK_AB", "PACK_B") and b.one.name.endswith("F2FP") and not b.has("BF16", "F16"):
        raise b.unknown()
    kind = Type.bf16 if b.has("BF16") else Type.f16
    if b.has("E4M3", "E5M2", "UNPACK_B", "MERGE_C", "TF32") or len(b.operands) != 3:
        raise b.unknown()
    fields = {"x": int(kind), "y": int(Type.f32), "shift": rounding_mode(b), "mask": float_flags(b)}
    b.emit(Micro.convert, dst=b.to(b.operand(0)), a=single(b, 1), b=single(b, 2), list=16 | 32 << 8, count=1, **fields)


def _small(b: SassBuilder) -> None:
    """Numbers of 8 bits, in the lower half of a register."""
    kind = Type.e4m3 if b.has("E4M3") else Type.e5m2
    flags = float_flags(b) | numbers.FINITE * b.has("SATFINITE")
    fields = {"dst": b.to(b.operand(0)), "shift": rounding_mode(b), "mask": flags}
    if b.has("UNPACK_B") and b.has("F16") and len(b.operands) == 2:
        row = source_row(b, 1, "F16")
        return b.emit(Micro.convert, a=row, x=int(Type.f16), y=int(kind), list=16 | 8 << 8, count=2, **fields)
    packed = b.temp()
    fields |= {"dst": packed, "x": int(kind)}
    if b.has("UNPACK_B_MERGE_C") and b.has("F16") and len(b.operands) == 3:
        b.emit(Micro.convert, a=b.word(b.operand(1)), y=int(Type.f16), list=8 | 16 << 8, count=2, **fields)
    elif b.has("PACK_AB_MERGE_C") and b.has("F32"):
        b.emit(Micro.convert, a=single(b, 1), b=single(b, 2), y=int(Type.f32), list=8 | 32 << 8, count=1, **fields)
    else:
        raise b.unknown()
    upper = b.op(Micro.shift_left, b.word(b.operands[-1]), b.constant(16), x=32, mask=WORD)
    b.emit(Micro.bit_or, dst=b.to(b.operand(0)), a=packed, b=upper)
