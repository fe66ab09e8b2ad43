"""Floating-point arithmetic in single, double and half precision, and conversions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memsim.sources.ptx.lowering.builder import ZERO
from memsim.sources.ptx.machine import floats, numbers
from memsim.sources.ptx.machine.codes import Float, Micro, Type
from memsim.sources.sass.builder import BOTH, FIRST_ONLY, SIGN_32, SIGN_64, WORD, SassBuilder
from memsim.sources.sass.lowering.predicates import combined, write_combined
from memsim.sources.sass.operands import Bank, Imm, Reg, SassOperand

_ROUNDING = {"RN": numbers.NEAREST, "RZ": numbers.ZERO, "RM": numbers.DOWN, "RP": numbers.UP,
             "TRUNC": numbers.ZERO, "FLOOR": numbers.DOWN, "CEIL": numbers.UP}  # fmt: skip
HALF_SIGNS = 0x80008000


def _rounding(b: SassBuilder) -> int:
    return next((_ROUNDING[one] for one in b.one.modifiers if one in _ROUNDING), numbers.NEAREST)


def _flags(b: SassBuilder) -> int:
    return numbers.SATURATE * b.has("SAT") | numbers.FLUSH * b.has("FTZ") | numbers.RELU * b.has("RELU")


def single(b: SassBuilder, k: int) -> int:
    """The row of a number in single precision."""
    operand = b.operand(k)
    if isinstance(operand, Reg | Bank) and operand.modifiers:
        raise b.unknown("has an operand")
    return _signed(b, b.raw(operand), operand, SIGN_32)


def _signed(b: SassBuilder, row: int, operand: SassOperand, sign: int) -> int:
    if not isinstance(operand, Reg | Bank):
        return row
    if operand.inverted:
        raise b.unknown("has an operand")
    if operand.absolute:
        row = b.op(Micro.bit_and, row, b.constant(~sign if sign == SIGN_64 else WORD & ~sign))
    return b.op(Micro.bit_xor, row, b.constant(sign)) if operand.negative else row


def double(b: SassBuilder, k: int) -> int:
    """The row of a number in double precision; a constant has its upper word."""
    operand = b.operand(k)
    if isinstance(operand, Imm):
        return b.constant(operand.value << 32)
    row = b.wide(operand)
    if not isinstance(operand, Reg | Bank):
        return row
    if operand.inverted:
        raise b.unknown("has an operand")
    for is_asked, what in ((operand.absolute, Float.absolute), (operand.negative, Float.negate)):
        if is_asked:  # of numbers alone: a NaN keeps its sign
            before, row = row, b.temp()
            b.emit(Micro.floating, dst=row, a=before, x=int(Type.f64), y=what, shift=numbers.NEAREST, mask=0)
    return row


def _operate(
    b: SassBuilder, what: Float, to: int, rows: list[int], kind: Type, flags: int | None = None,
    rounding: int | None = None,
) -> None:  # fmt: skip
    rounding, flags = (_rounding(b) if rounding is None else rounding), (_flags(b) if flags is None else flags)
    fields = {"x": int(kind), "y": int(what), "shift": rounding, "mask": flags}
    b.emit(Micro.floating, dst=to, **dict(zip("abc", rows, strict=False)), **fields)


def _single(what: Float, count: int) -> object:
    def lower(b: SassBuilder) -> None:
        if len(b.operands) != count + 1:
            raise b.unknown()
        _operate(b, what, b.to(b.operand(0)), [single(b, k + 1) for k in range(count)], Type.f32)

    return lower


add_single, multiply_single, fuse_single = (
    _single(Float.add, 2), _single(Float.multiply, 2), _single(Float.fma, 3)
)  # fmt: skip


def _double(what: Float, count: int) -> object:
    def lower(b: SassBuilder) -> None:
        result = b.temp()
        operands = [double(b, k + 1) for k in range(count)]
        _operate(b, what, result, operands, Type.f64)
        b.split(b.operand(0), result)

    return lower


add_double, multiply_double, fuse_double = (
    _double(Float.add, 2), _double(Float.multiply, 2), _double(Float.fma, 3)
)  # fmt: skip


def _extreme_flags(b: SassBuilder) -> int:
    return _flags(b) | floats.KEEP_NAN * b.has("NAN") | floats.SIGN_OF_BOTH * b.has("XORSIGN")


def _of_extreme(b: SassBuilder, k: int, read: Callable[[SassBuilder, int], int]) -> int:
    """The row of an operand; with .XORSIGN with its sign, which the result's is made of."""
    operand = b.operand(k)
    if not b.has("XORSIGN"):
        return read(b, k)
    if not isinstance(operand, Reg | Bank) or not operand.absolute or operand.negative:
        raise b.unknown()
    b.operands = (*b.operands[:k], replace(operand, absolute=False), *b.operands[k + 1 :])
    return read(b, k)


def extreme_single(b: SassBuilder) -> None:
    """FMNMX: the smaller where the predicate holds, else the larger; a NaN loses, but for .NAN."""
    left, right = (_of_extreme(b, k, single) for k in (1, 2))
    least, most = b.temp(), b.temp()
    flags = _extreme_flags(b)
    _operate(b, Float.minimum, least, [left, right], Type.f32, flags)
    _operate(b, Float.maximum, most, [left, right], Type.f32, flags)
    b.select(b.operand(3), least, most, b.to(b.operand(0)))


def choose_single(b: SassBuilder) -> None:
    """FSEL."""
    b.select(b.operand(3), single(b, 1), single(b, 2), b.to(b.operand(0)))


_ORDER = {"LT": floats.LT, "EQ": floats.EQ, "LE": floats.LE, "GT": floats.GT, "NE": floats.NE, "GE": floats.GE,
          "NUM": floats.IS_NUMBER, "NAN": floats.IS_NAN}  # fmt: skip
_ORDER |= {f"{name}U": code + floats.UNORDERED for name, code in _ORDER.items() if len(name) == 2}


def _relation(b: SassBuilder) -> int:
    found = next((_ORDER[one] for one in b.one.modifiers if one in _ORDER), None)
    if found is None:
        raise b.unknown()
    return found


def compare_single(b: SassBuilder) -> None:
    """FSETP."""
    _compare(b, single(b, 2), single(b, 3), Type.f32)


def compare_double(b: SassBuilder) -> None:
    """DSETP; with .MIN and .MAX whether the first number is the result, and whether both are none."""
    left, right = double(b, 2), double(b, 3)
    if b.has("MIN", "MAX"):
        return _which_extreme(b, left, right)
    _compare(b, left, right, Type.f64)


def _which_extreme(b: SassBuilder, left: int, right: int) -> None:
    if b.operand(4) != Reg("P", -1):
        raise b.unknown()
    result, first, neither = b.temp(), b.temp_predicate(), b.temp_predicate()
    _operate(b, Float.minimum if b.has("MIN") else Float.maximum, result, [left, right], Type.f64, 0)
    b.set_predicate(first, Micro.equal, result, left, shift=0)
    fields = {"x": int(Type.f64), "y": Float.compare, "list": floats.IS_NAN, "shift": numbers.NEAREST, "mask": 0}
    b.emit(Micro.floating, dst=neither, a=left, b=left, count=FIRST_ONLY, **fields)
    b.emit(Micro.floating, dst=neither, a=right, b=right, c=neither, count=BOTH, **fields)
    for k, found in enumerate((first, neither)):
        b.emit(Micro.predicate, dst=b.to_predicate(b.operand(k)), a=found, b=found, x=BOTH)


def _compare(b: SassBuilder, left: int, right: int, kind: Type) -> None:
    to, complement = b.to_predicate(b.operand(0)), b.to_predicate(b.operand(1))
    other, table, second = combined(b, b.operand(4))
    packed = table | second << 4 | (complement + 1 if complement != b.predicate("_") else 0) << 8
    kinds = {"x": int(kind), "y": Float.compare, "list": _relation(b), "count": packed, "shift": numbers.NEAREST}
    b.emit(Micro.floating, dst=to, a=left, b=right, c=other, mask=_flags(b), **kinds)


def set_single(b: SassBuilder) -> None:
    """FSET.BF: 1.0 where a comparison holds, else 0."""
    if not b.has("BF"):
        raise b.unknown()
    found = b.temp_predicate()
    other, table, second = combined(b, b.operand(3))
    kinds = {"x": int(Type.f32), "y": Float.compare, "list": _relation(b), "count": table | second << 4}
    b.emit(
        Micro.floating, dst=found, a=single(b, 1), b=single(b, 2), c=other, mask=_flags(b), shift=numbers.NEAREST,
        **kinds,
    )  # fmt: skip
    b.emit(Micro.select, dst=b.to(b.operand(0)), a=b.constant(0x3F800000), b=ZERO, x=found)


_SPECIALS = {
    "RCP": Float.reciprocal, "RSQ": Float.reciprocal_root, "SQRT": Float.square_root, "EX2": Float.exponential,
    "LG2": Float.logarithm, "SIN": Float.sine_of_turns, "COS": Float.cosine_of_turns,
    "TANH": Float.tangent_hyperbolic,
}  # fmt: skip
_UPPER = {"RCP64H": Float.reciprocal, "RSQ64H": Float.reciprocal_root}


def special_function(b: SassBuilder) -> None:
    """MUFU: approximations; .RCP64H and .RSQ64H of the upper words of doubles.

    Hardware has tables, so that results in single precision may be other numbers next to the exact one. Those of halves
    are the exact ones cut off, as logarithms mostly are. Subnormal numbers are zeros to it, but for .TANH: where PTX
    asks for them, ptxas scales operands and results around it.
    """
    to = b.to(b.operand(0))
    half = next((one for one in b.one.modifiers if one in ("F16", "BF16")), None)
    value = _source(b, 1, half) if half else single(b, 1)
    for one in b.one.modifiers:
        if one in _SPECIALS:
            kind = _KINDS[half][0] if half else Type.f32
            flags = 0 if half or one == "TANH" else numbers.FLUSH
            rounding = floats.special_rounding(_SPECIALS[one], kind)
            return _operate(b, _SPECIALS[one], to, [value], kind, flags, rounding)
        if one in _UPPER:
            wide, found = b.op(Micro.shift_left, value, b.constant(32), x=64), b.temp()
            _operate(b, _UPPER[one], found, [wide], Type.f64)
            is_none = b.temp_predicate()
            fields = {"x": int(Type.f64), "y": Float.compare, "list": floats.IS_NAN, "shift": numbers.NEAREST}
            b.emit(Micro.floating, dst=is_none, a=found, b=found, count=FIRST_ONLY, mask=0, **fields)
            upper = b.op(Micro.shift_right, found, b.constant(32), x=64)
            return b.emit(Micro.select, dst=to, a=b.constant(0x7FFFFFFF), b=upper, x=is_none)
    raise b.unknown()


def check_division(b: SassBuilder) -> None:
    """FCHK.DIVIDE: whether a quotient of two numbers needs more than the short way.

    That is where a factor or the quotient may be subnormal, infinite or NaN. On hardware the bounds may be others:
    both ways round correctly, so values do not depend on them.
    """
    to = b.to_predicate(b.operand(0))
    exponents = []
    for k in (1, 2):
        moved = b.op(Micro.shift_right, single(b, k), b.constant(23), x=32)
        exponents.append(b.op(Micro.bit_and, moved, b.constant(255)))
    difference = b.op(Micro.add, exponents[0], b.constant(125))
    difference = b.op(Micro.subtract, difference, exponents[1])
    bad, other = b.temp_predicate(), b.temp_predicate()
    b.set_predicate(bad, Micro.less, b.constant(250), difference, shift=0)  # negative ones are large without a sign
    for row, least, most in ((exponents[0], 24, 254), (exponents[1], 2, 252)):
        moved = b.op(Micro.subtract, row, b.constant(least))
        b.set_predicate(other, Micro.less, b.constant(most - least), moved, shift=0)
        b.emit(Micro.predicate, dst=bad, a=bad, b=other, x=0b1110)
    b.emit(Micro.predicate, dst=to, a=bad, b=bad, x=BOTH)


# -- halves


def _half_kind(b: SassBuilder) -> Type:
    return Type.bf16x2 if b.has("BF16_V2", "BF16") else Type.f16x2


def halves(b: SassBuilder, k: int) -> int:
    """The row of two halves; .H0_H0 and .H1_H1 have one of them twice."""
    operand = b.operand(k)
    if isinstance(operand, Imm):
        return b.constant(operand.value)
    if not isinstance(operand, Reg | Bank):
        raise b.unknown()
    row = b.raw(operand)
    if operand.modifiers and operand.modifiers[0] in ("H0_H0", "H1_H1") and len(operand.modifiers) == 1:
        shift = b.constant(16 * (operand.modifiers[0] == "H1_H1"))
        half = b.op(Micro.bit_and, b.op(Micro.shift_right, row, shift, x=64), b.constant(0xFFFF))
        row = b.op(Micro.multiply, half, b.constant(0x10001))
    elif operand.modifiers:
        raise b.unknown("has an operand")
    return _signed(b, row, operand, HALF_SIGNS)


def _merged_constants(b: SassBuilder) -> None:
    """Two constants of halves are one word of the instruction."""
    operands: list[SassOperand] = []
    for one in b.operands:
        last = operands[-1] if operands else None
        if not (isinstance(one, Imm) and one.is_float and isinstance(last, Imm) and last.is_float):
            operands.append(one)
    b.operands = tuple(operands)


def _halves(what: Float, count: int) -> object:
    def lower(b: SassBuilder) -> None:
        _merged_constants(b)
        if len(b.operands) != count + 1 or b.has("F32"):
            raise b.unknown()
        first = b.operand(0)
        if isinstance(first, Reg) and first.modifiers:
            raise b.unknown("has a result")
        rows = [halves(b, k + 1) for k in range(count)]
        _operate(b, what, b.to(first), rows, _half_kind(b))

    return lower


add_halves, multiply_halves, fuse_halves = (_halves(Float.add, 2), _halves(Float.multiply, 2), _halves(Float.fma, 3))


def fuse_or_move(b: SassBuilder) -> None:
    """HFMA2, which also moves constants: -0 * 0 + c is c, but for c = -0."""
    _merged_constants(b)
    factors = [b.operand(k) for k in (1, 2)]
    if all(isinstance(one, Reg) and one.number < 0 for one in factors):
        added = b.operand(3)
        if isinstance(added, Imm) and not b.has("RELU", "SAT"):
            return b.emit(Micro.copy, dst=b.to(b.operand(0)), a=b.constant(added.value))
    fuse_halves(b)  # type: ignore[operator]


def extreme_halves(b: SassBuilder) -> None:
    """HMNMX2: the smaller halves where the predicate holds, else the larger."""
    _merged_constants(b)
    left, right = (_of_extreme(b, k, halves) for k in (1, 2))
    least, most, flags = b.temp(), b.temp(), _extreme_flags(b)
    _operate(b, Float.minimum, least, [left, right], _half_kind(b), flags)
    _operate(b, Float.maximum, most, [left, right], _half_kind(b), flags)
    b.select(b.operand(3), least, most, b.to(b.operand(0)))


def extreme_of_three_halves(b: SassBuilder) -> None:
    """VHMNMX: the smallest or the largest halves of three."""
    found, flags = [], _extreme_flags(b)
    if b.has("XORSIGN"):
        raise b.unknown()
    rows = [halves(b, k) for k in (1, 2, 3)]
    for what in (Float.minimum, Float.maximum):
        row = rows[0]
        for other in rows[1:]:
            row, before = b.temp(), row
            _operate(b, what, row, [before, other], _half_kind(b), flags)
        found.append(row)
    b.select(b.operand(4), found[0], found[1], b.to(b.operand(0)))


def compare_halves(b: SassBuilder) -> None:
    """HSETP2: of the lower and of the upper halves, each result in a predicate of its own, joined with another."""
    _merged_constants(b)
    left, right = halves(b, 2), halves(b, 3)
    other, table, _ = combined(b, b.operand(4))
    kind = Type.bf16 if _half_kind(b) == Type.bf16x2 else Type.f16
    results = []
    for k in (0, 1):
        shift = b.constant(16 * k)
        pair = [
            b.op(Micro.bit_and, b.op(Micro.shift_right, row, shift, x=64), b.constant(0xFFFF)) for row in (left, right)
        ]
        found = b.temp_predicate()
        kinds = {"x": int(kind), "y": Float.compare, "list": _relation(b), "count": 0b1100, "shift": numbers.NEAREST}
        b.emit(Micro.floating, dst=found, a=pair[0], b=pair[1], mask=_flags(b), **kinds)
        results.append(found)
    if b.has("H1_AND"):
        b.emit(Micro.predicate, dst=results[0], a=results[0], b=results[1], x=BOTH)
        return write_combined(b, results[0], b.to_predicate(b.operand(0)), b.predicate("_"), (other, table, table))
    for found, k in zip(results, (0, 1), strict=True):
        write_combined(b, found, b.to_predicate(b.operand(k)), b.predicate("_"), (other, table, table))


# -- conversions

_KINDS = {
    "F16": (Type.f16, 16), "F32": (Type.f32, 32), "F64": (Type.f64, 64), "BF16": (Type.bf16, 16),
    "U8": (Type.unsigned, 8), "S8": (Type.signed, 8), "U16": (Type.unsigned, 16), "S16": (Type.signed, 16),
    "U32": (Type.unsigned, 32),
    "S32": (Type.signed, 32), "U64": (Type.unsigned, 64), "S64": (Type.signed, 64), "TF32": (Type.tf32, 32),
}  # fmt: skip


def _kinds(b: SassBuilder) -> list[str]:
    return [one for one in b.one.modifiers if one in _KINDS]


def _source(b: SassBuilder, k: int, kind: str) -> int:
    """The row of an operand that is converted; parts of registers are named by .B1, .H1 and the like."""
    operand, (number, width) = b.operand(k), _KINDS[kind]
    if width == 64:
        if isinstance(operand, Imm) and operand.is_float:
            return b.constant(operand.value << 32)
        return _signed(b, b.wide(operand), operand, SIGN_64)
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
    return _signed(b, row, operand, 1 << (width - 1))


def _convert(b: SassBuilder, to: str, of: str, flags: int = 0) -> None:
    (target, out), (source, width) = _KINDS[to], _KINDS[of]
    row = _source(b, len(b.operands) - 1, of)
    result = b.temp() if out == 64 else b.to(b.operand(0))
    fields = {"x": int(target), "y": int(source), "shift": _rounding(b), "mask": _flags(b) | flags}
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
        b.emit(Micro.extend, dst=to, a=to, shift=64 - _KINDS[integer_type][1], mask=WORD)


def pack_bytes(b: SassBuilder) -> None:
    """F2IP: two numbers in single precision as whole ones in bytes, the first above."""
    if not b.has("U8", "S8") or not b.has("F32") or len(b.operands) != 4 or b.operand(3) != Reg("R", -1):
        raise b.unknown()
    kind = Type.signed if b.has("S8") else Type.unsigned
    fields = {"x": int(kind), "y": int(Type.f32), "shift": _rounding(b), "mask": _flags(b)}
    b.emit(Micro.convert, dst=b.to(b.operand(0)), a=single(b, 1), b=single(b, 2), list=8 | 32 << 8, count=1, **fields)


def saturate_integer(b: SassBuilder) -> None:
    """I2I.SAT: a whole number of 32 bits in fewer, the nearest that they can be."""
    kinds = _kinds(b)
    if len(kinds) != 2 or not b.has("SAT") or kinds[1] not in ("S32", "U32") or len(b.operands) != 2:
        raise b.unknown()
    (target, out), is_signed = _KINDS[kinds[0]], kinds[1] == "S32"
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
    if not b.has("PACK_AB", "PACK_B") and b.one.name == "F2FP" and not b.has("BF16", "F16"):
        raise b.unknown()
    kind = Type.bf16 if b.has("BF16") else Type.f16
    if b.has("E4M3", "E5M2", "UNPACK_B", "MERGE_C", "TF32") or len(b.operands) != 3:
        raise b.unknown()
    fields = {"x": int(kind), "y": int(Type.f32), "shift": _rounding(b), "mask": _flags(b)}
    b.emit(Micro.convert, dst=b.to(b.operand(0)), a=single(b, 1), b=single(b, 2), list=16 | 32 << 8, count=1, **fields)


def _small(b: SassBuilder) -> None:
    """Numbers of 8 bits, in the lower half of a register."""
    kind = Type.e4m3 if b.has("E4M3") else Type.e5m2
    flags = _flags(b) | numbers.FINITE * b.has("SATFINITE")
    fields = {"dst": b.to(b.operand(0)), "shift": _rounding(b), "mask": flags}
    if b.has("UNPACK_B") and b.has("F16") and len(b.operands) == 2:
        row = _source(b, 1, "F16")
        return b.emit(Micro.convert, a=row, x=int(Type.f16), y=int(kind), list=16 | 8 << 8, count=2, **fields)
    if not b.has("PACK_AB_MERGE_C") or not b.has("F32"):
        raise b.unknown()
    packed = b.temp()
    fields |= {"dst": packed, "x": int(kind), "y": int(Type.f32), "list": 8 | 32 << 8, "count": 1}
    b.emit(Micro.convert, a=single(b, 1), b=single(b, 2), **fields)
    upper = b.op(Micro.shift_left, b.word(b.operand(3)), b.constant(16), x=32, mask=WORD)
    b.emit(Micro.bit_or, dst=b.to(b.operand(0)), a=packed, b=upper)


def add_or_convert_halves(b: SassBuilder) -> None:
    """HADD2; HADD2.F32 makes a half a number in single precision."""
    if not b.has("F32"):
        return add_halves(b)  # type: ignore[operator]
    _merged_constants(b)
    value, other = b.operand(1), b.operand(2)
    if isinstance(value, Reg) and value.number < 0:
        value, other = other, value
    if not (isinstance(other, Reg) and other.number < 0 and isinstance(value, Reg) and len(value.modifiers) == 1):
        raise b.unknown()
    kind = Type.bf16 if _half_kind(b) == Type.bf16x2 else Type.f16
    row = b.op(Micro.shift_right, b.raw(value), b.constant(16 * (value.modifiers[0] == "H1_H1")), x=64)
    row = _signed(b, b.op(Micro.bit_and, row, b.constant(0xFFFF)), value, 0x8000)
    fields = {"x": int(Type.f32), "y": int(kind), "shift": numbers.NEAREST, "mask": _flags(b)}
    b.emit(Micro.convert, dst=b.to(b.operand(0)), a=row, list=32 | 16 << 8, count=0, **fields)
