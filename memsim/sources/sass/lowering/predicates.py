"""Comparisons of whole numbers, and logic of predicates."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import TRUE, ZERO
from memsim.sources.ptx.machine import warp_collectives
from memsim.sources.ptx.machine.codes import Micro
from memsim.sources.sass.builder import BOTH, EITHER, FIRST_ONLY, NEITHER, WORD, SassBuilder
from memsim.sources.sass.lowering.control import members_of
from memsim.sources.sass.operands import Imm, Reg, SassOperand

# How a comparison (the first) and a predicate (the second) are joined, and its complement with the predicate.
COMBINED = {"AND": (0b1000, 0b0010), "OR": (0b1110, 0b1011), "XOR": (0b0110, 0b1001)}
_ORDER = ("F", "LT", "EQ", "LE", "GT", "NE", "GE", "T")


def combined(b: SassBuilder, operand: SassOperand) -> tuple[int, int, int]:
    """The predicate that a comparison is joined with, the table of the result and that of its complement."""
    how = next((COMBINED[one] for one in b.one.modifiers if one in COMBINED), None)
    if how is None:
        raise b.unknown()
    number, inverted = b.source_predicate(operand)
    if inverted:
        return number, _with_complement(how[0]), _with_complement(how[1])
    return number, how[0], how[1]


def _with_complement(table: int) -> int:
    """A function of two predicates as one of the first and the complement of the second."""
    return (table & 0b0101) << 1 | (table & 0b1010) >> 1


def relation(b: SassBuilder) -> str:
    """How whole numbers are compared."""
    found = next((one for one in b.one.modifiers if one in _ORDER), None)
    if found is None:
        raise b.unknown()
    return found


def compare(b: SassBuilder) -> None:
    """ISETP and UISETP; .EX are the upper words of numbers whose lower ones were compared before."""
    to, complement = b.to_predicate(b.operand(0)), b.to_predicate(b.operand(1))
    is_wide = b.has("S64", "U64")
    left, right = (b.signed_wide(b.operand(k)) if is_wide else b.word(b.operand(k)) for k in (2, 3))
    how, signed = relation(b), not b.has("U32", "U64")
    other, table, second = combined(b, b.operand(4))
    extended = b.has("EX")
    if how in ("T", "F"):
        left, right, how = ZERO, ZERO, {"T": "EQ", "F": "NE"}[how]
        extended = False
    if extended:
        return _compare_upper(b, left, right, how, signed, (to, complement, other, table, second))
    micro, left, right = _micro(how, signed, left, right)
    _emit(b, micro, left, right, (to, complement, other, table, second), 0 if is_wide else 32)


def _micro(how: str, signed: bool, left: int, right: int) -> tuple[Micro, int, int]:
    if how in ("GT", "GE"):
        left, right, how = right, left, {"GT": "LT", "GE": "LE"}[how]
    if how in ("EQ", "NE"):
        return (Micro.equal if how == "EQ" else Micro.unequal), left, right
    if signed:
        return (Micro.less_signed if how == "LT" else Micro.less_equal_signed), left, right
    return (Micro.less if how == "LT" else Micro.less_equal), left, right


Combined = tuple[int, int, int, int, int]


def _emit(b: SassBuilder, micro: Micro, left: int, right: int, results: Combined, shift: int) -> None:
    to, complement, other, table, second = results
    more = {"count": complement if complement != b.predicate("_") else -1}
    b.emit(micro, dst=to, a=left, b=right, c=other, shift=shift, x=table, y=second, **more)


def _compare_upper(b: SassBuilder, left: int, right: int, how: str, signed: bool, results: Combined) -> None:
    """The comparison of upper words, where they are equal that of the lower ones, which a predicate holds."""
    lower = b.plain_predicate(b.operand(5))
    same, found = b.temp_predicate(), b.temp_predicate()
    b.set_predicate(same, Micro.equal, left, right)
    strict = {"LE": "LT", "GE": "GT"}.get(how, how)
    micro, left, right = _micro("NE" if how == "EQ" else strict, signed, left, right)
    b.set_predicate(found, micro, left, right)
    if how == "EQ":
        b.emit(Micro.predicate, dst=found, a=same, b=lower, x=BOTH)
    else:
        b.emit(Micro.predicate, dst=same, a=same, b=lower, x=BOTH)
        b.emit(Micro.predicate, dst=found, a=found, b=same, x=EITHER)
    to, complement, other, table, second = results
    write_combined(b, found, to, complement, (other, table, second))


def write_combined(b: SassBuilder, found: int, to: int, complement: int, by: tuple[int, int, int]) -> None:
    """Join a predicate with another, and write the result and its complement."""
    other, table, second = by
    copy = b.temp_predicate()
    b.emit(Micro.predicate, dst=copy, a=other, b=other, x=BOTH)
    guard = b.one.predicate.lstrip("@!")
    first, last = ((to, table), (complement, second))
    if guard and to == b.predicate(guard):
        first, last = last, first
    for number, how in (first, last):
        if number != b.predicate("_"):
            b.emit(Micro.predicate, dst=number, a=found, b=copy, x=how)


def logic(b: SassBuilder) -> None:
    """PLOP3 and UPLOP3: any two functions of three predicates."""
    inputs = [_truth(b, b.operand(k)) for k in (2, 3, 4)]
    results = []
    for k in (0, 1):
        table = b.operand(5 + k)
        if not isinstance(table, Imm):
            raise b.unknown()
        if b.operands[k] in (Reg("P", -1), Reg("UP", -1)):
            continue
        results.append((b.to_predicate(b.operand(k)), _function(b, inputs, table.value & 0xFF)))
    guard = b.one.predicate.lstrip("@!")
    results.sort(key=lambda one: bool(guard) and one[0] == b.predicate(guard))
    for to, found in results:
        b.emit(Micro.predicate, dst=to, a=found, b=found, x=BOTH)


def _truth(b: SassBuilder, operand: SassOperand) -> tuple[int, bool]:
    """A predicate, or whether a register's number is below 0, and whether the complement is meant."""
    if not isinstance(operand, Reg) or operand.file not in ("R", "UR"):
        return b.source_predicate(operand)
    if operand.modifiers != ("SIGN",) or operand.negative or operand.absolute:
        raise b.unknown("has an operand")
    is_negative = b.temp_predicate()
    b.set_predicate(is_negative, Micro.less_signed, b.raw(operand), ZERO)
    return is_negative, operand.inverted


def _function(b: SassBuilder, inputs: list[tuple[int, bool]], table: int) -> int:
    """A predicate with a function of three predicates, by its table."""
    for k, (number, inverted) in enumerate(inputs):
        input_bit = 4 >> k
        if inverted:
            table = sum((table >> (at ^ input_bit) & 1) << at for at in range(8))
        if number == TRUE:
            table = sum((table >> (at | input_bit) & 1) << at for at in range(8))
    (first, _), (second, _), (third, _) = inputs
    without, with_third = (sum((table >> (2 * at + low) & 1) << at for at in range(4)) for low in (0, 1))
    found = b.temp_predicate()
    b.emit(Micro.predicate, dst=found, a=first, b=second, x=without)
    if without != with_third:
        other = b.temp_predicate()
        b.emit(Micro.predicate, dst=other, a=first, b=second, x=with_third)
        b.emit(Micro.predicate, dst=other, a=other, b=third, x=BOTH)
        b.emit(Micro.predicate, dst=found, a=found, b=third, x=0b0100)
        b.emit(Micro.predicate, dst=found, a=found, b=other, x=EITHER)
    return found


def to_register(b: SassBuilder) -> None:
    """P2R, UP2UR: the predicates as bits of a register, those of a mask; the others keep what a register has."""
    _check_predicates(b, 1)
    mask = b.operand(3)
    if not isinstance(mask, Imm):
        raise b.unknown()
    bits, to = mask.value & WORD, b.to(b.operand(0))
    at, total = _byte(b), b.op(Micro.bit_and, b.word(b.operand(2)), b.constant(WORD & ~(bits << _byte(b))))
    for k in range(7):
        if bits >> k & 1:
            bit = b.op(Micro.select, b.constant(1 << (k + at)), ZERO, x=b.predicate(f"{_file(b)}{k}"))
            total = b.op(Micro.bit_or, total, bit)
    b.emit(Micro.copy, dst=to, a=total)


def from_register(b: SassBuilder) -> None:
    """R2P, UR2UP: predicates from bits of a register, those of a mask."""
    _check_predicates(b, 0)
    mask = b.operand(2)
    if not isinstance(mask, Imm):
        raise b.unknown()
    value = b.word(b.operand(1))
    guard = b.one.predicate.lstrip("@!")
    for k in sorted(range(7), key=lambda k: guard == f"{_file(b)}{k}"):
        if mask.value >> k & 1:
            bit = b.op(Micro.bit_and, value, b.constant(1 << (k + _byte(b))))
            b.set_predicate(b.predicate(f"{_file(b)}{k}"), Micro.unequal, bit, ZERO)


def _byte(b: SassBuilder) -> int:
    """The first bit of the byte of a register that is meant."""
    operand = b.operands[0 if b.one.name in ("P2R", "UP2UR") else 1]
    modifiers = [*(operand.modifiers if isinstance(operand, Reg) else ()), *b.one.modifiers]
    return next((8 * int(one[1]) for one in modifiers if one in ("B1", "B2", "B3")), 0)


def _check_predicates(b: SassBuilder, k: int) -> None:
    """All predicates at once are named PR, or UPR."""
    if getattr(b.operand(k), "text", "") != f"{_file(b)}R":
        raise b.unknown()


def _file(b: SassBuilder) -> str:
    return "UP" if b.one.name.startswith("U") else "P"


_VOTES = {"ALL": warp_collectives.ALL, "ANY": warp_collectives.ANY, "EQ": warp_collectives.UNIFORM}


def vote(b: SassBuilder) -> None:
    """VOTE and VOTEU: of the lanes that are active, which have a predicate, or whether any, all or none or all have."""
    first = 0 if b.is_predicate(0) else 1
    to = b.operands[0] if first else None
    has_predicate = b.is_predicate(first) and b.is_predicate(first + 1)
    by, inverted = b.source_predicate(b.operands[-1])
    mode = next((_VOTES[one] for one in b.one.modifiers if one in _VOTES), warp_collectives.ANY)
    members = members_of(b)
    if to is not None and to != Reg("R", -1) and to != Reg("UR", -1):
        row = b.temp()
        b.emit(Micro.vote, dst=row, a=by, y=int(inverted), b=members, x=warp_collectives.BALLOT)
        b.emit(Micro.copy, dst=b.to(to), a=row)
    if has_predicate and b.operands[first] not in (Reg("P", -1), Reg("UP", -1)):
        b.emit(Micro.vote, dst=b.to_predicate(b.operands[first]), a=by, y=int(inverted), b=members, x=mode)


__all__ = [
    "FIRST_ONLY",
    "NEITHER",
    "compare",
    "from_register",
    "combined",
    "logic",
    "to_register",
    "vote",
    "write_combined",
]
