"""Floating-point instructions and conversions (PTX ISA 9.0, sections 9.7.3 to 9.7.5 and 9.7.9)."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import Builder, Lower, width_of
from memsim.sources.ptx.lowering.integers import INTEGERS, convert_integers, destination, mask_of
from memsim.sources.ptx.lowering.types import FLOATS, flags, number_type, rounding
from memsim.sources.ptx.machine import floats
from memsim.sources.ptx.machine.codes import Float, Micro, Type
from memsim.sources.ptx.module import Instruction

_OPERATIONS = {
    "add": (Float.add, 2), "sub": (Float.subtract, 2), "mul": (Float.multiply, 2), "fma": (Float.fma, 3),
    "mad": (Float.fma, 3), "div": (Float.divide, 2), "min": (Float.minimum, 2), "max": (Float.maximum, 2),
    "neg": (Float.negate, 1), "abs": (Float.absolute, 1), "sqrt": (Float.square_root, 1), "rcp": (Float.reciprocal, 1),
    "rsqrt": (Float.reciprocal_root, 1), "ex2": (Float.exponential, 1), "lg2": (Float.logarithm, 1),
    "sin": (Float.sine, 1), "cos": (Float.cosine, 1), "tanh": (Float.tangent_hyperbolic, 1),
    "copysign": (Float.copy_sign, 2),
}  # fmt: skip
_TESTS = {"finite": floats.FINITE, "infinite": floats.INFINITE, "number": floats.NUMBER, "notanumber":
floats.NOT_A_NUMBER,
          "normal": floats.NORMAL, "subnormal": floats.SUBNORMAL}  # fmt: skip


def is_float(one: Instruction) -> bool:
    """Whether an instruction's type is a floating-point one."""
    return one.type in FLOATS


def _operate(b: Builder, one: Instruction) -> None:
    what, count = _OPERATIONS[one.name]
    if len(one.operands) <= count:
        raise b.error(f"has {len(one.operands)} operands; it takes {count + 1}")
    mixed = len(one.opcode) > 2 and one.opcode[-2] in FLOATS and one.opcode[-2] != one.type
    if mixed:
        raise b.error("mixes types in a way that memsim does not support")
    rows = {name: b.value(operand, one.type) for name, operand in zip("abc", one.operands[1 : count + 1], strict=False)}
    bits = flags(one) | floats.KEEP_NAN * one.has("NaN") | floats.SIGN_OF_BOTH * one.has("xorsign")
    kind = number_type(b, one.type)
    approximate = one.name in ("ex2", "lg2", "tanh")
    how = floats.special_rounding(what, Type(kind)) if approximate else rounding(one)
    fields = {"x": kind, "y": what, "shift": how, "mask": bits}
    b.emit(Micro.floating, dst=destination(b, one), **rows, **fields)


def _test(b: Builder, one: Instruction) -> None:
    test = next((code for name, code in _TESTS.items() if one.has(name)), None)
    if test is None:
        raise b.error("is a test that memsim does not support")
    to = b.predicate(one.operands[0].name)  # type: ignore[union-attr]
    value = b.value(one.operands[1], one.type)
    fields = {"x": number_type(b, one.type), "y": Float.test, "list": test, "count": 0b1100, "mask": 0}
    b.emit(Micro.floating, dst=to, a=value, **fields)


def _convert(b: Builder, one: Instruction) -> None:
    """cvt: between integers, or with a floating-point type on a side; pairs of numbers into halves and back."""
    to, of = one.opcode[-2], one.opcode[-1]
    if len(one.opcode) < 3 or "pack" in one.opcode:
        raise b.error("is a conversion that memsim does not support")
    if to not in FLOATS and of not in FLOATS:
        return convert_integers(b, one)
    out, width = width_of(to), width_of(of)
    fields = {"x": number_type(b, _element(to)), "y": number_type(b, _element(of))}
    packs = to.endswith("x2") and not of.endswith("x2")
    halves = 1 if packs else 2 if to.endswith("x2") else 0
    if halves == 2:
        width //= 2
    if halves:
        out //= 2
    bits = flags(one) | (floats.TO_INTEGER if one.has("rni", "rzi", "rmi", "rpi") else 0)
    rows = {"a": b.value(one.operands[1], of)}
    if packs:
        rows["b"] = b.value(one.operands[2], of)
    row = destination(b, one)
    b.emit(
        Micro.convert, dst=row, shift=rounding(one), mask=bits, list=out | width << 8, count=halves, **rows, **fields
    )
    if to in ("s8", "s16"):  # the result fills its register
        b.emit(Micro.extend, dst=row, a=row, shift=64 - out, mask=mask_of(width_of(b.types[one.operands[0].name])))  # type: ignore[union-attr]


def _element(kind: str) -> str:
    return kind.removesuffix("x2")


FLOATING: dict[str, Lower] = dict.fromkeys(_OPERATIONS, _operate)
FLOATING |= {"testp": _test, "cvt": _convert}


BITS = ("mov", "selp", "slct")  # what moves bits, whatever their type


def arithmetic(b: Builder, one: Instruction) -> None:
    """What has the same name for integers and floating-point numbers, by its type."""
    table = FLOATING if one.name not in INTEGERS or is_float(one) and one.name not in BITS else INTEGERS
    if one.name in table:
        return table[one.name](b, one)
    raise b.error("is not supported")
