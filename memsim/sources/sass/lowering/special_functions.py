"""The special-function unit (MUFU), and the check before a division (FCHK)."""

from __future__ import annotations

from memsim.sources.ptx.machine import floats, numbers
from memsim.sources.ptx.machine.codes import Float, Micro, Type
from memsim.sources.sass.builder import BOTH, FIRST_ONLY, SassBuilder
from memsim.sources.sass.lowering.conversions import KINDS, source_row
from memsim.sources.sass.lowering.floats import emit_operation, single

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
    value = source_row(b, 1, half) if half else single(b, 1)
    for one in b.one.modifiers:
        if one in _SPECIALS:
            kind = KINDS[half][0] if half else Type.f32
            flags = 0 if half or one == "TANH" else numbers.FLUSH
            rounding = floats.special_rounding(_SPECIALS[one], kind)
            return emit_operation(b, _SPECIALS[one], to, [value], kind, flags, rounding)
        if one in _UPPER:
            wide, found = b.op(Micro.shift_left, value, b.constant(32), x=64), b.temp()
            emit_operation(b, _UPPER[one], found, [wide], Type.f64)
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
