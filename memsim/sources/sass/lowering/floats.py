"""Floating-point arithmetic in single, double and half precision."""

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


def rounding_mode(b: SassBuilder) -> int:
    """The rounding that the modifiers name; to nearest without one."""
    return next((_ROUNDING[one] for one in b.one.modifiers if one in _ROUNDING), numbers.NEAREST)


def float_flags(b: SassBuilder) -> int:
    """The flags for saturation, flushed subnormals and ReLU."""
    return numbers.SATURATE * b.has("SAT") | numbers.FLUSH * b.has("FTZ") | numbers.RELU * b.has("RELU")


def single(b: SassBuilder, k: int) -> int:
    """The row of a number in single precision."""
    operand = b.operand(k)
    if isinstance(operand, Reg | Bank) and operand.modifiers:
        raise b.unknown("has an operand")
    return signed(b, b.raw(operand), operand, SIGN_32)


def signed(b: SassBuilder, row: int, operand: SassOperand, sign: int) -> int:
    """A row with the operand's absolute value and negation applied to the sign bits."""
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
    for is_set, what in ((operand.absolute, Float.absolute), (operand.negative, Float.negate)):
        if is_set:  # of numbers alone: a NaN keeps its sign
            before, row = row, b.temp()
            b.emit(Micro.floating, dst=row, a=before, x=int(Type.f64), y=what, shift=numbers.NEAREST, mask=0)
    return row


def emit_operation(
    b: SassBuilder, what: Float, to: int, rows: list[int], kind: Type, flags: int | None = None,
    rounding: int | None = None,
) -> None:  # fmt: skip
    """Emit a floating-point micro-op; rounding and flags are the instruction's unless they are given."""
    rounding, flags = (rounding_mode(b) if rounding is None else rounding), (float_flags(b) if flags is None else flags)
    fields = {"x": int(kind), "y": int(what), "shift": rounding, "mask": flags}
    b.emit(Micro.floating, dst=to, **dict(zip("abc", rows, strict=False)), **fields)


def _single(what: Float, count: int) -> object:
    def lower(b: SassBuilder) -> None:
        """FADD, FMUL and FFMA: the sum, product or fused product and sum of singles."""
        if len(b.operands) != count + 1:
            raise b.unknown()
        emit_operation(b, what, b.to(b.operand(0)), [single(b, k + 1) for k in range(count)], Type.f32)

    return lower


add_single, multiply_single, fuse_single = (
    _single(Float.add, 2), _single(Float.multiply, 2), _single(Float.fma, 3)
)  # fmt: skip


def _to_pair(what: Float, count: int, kind: Type, read: Callable[[SassBuilder, int], int]) -> object:
    """An operation of 64 bits on `count` operands, whose result goes to a pair of registers."""

    def lower(b: SassBuilder) -> None:
        """DADD, DMUL and DFMA, of doubles; FADD2, FMUL2 and FFMA2, of two singles each."""
        if len(b.operands) != count + 1:
            raise b.unknown()
        result = b.temp()
        emit_operation(b, what, result, [read(b, k + 1) for k in range(count)], kind)
        b.split(b.operand(0), result)

    return lower


add_double, multiply_double, fuse_double = (
    _to_pair(what, count, Type.f64, double) for what, count in ((Float.add, 2), (Float.multiply, 2), (Float.fma, 3))
)


def _extreme_flags(b: SassBuilder) -> int:
    return float_flags(b) | floats.KEEP_NAN * b.has("NAN") | floats.SIGN_OF_BOTH * b.has("XORSIGN")


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
    emit_operation(b, Float.minimum, least, [left, right], Type.f32, flags)
    emit_operation(b, Float.maximum, most, [left, right], Type.f32, flags)
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
    emit_operation(b, Float.minimum if b.has("MIN") else Float.maximum, result, [left, right], Type.f64, 0)
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
    b.emit(Micro.floating, dst=to, a=left, b=right, c=other, mask=float_flags(b), **kinds)


def set_single(b: SassBuilder) -> None:
    """FSET.BF: 1.0 where a comparison holds, else 0."""
    if not b.has("BF"):
        raise b.unknown()
    found = b.temp_predicate()
    other, table, second = combined(b, b.operand(3))
    kinds = {"x": int(Type.f32), "y": Float.compare, "list": _relation(b), "count": table | second << 4}
    b.emit(
        Micro.floating, dst=found, a=single(b, 1), b=single(b, 2), c=other, mask=float_flags(b), shift=numbers.NEAREST,
        **kinds,
    )  # fmt: skip
    b.emit(Micro.select, dst=b.to(b.operand(0)), a=b.constant(0x3F800000), b=ZERO, x=found)


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
    return signed(b, row, operand, HALF_SIGNS)


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
        """HADD2, HMUL2 and HFMA2: the sum, product or fused product and sum of two halves each."""
        _merged_constants(b)
        if len(b.operands) != count + 1 or b.has("F32"):
            raise b.unknown()
        first = b.operand(0)
        if isinstance(first, Reg) and first.modifiers:
            raise b.unknown("has a result")
        rows = [halves(b, k + 1) for k in range(count)]
        emit_operation(b, what, b.to(first), rows, _half_kind(b))

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
    emit_operation(b, Float.minimum, least, [left, right], _half_kind(b), flags)
    emit_operation(b, Float.maximum, most, [left, right], _half_kind(b), flags)
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
            emit_operation(b, what, row, [before, other], _half_kind(b), flags)
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
        b.emit(Micro.floating, dst=found, a=pair[0], b=pair[1], mask=float_flags(b), **kinds)
        results.append(found)
    if b.has("H1_AND"):
        b.emit(Micro.predicate, dst=results[0], a=results[0], b=results[1], x=BOTH)
        return write_combined(b, results[0], b.to_predicate(b.operand(0)), b.predicate("_"), (other, table, table))
    for found, k in zip(results, (0, 1), strict=True):
        write_combined(b, found, b.to_predicate(b.operand(k)), b.predicate("_"), (other, table, table))


def _pair_of_singles(b: SassBuilder, k: int) -> int:
    """The row of two numbers in single precision; .F32 is one number twice."""
    operand = b.operand(k)
    if not isinstance(operand, Reg | Bank) or operand.absolute or operand.inverted:
        raise b.unknown()
    if operand.modifiers == ("F32",):
        row = b.op(Micro.pair, b.raw(operand), b.raw(operand))
    elif operand.modifiers[:2] == ("F32x2", "HI_LO"):
        row = b.wide(operand)
    else:
        raise b.unknown("has an operand")
    opposite = operand.modifiers[2:] == ("NP",)  # the upper number's sign is not treated as the lower one's
    if operand.modifiers[2:] and not opposite:
        raise b.unknown("has an operand")
    signs = SIGN_32 * operand.negative + (SIGN_32 << 32) * (operand.negative != opposite)
    return b.op(Micro.bit_xor, row, b.constant(signs)) if signs else row


add_two_singles, multiply_two_singles, fuse_two_singles = (
    _to_pair(what, count, Type.f32x2, _pair_of_singles)
    for what, count in ((Float.add, 2), (Float.multiply, 2), (Float.fma, 3))
)


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
    row = signed(b, b.op(Micro.bit_and, row, b.constant(0xFFFF)), value, 0x8000)
    fields = {"x": int(Type.f32), "y": int(kind), "shift": numbers.NEAREST, "mask": float_flags(b)}
    b.emit(Micro.convert, dst=b.to(b.operand(0)), a=row, list=32 | 16 << 8, count=0, **fields)
