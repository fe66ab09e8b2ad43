"""setp and set: comparisons of all types, joined with a predicate (PTX ISA 9.0, section 9.7.6)."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import TRUE, Builder, Lower, width_of
from memsim.sources.ptx.lowering.integers import AND_ONLY, condition, destination, is_signed, mask_of
from memsim.sources.ptx.lowering.types import flags, number_type
from memsim.sources.ptx.machine import floats
from memsim.sources.ptx.machine.codes import Float, Micro
from memsim.sources.ptx.module import Instruction, Register, Vector

_ORDER = {"eq": floats.EQ, "ne": floats.NE, "lt": floats.LT, "le": floats.LE, "gt": floats.GT, "ge": floats.GE}
_FLOATS = (
    _ORDER
    | {f"{name}u": code + floats.UNORDERED for name, code in _ORDER.items()}
    | {"num": floats.IS_NUMBER, "nan": floats.IS_NAN}
)
_UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
# How a comparison (the first) and a predicate (the second) are joined, and the complement's: tables by 2 * first +
# second.
_COMBINED = {"and": (0b1000, 0b0010), "or": (0b1110, 0b1011), "xor": (0b0110, 0b1001)}
_UNCOMBINED = (AND_ONLY, 0b0011)


def _comparison(b: Builder, one: Instruction) -> tuple[str, str, str]:
    """How to compare, how to join (or ""), and the type."""
    how = one.opcode[1]
    combine = next((part for part in one.opcode[2:-1] if part in _COMBINED), "")
    how = _UNSIGNED_NAMES.get(how, how)
    if how not in _FLOATS:
        raise b.error("compares in a way that memsim does not support")
    return how, combine, one.type


def _set_predicate(b: Builder, one: Instruction) -> None:
    how, combine, kind = _comparison(b, one)
    to = one.operands[0]
    results = to.elements if isinstance(to, Vector) else (to,)
    if not all(isinstance(part, Register) for part in results):
        raise b.error("has no predicate for its result")
    names = [part.name for part in results if isinstance(part, Register)]
    second = b.predicate(names[1]) if len(names) > 1 else -1
    other = condition(b, one.operands[3]) if combine else TRUE
    tables = _COMBINED[combine] if combine else _UNCOMBINED
    compare(b, one, how, kind, b.predicate(names[0]), other, tables, second)


def compare(
    b: Builder, one: Instruction, how: str, kind: str, to: int, other: int, tables: tuple[int, int], second: int
) -> None:
    """Emit a comparison of an instruction's second and third operands."""
    left, right = b.value(one.operands[1], kind), b.value(one.operands[2], kind)
    if kind[0] in "fb" and kind not in ("b8", "b16", "b32", "b64"):
        if kind.endswith("x2"):
            raise b.error("compares two halves, which memsim does not support")
        packed = tables[0] | tables[1] << 4 | (second + 1) << 8
        kinds = {
            "x": number_type(b, kind),
            "y": Float.compare,
            "list": _FLOATS[how],
            "count": packed,
            "mask": flags(one),
        }
        b.emit(Micro.floating, dst=to, a=left, b=right, c=other, **kinds)
        return
    if how in ("gt", "ge"):
        left, right, how = right, left, {"gt": "lt", "ge": "le"}[how]
    signed = is_signed(kind)
    ops = {"eq": Micro.equal, "ne": Micro.unequal, "lt": Micro.less, "le": Micro.less_equal}
    op = {"lt": Micro.less_signed, "le": Micro.less_equal_signed}.get(how, ops[how]) if signed else ops[how]
    fields = {"shift": 64 - width_of(kind), "x": tables[0], "y": tables[1], "count": second}
    b.emit(op, dst=to, a=left, b=right, c=other, **fields)


def _set_value(b: Builder, one: Instruction) -> None:
    """set: all ones or 1.0 where the comparison holds."""
    how, combine, kind = _comparison(b, one)
    result = one.opcode[-2]
    true = b.temporary_predicate()
    other = condition(b, one.operands[3]) if combine else TRUE
    compare(b, one, how, kind, true, other, _COMBINED[combine] if combine else _UNCOMBINED, -1)
    ones = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(result, mask_of(width_of(result)))
    b.emit(Micro.select, dst=destination(b, one), a=b.constant(ones), b=b.constant(0), x=true)


COMPARISONS: dict[str, Lower] = {"setp": _set_predicate, "set": _set_value}
