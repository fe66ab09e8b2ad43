"""Whole numbers, logic, shifts and moves of registers."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import SINK, ZERO
from memsim.sources.ptx.machine import warp_collectives
from memsim.sources.ptx.machine.codes import Integer, Micro
from memsim.sources.sass.builder import EITHER, FIRST_ONLY, WORD, SassBuilder
from memsim.sources.sass.operands import Bank, Imm, Reg

_CARRY_AT = 32


def move(b: SassBuilder) -> None:
    """MOV, UMOV, MOV32I; R2UR and the like: a register gets 32 bits, with .64 two registers."""
    count = 2 if b.has("64") else 1
    for k in range(count):
        b.emit(Micro.copy, dst=b.to(b.operand(0), k), a=b.word(b.operand(1), k))


def _leading_predicates(b: SassBuilder, first: int) -> tuple[list[int], int]:
    """Predicates that get carries, and where the operands behind them begin."""
    found = []
    while b.is_predicate(first):
        found.append(b.to_predicate(b.operands[first]))
        first += 1
    return found, first


def _trailing_predicates(b: SassBuilder, first: int) -> list[tuple[int, bool]]:
    return [b.source_predicate(one) for one in b.operands[first:]]


def _carry_in(b: SassBuilder, predicate: tuple[int, bool]) -> int:
    """The row of 1 where a carry comes in, else 0."""
    number, inverted = predicate
    one, none = b.constant(1), ZERO
    return b.op(Micro.select, none if inverted else one, one if inverted else none, x=number)


def _carries(b: SassBuilder, both_words: int, to: list[int]) -> None:
    """Carries of a sum of more than 32 bits: the first predicate where there is one, the second where there are two."""
    if not to:
        return
    carry = b.op(Micro.shift_right, both_words, b.constant(_CARRY_AT), x=64)
    for least, number in enumerate(to, 1):
        b.set_predicate(number, Micro.less_equal, b.constant(least), carry)


def _addend(b: SassBuilder, k: int, extended: bool) -> int:
    """A summand; negated it is 2 ** 32 less the number, so that carries come as the hardware's."""
    operand = b.operand(k)
    if isinstance(operand, Imm):
        return b.constant(operand.value & WORD)
    row = b.raw(operand)
    if not isinstance(operand, Reg | Bank) or operand.absolute or operand.modifiers not in ((), ("64",)):
        raise b.unknown("adds in a form")
    if operand.inverted or operand.negative and extended:
        return b.op(Micro.bit_not, row, mask=WORD)
    if operand.negative:
        return b.op(Micro.subtract, b.constant(1 << _CARRY_AT), row)
    return row


def add(b: SassBuilder) -> None:
    """IADD3, UIADD3: three summands, two carries out, two in with .X; with .64 of two registers each, no carries."""
    if b.has("64"):
        out, at = _leading_predicates(b, 1)
        if b.has("X") or len(b.operands) != at + 3 or any(one != b.predicate("_") for one in out):
            raise b.unknown()
        first, second, third = (b.signed_wide(b.operand(at + k)) for k in range(3))
        return b.split(b.operand(0), b.op(Micro.add, b.op(Micro.add, first, second, mask=-1), third, mask=-1))
    to = b.to(b.operand(0))
    out, first = _leading_predicates(b, 1)
    extended = b.has("X")
    rows = [_addend(b, first + k, extended) for k in range(3)]
    carries = _trailing_predicates(b, first + 3)
    if carries and not extended:
        raise b.unknown()
    rows += [_carry_in(b, one) for one in carries if one != (0, True)]
    rows = [row for row in rows if row != ZERO] or [ZERO]
    if len(rows) == 1:
        rows.append(ZERO)
    last = len(rows) - 2
    written = [one for one in out if one != b.predicate("_")]
    total = rows[0]
    for k, row in enumerate(rows[1:]):
        if k == last and not written:
            b.emit(Micro.add, dst=to, a=total, b=row, mask=WORD)
        else:
            total = b.op(Micro.add, total, row, mask=-1)
    if written:
        if to != SINK:
            b.emit(Micro.bit_and, dst=to, a=total, b=b.constant(WORD))
        _carries(b, total, out)


def multiply_add(b: SassBuilder) -> None:
    """IMAD and UIMAD with all their forms; those that move, shift or add have names of their own."""
    if b.has("MOV"):
        return b.emit(Micro.copy, dst=b.to(b.operand(0)), a=b.word(b.operand(3)))
    if b.has("WIDE"):
        return _multiply_wide(b)
    if b.has("HI"):
        return _multiply_high(b)
    to, (first, second) = b.to(b.operand(0)), (b.word(b.operand(1)), b.word(b.operand(2)))
    third = _addend(b, 3, True) if b.has("X") else b.word(b.operand(3))
    if b.has("X"):
        third = b.op(Micro.add, third, _carry_in(b, b.source_predicate(b.operand(4))), mask=WORD)
    elif len(b.operands) > 4:
        raise b.unknown()
    if third == ZERO:
        b.emit(Micro.multiply, dst=to, a=first, b=second, mask=WORD)
    else:
        b.emit(Micro.multiply_add, dst=to, a=first, b=second, c=third, mask=WORD)


def _signed(b: SassBuilder) -> bool:
    return not b.has("U32")


def _multiply_wide(b: SassBuilder) -> None:
    out, first = _leading_predicates(b, 1)
    left, right = b.word(b.operand(first)), b.word(b.operand(first + 1))
    added = b.wide(b.operand(first + 2))
    third = b.operand(first + 2)
    if isinstance(third, Reg) and (third.negative or third.inverted):
        added = b.op(Micro.bit_not, added, mask=-1) if third.inverted else b.op(Micro.subtract, ZERO, added)
    micro = Micro.multiply_add_signed if _signed(b) else Micro.multiply_add
    total = b.op(micro, left, right, c=added, shift=32)
    carries = _trailing_predicates(b, first + 3)
    over = b.temp_predicate()
    if out:
        b.set_predicate(over, Micro.less, total, added, shift=0)
    if carries:
        before, total = total, b.op(Micro.add, total, _carry_in(b, carries[0]))
        if out:
            second = b.temp_predicate()
            b.set_predicate(second, Micro.less, total, before, shift=0)
            b.emit(Micro.predicate, dst=over, a=over, b=second, x=EITHER)
    b.split(b.operand(0), total)
    if out:
        b.emit(Micro.predicate, dst=out[0], a=over, b=over, x=0b1000)


def _multiply_high(b: SassBuilder) -> None:
    """The upper 32 bits of a product and a sum of 64 bits."""
    out, first = _leading_predicates(b, 1)
    if b.has("X"):
        raise b.unknown()
    left, right = b.word(b.operand(first)), b.word(b.operand(first + 1))
    added = b.wide(b.operand(first + 2))
    micro = Micro.multiply_add_signed if _signed(b) else Micro.multiply_add
    total = b.op(micro, left, right, c=added, shift=32)
    over = b.temp_predicate()
    if out:
        b.set_predicate(over, Micro.less, total, added, shift=0)
    b.emit(Micro.shift_right, dst=b.to(b.operand(0)), a=total, b=b.constant(32), x=64)
    if out:
        b.emit(Micro.predicate, dst=out[0], a=over, b=over, x=0b1000)


def lookup(b: SassBuilder) -> None:
    """LOP3 and ULOP3: any function of three words, and whether its result is not 0."""
    out, first = _leading_predicates(b, 0)
    to = b.to(b.operand(first))
    rows = [b.word(b.operand(first + k)) for k in range(1, 4)]
    table = b.operand(first + 4)
    if not isinstance(table, Imm):
        raise b.unknown()
    what = table.value & 0xFF
    join, inverted = b.source_predicate(b.operand(first + 5)) if len(b.operands) > first + 5 else (0, True)
    if (join, inverted) != (0, True) and out:
        raise b.unknown()
    target = to if to != SINK else b.temp()
    _emit_lookup(b, target, rows, what)
    if out and out[0] != b.predicate("_"):
        b.set_predicate(out[0], Micro.unequal, target, ZERO)


_TWO = {0b1000: Micro.bit_and, 0b1110: Micro.bit_or, 0b0110: Micro.bit_xor}


def _emit_lookup(b: SassBuilder, to: int, rows: list[int], table: int) -> None:
    """A function by its table; functions of fewer words as such."""
    if table == 0:
        return b.emit(Micro.copy, dst=to, a=ZERO)
    used = [k for k in range(3) if _depends(table, k)]
    zeros = [k for k in used if rows[k] == ZERO]
    for k in zeros:
        table = _with_zero(table, k)
    used = [k for k in range(3) if _depends(table, k)]
    if not used:
        return b.emit(Micro.copy, dst=to, a=b.constant(WORD if table & 1 else 0))
    if len(used) == 1:
        row = rows[used[0]]
        is_same = bool(table >> (4 >> used[0]) & 1)
        return b.emit(Micro.copy, dst=to, a=row) if is_same else b.emit(Micro.bit_not, dst=to, a=row, mask=WORD)
    if len(used) == 2:
        inputs = [4 >> k for k in used]
        small = sum((table >> (x * inputs[0] | y * inputs[1]) & 1) << (2 * x + y) for x in (0, 1) for y in (0, 1))
        if small in _TWO:
            return b.emit(_TWO[small], dst=to, a=rows[used[0]], b=rows[used[1]])
    b.emit(Micro.lookup, dst=to, a=rows[0], b=rows[1], c=rows[2], x=table)


def _depends(table: int, k: int) -> bool:
    """Whether a function of three words depends on one of them."""
    return any((table >> at & 1) != (table >> (at ^ 4 >> k) & 1) for at in range(8))


def _with_zero(table: int, k: int) -> int:
    """The function where one of its words is 0."""
    return sum((table >> (at & ~(4 >> k)) & 1) << at for at in range(8))


def shift(b: SassBuilder) -> None:
    """SHF and USHF: 64 bits of two registers shifted, of which the upper or the lower word is kept."""
    to, low, amount, high = (b.to(b.operand(0)), *(b.word(b.operand(k)) for k in (1, 2, 3)))
    left, wraps, keeps_high = b.has("L"), b.has("W"), b.has("HI")
    is_wide, signed = b.has("U64", "S64"), b.has("S32", "S64")
    constant = b.operand(2)
    if isinstance(constant, Imm):
        most = 63 if is_wide else 31
        value = constant.value & most if wraps else min(constant.value & WORD, 64)
        amount = b.constant(value)
    elif wraps:
        amount = b.op(Micro.bit_and, amount, b.constant(63 if is_wide else 31))
    if keeps_high and not left and not is_wide and not wraps:  # the lower word has no part in it
        micro = Micro.shift_right_signed if signed else Micro.shift_right
        return b.emit(micro, dst=to, a=high, b=amount, x=32, shift=32, mask=WORD)
    if left and not keeps_high:
        return b.emit(Micro.shift_left, dst=to, a=low, b=amount, x=32 if not is_wide else 64, mask=WORD)
    both = b.op(Micro.pair, low, high) if high != ZERO else low
    if not wraps and not is_wide:
        amount = b.op(Micro.minimum, amount, b.constant(32))
    if left:
        moved = b.op(Micro.shift_left, both, amount, x=64, mask=-1)
    else:
        moved = b.op(Micro.shift_right_signed if signed else Micro.shift_right, both, amount, x=64, shift=0, mask=-1)
    if keeps_high:
        b.emit(Micro.shift_right, dst=to, a=moved, b=b.constant(32), x=64)
    else:
        b.emit(Micro.bit_and, dst=to, a=moved, b=b.constant(WORD))


def load_effective_address(b: SassBuilder) -> None:
    """LEA and ULEA: (a << s) + b; .HI the upper word of a of 64 bits, .SX32 of a with its sign, .X with a carry."""
    to = b.to(b.operand(0))
    out, first = _leading_predicates(b, 1)
    carries: list[tuple[int, bool]] = []
    while len(b.operands) > first and b.is_predicate(len(b.operands) - 1):
        carries.insert(0, b.source_predicate(b.operands[-1]))
        b.operands = b.operands[:-1]
    low, amount = b.operand(first), b.operands[-1]
    if not isinstance(amount, Imm):
        raise b.unknown()
    added = _addend(b, first + 1, b.has("X"))
    if b.has("HI"):
        moved = _upper_shifted(b, first, amount.value)
    else:
        row = b.raw(low)
        moved = b.op(Micro.multiply, row, b.constant(1 << amount.value), mask=WORD) if amount.value else row
    if isinstance(low, Reg) and (low.negative or low.inverted):
        moved = (
            b.changed(moved, low)
            if b.has("X") or low.inverted
            else b.op(Micro.subtract, b.constant(1 << _CARRY_AT), moved)
        )
    total = b.op(Micro.add, moved, added) if added != ZERO else moved
    if b.has("X"):
        for one in carries[:1]:
            total = b.op(Micro.add, total, _carry_in(b, one))
    b.emit(Micro.bit_and, dst=to, a=total, b=b.constant(WORD))
    _carries(b, total, [one for one in out if one != b.predicate("_")])


def _upper_shifted(b: SassBuilder, first: int, amount: int) -> int:
    """The upper word of a number of 64 bits that is shifted to the left."""
    if b.has("SX32"):
        both_words = b.op(Micro.extend, b.raw(b.operand(first)), shift=32)
    else:
        both_words = b.op(Micro.pair, b.raw(b.operand(first)), b.raw(b.operand(first + 2)))
    moved = b.op(Micro.shift_left, both_words, b.constant(amount), x=64)
    return b.op(Micro.shift_right, moved, b.constant(32), x=64)


def extreme(b: SassBuilder) -> None:
    """IMNMX, VIMNMX and UIMNMX: the smaller where the predicate holds, else the larger; with .RELU none below 0."""
    if b.has("S64", "U64"):
        return _wide_extreme(b)
    to, signed = b.to(b.operand(0)), not b.has("U32")
    if b.is_predicate(1):  # of sm_100: two results more, which nothing else here has
        if any(one != Reg("P", -1) and one != Reg("UP", -1) for one in b.operands[1:3]):
            raise b.unknown()
        b.operands = (b.operands[0], *b.operands[3:])
    left, right = b.word(b.operand(1)), b.word(b.operand(2))
    if b.has("S16x2", "U16x2"):
        return _packed_extreme(b, left, right)
    least = b.op(Micro.minimum_signed if signed else Micro.minimum, left, right, shift=32)
    most = b.op(Micro.maximum_signed if signed else Micro.maximum, left, right, shift=32)
    if b.has("RELU"):
        least, most = (b.op(Micro.maximum_signed, row, ZERO, shift=32) for row in (least, most))
    b.select(b.operand(3), least, most, to)


def _wide_extreme(b: SassBuilder) -> None:
    """The same of numbers of 64 bits; predicates before the result, and the last one, are not known to be used."""
    _, first = _leading_predicates(b, 0)
    unused, used = b.operands[:first], b.operands[first:]
    absent_inputs = [Reg(file, -1, inverted=True) for file in ("P", "UP")]
    if any(one not in (Reg("P", -1), Reg("UP", -1)) for one in unused) or any(
        one not in absent_inputs for one in used[4:]
    ):
        raise b.unknown()
    b.operands = used
    left, right = b.signed_wide(b.operand(1)), b.signed_wide(b.operand(2))
    micros = (Micro.minimum_signed, Micro.maximum_signed) if b.has("S64") else (Micro.minimum, Micro.maximum)
    least, most = (b.op(micro, left, right, shift=0) for micro in micros)
    b.split(b.operand(0), b.select(b.operand(3), least, most))


def _packed_extreme(b: SassBuilder, left: int, right: int) -> None:
    """The same of each half of a word."""
    least, most = Integer.packed_minimum, Integer.packed_maximum
    if b.has("S16x2"):
        least, most = Integer.packed_minimum_signed, Integer.packed_maximum_signed
    rows = [b.op(Micro.integer, left, right, mask=WORD, shift=32, y=what) for what in (least, most)]
    b.select(b.operand(3), rows[0], rows[1], b.to(b.operand(0)))


def absolute(b: SassBuilder) -> None:
    """IABS."""
    _emit_separate(b, Integer.absolute, b.word(b.operand(1)))


def _emit_separate(b: SassBuilder, what: Integer, a: int, c: int = ZERO, d: int = ZERO, x: int = 0) -> None:
    b.emit(Micro.integer, dst=b.to(b.operand(0)), a=a, b=c, c=d, mask=WORD, shift=32, y=what, x=x)


_PERMUTE = {"F4E": 1, "B4E": 2, "RC8": 3, "ECL": 4, "ECR": 5, "RC16": 6}


def permute(b: SassBuilder) -> None:
    """PRMT and UPRMT: bytes of two registers by a selector, which stands between them."""
    mode = next((_PERMUTE[one] for one in b.one.modifiers if one in _PERMUTE), 0)
    left, by, right = (b.word(b.operand(k)) for k in (1, 2, 3))
    _emit_separate(b, Integer.permute, left, right, by, mode)


def count_bits(b: SassBuilder) -> None:
    """POPC and UPOPC."""
    _emit_separate(b, Integer.popcount, b.word(b.operand(1)))


def reverse(b: SassBuilder) -> None:
    """BREV and UBREV."""
    _emit_separate(b, Integer.reverse, b.word(b.operand(1)))


def find_leading(b: SassBuilder) -> None:
    """FLO and UFLO: the highest bit that is set, or differs from the sign; .SH: how far it is from the top."""
    _, first = _leading_predicates(b, 1)
    if first != 1 and b.operands[1] != Reg("P", -1) and b.operands[1] != Reg("UP", -1):
        raise b.unknown()
    signed = not b.has("U32")
    ops = (Integer.find, Integer.find_signed, Integer.find_shift, Integer.find_shift_signed)
    _emit_separate(b, ops[2 * b.has("SH") + signed], b.word(b.operand(first)))


def bit_mask(b: SassBuilder) -> None:
    """BMSK: so many bits from a place on; .W wraps both."""
    at, width = b.word(b.operand(1)), b.word(b.operand(2))
    if b.has("W"):
        at, width = (b.op(Micro.bit_and, row, b.constant(31)) for row in (at, width))
    _emit_separate(b, Integer.mask, at, width)


def extend_sign(b: SassBuilder) -> None:
    """SGXT: the lowest bits of a number, with their sign or, .U32, without."""
    to, value, width = b.to(b.operand(0)), b.word(b.operand(1)), b.word(b.operand(2))
    micro, most = (Micro.bit_and, 31) if b.has("W") else (Micro.minimum, 32)
    width = b.op(micro, width, b.constant(most))
    up = b.op(Micro.subtract, b.constant(32), width)
    moved = b.op(Micro.shift_left, value, up, x=32, mask=WORD)
    micro = Micro.shift_right if b.has("U32") else Micro.shift_right_signed
    in_range = b.op(micro, moved, up, x=32, shift=32, mask=WORD)
    is_none = b.temp_predicate()
    b.set_predicate(is_none, Micro.equal, width, ZERO)
    b.emit(Micro.select, dst=to, a=ZERO, b=in_range, x=is_none)


def choose(b: SassBuilder) -> None:
    """SEL and USEL; with .64 of two registers each."""
    if b.has("64"):
        return b.split(b.operand(0), b.select(b.operand(3), b.signed_wide(b.operand(1)), b.signed_wide(b.operand(2))))
    b.select(b.operand(3), b.word(b.operand(1)), b.word(b.operand(2)), b.to(b.operand(0)))


def dot(b: SassBuilder) -> None:
    """IDP: sums of products of four bytes, or of two bytes with two halves."""
    kinds = [one for one in b.one.modifiers if one in ("U8", "S8", "U16", "S16")]
    signs = sum((one[0] == "S") << k for k, one in enumerate(kinds))
    two = b.has("2A")
    how = signs + (4 if two and b.has("HI") else 0)
    left, right, added = (b.word(b.operand(k)) for k in (1, 2, 3))
    _emit_separate(b, Integer.dot_two if two else Integer.dot, left, right, added, how)


def difference(b: SassBuilder) -> None:
    """VABSDIFF: the difference without its sign, added to."""
    left, right, added = (b.word(b.operand(k)) for k in (1, 2, 3))
    _emit_separate(b, Integer.difference if b.has("U32") else Integer.difference_signed, left, right, added)


def packed_difference(b: SassBuilder) -> None:
    """VABSDIFF4: the differences of bytes without their signs; with .ACC their sum, added to."""
    how = int(b.has("S8")) + 2 + 4 * b.has("ACC")
    if not b.has("ACC") and b.operand(3) != Reg("R", -1):
        raise b.unknown()
    left, right, added = (b.word(b.operand(k)) for k in (1, 2, 3))
    _emit_separate(b, Integer.packed_difference, left, right, added, how)


def _differing(b: SassBuilder, to: int, value: int) -> None:
    """The lanes that have another value than the first active one."""
    leader = b.temp()
    b.emit(Micro.elect, dst=leader, b=b.constant(WORD), count=b.temp_predicate())
    first = b.op(Micro.shuffle, value, leader, c=b.constant(31), x=warp_collectives.INDEX, count=-1)
    b.emit(Micro.unequal, dst=to, a=value, b=first, shift=32, x=FIRST_ONLY, count=-1)


def to_uniform(b: SassBuilder) -> None:
    """R2UR: a register to a uniform one; a predicate gets the lanes that have another value than the first.

    Uniform registers hold a value for each lane here, so that no lane has another value. Without a register lanes are
    only compared.
    """
    out, first = _leading_predicates(b, 0)
    if out and b.operand(first) == Reg("UR", -1) and not b.has("OR"):
        return _differing(b, out[0], b.word(b.operand(first + 1)))
    b.emit(Micro.copy, dst=b.to(b.operand(first)), a=b.word(b.operand(first + 1)))
    if out and not b.has("OR"):
        b.emit(Micro.predicate, dst=out[0], a=0, b=0, x=0)


def add_two(b: SassBuilder) -> None:
    """VIADD, IADD: two summands; with .64 of two registers each."""
    if b.has("X") or len(b.operands) != 3:
        raise b.unknown()
    if b.has("64"):
        return b.split(b.operand(0), b.op(Micro.add, b.signed_wide(b.operand(1)), b.signed_wide(b.operand(2)), mask=-1))
    if b.has("16x2"):
        return _emit_separate(b, Integer.packed_add, b.raw(b.operand(1)), b.raw(b.operand(2)))
    b.emit(Micro.add, dst=b.to(b.operand(0)), a=b.word(b.operand(1)), b=b.word(b.operand(2)), mask=WORD)


def add_and_compare(b: SassBuilder) -> None:
    """VIADDMNMX: a sum, then the smaller or larger of it and a third number; with .RELU none below 0."""
    total = b.op(Micro.add, b.word(b.operand(1)), b.word(b.operand(2)), mask=WORD)
    _extreme_of(b, [total, b.word(b.operand(3))])


def extreme_of_three(b: SassBuilder) -> None:
    """VIMNMX3: the smallest or the largest of three."""
    _extreme_of(b, [b.word(b.operand(k)) for k in (1, 2, 3)])


def _extreme_of(b: SassBuilder, rows: list[int]) -> None:
    signed, found = not b.has("U32"), []
    for micro in (Micro.minimum_signed, Micro.maximum_signed) if signed else (Micro.minimum, Micro.maximum):
        row = rows[0]
        for other in rows[1:]:
            row = b.op(micro, row, other, shift=32)
        found.append(row)
    if b.has("RELU"):
        found = [b.op(Micro.maximum_signed, row, ZERO, shift=32) for row in found]
    b.select(b.operand(4), found[0], found[1], b.to(b.operand(0)))
