"""Integer instructions, moves and conversions among integers (PTX ISA 9.0, sections 9.7.1, 9.7.2, 9.7.8 and 9.7.9)."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import SINK, Builder, Lower, width_of
from memsim.sources.ptx.lowering.types import flags
from memsim.sources.ptx.machine import floats
from memsim.sources.ptx.machine.codes import Float, Integer, Micro, Type
from memsim.sources.ptx.module import Immediate, Instruction, Register, Vector

_PERMUTE = {"f4e": 1, "b4e": 2, "rc8": 3, "ecl": 4, "ecr": 5, "rc16": 6}


def mask_of(width: int) -> int:
    return (1 << width) - 1


def is_signed(kind: str) -> bool:
    return kind.startswith("s")


def destination(b: Builder, one: Instruction) -> int:
    """The row of the first operand."""
    operand = one.operands[0]
    if isinstance(operand, Vector):  # d|p
        operand = operand.elements[0]
    if not isinstance(operand, Register):
        raise b.error("has no register for its result")
    return b.row(operand.name)


def _operands(b: Builder, one: Instruction, *kinds: str) -> list[int]:
    if len(one.operands) < len(kinds) + 1:
        raise b.error(f"has {len(one.operands)} operands; it takes {len(kinds) + 1}")
    return [b.value(operand, kind) for operand, kind in zip(one.operands[1:], kinds, strict=False)]


def _plain(op: Micro, count: int = 2) -> Lower:
    """An operation on equal types, whose result is cut to the width."""

    def lower(b: Builder, one: Instruction) -> None:
        width = width_of(one.type)
        fields = dict(zip("abc", _operands(b, one, *[one.type] * count), strict=False))
        b.emit(op, dst=destination(b, one), mask=mask_of(width), shift=64 - width, x=width, **fields)

    return lower


def _lower_separate(op: Integer, count: int, signed: Integer | None = None) -> Lower:
    def lower(b: Builder, one: Instruction) -> None:
        width = width_of(one.type)
        which = signed if signed is not None and is_signed(one.type) else op
        fields = dict(zip("abc", _operands(b, one, *[one.type] * count), strict=False))
        b.emit(Micro.integer, dst=destination(b, one), mask=mask_of(width), shift=64 - width, y=which, **fields)

    return lower


def _add(b: Builder, one: Instruction) -> None:
    if one.has("cc"):
        return _carried(b, one)
    subtract = one.name == "sub"
    if one.has("sat"):
        op = Integer.saturated_subtract if subtract else Integer.saturated_add
        return _lower_separate(op, 2)(b, one)
    if one.type in ("u16x2", "s16x2"):
        if subtract:
            raise b.error("is not supported")
        return _lower_separate(Integer.packed_add, 2)(b, one)
    return _plain(Micro.subtract if subtract else Micro.add)(b, one)


def _carried(b: Builder, one: Instruction) -> None:
    """add.cc, addc, sub.cc, subc: the carry is a predicate of each lane."""
    left, right = _operands(b, one, one.type, one.type)
    _with_carry(b, one, left, right)


def _with_carry(b: Builder, one: Instruction, left: int, right: int) -> None:
    """The sum or difference of two rows with the carry."""
    width, to = width_of(one.type), destination(b, one)
    carry, sum_, other = b.predicate("#carry"), b.temporary(0), b.temporary(1)
    subtract = one.name in ("sub", "subc")
    op = Micro.subtract if subtract else Micro.add
    first = b.temporary(2)
    b.emit(Micro.copy, dst=first, a=left)
    b.emit(op, dst=sum_, a=left, b=right, mask=mask_of(width))
    over = b.temporary_predicate()
    smaller = (first, sum_) if subtract else (sum_, first)
    b.emit(Micro.less, dst=over, a=smaller[0], b=smaller[1], x=AND_ONLY, count=-1)
    if one.name in ("addc", "subc", "madc"):
        b.emit(Micro.select, dst=other, a=b.constant(1), b=b.constant(0), x=carry)
        b.emit(Micro.copy, dst=first, a=sum_)
        b.emit(op, dst=to, a=sum_, b=other, mask=mask_of(width))
        smaller = (first, to) if subtract else (to, first)
        if one.has("cc"):
            b.emit(Micro.less, dst=carry, a=smaller[0], b=smaller[1], c=over, x=OR_BOTH, count=-1)
    else:
        b.emit(Micro.copy, dst=to, a=sum_)
        b.emit(Micro.predicate, dst=carry, a=over, b=over, x=AND_ONLY)


AND_ONLY, OR_BOTH = 0b1100, 0b1110  # truth tables: the first of two predicates alone; either


def _multiply(b: Builder, one: Instruction) -> None:
    """mul, mad and madc: lo, hi, wide; 24 bits apart."""
    kind = one.type
    if one.name == "madc" or one.has("cc"):
        return _multiply_with_carry(b, one)
    width, signed, mad = width_of(kind), is_signed(kind), one.name == "mad"
    to, wide = destination(b, one), one.has("wide")
    out = 2 * width if wide else width
    left, right = _operands(b, one, kind, kind)
    more = {"c": b.value(one.operands[3], f"b{out}")} if mad else {}
    if one.has("hi"):
        target = b.temporary(0) if mad else to
        _high(b, target, left, right, width, signed)
        if mad and one.has("sat"):
            what = Integer.saturated_add
            b.emit(Micro.integer, dst=to, a=target, b=more["c"], mask=mask_of(32), shift=32, y=what)
        elif mad:
            b.emit(Micro.add, dst=to, a=target, b=more["c"], mask=mask_of(width))
        return
    ops = (Micro.multiply, Micro.multiply_signed, Micro.multiply_add, Micro.multiply_add_signed)
    b.emit(ops[2 * mad + (wide and signed)], dst=to, a=left, b=right, mask=mask_of(out), shift=64 - width, **more)


def _multiply_with_carry(b: Builder, one: Instruction) -> None:
    """mad.cc and madc: the low or high half of a product is added with the carry."""
    width = width_of(one.type)
    left, right, added = _operands(b, one, one.type, one.type, one.type)
    half = b.temporary(3)
    if one.has("hi"):
        _high(b, half, left, right, width, is_signed(one.type))
    else:
        b.emit(Micro.multiply, dst=half, a=left, b=right, mask=mask_of(width))
    _with_carry(b, one, half, added)


def _high(b: Builder, to: int, left: int, right: int, width: int, signed: bool) -> None:
    if width == 64:
        what = Integer.high_signed if signed else Integer.high
        b.emit(Micro.integer, dst=to, a=left, b=right, shift=0, y=what)
    elif signed:
        b.emit(Micro.shift_add, dst=to, a=left, b=right, x=width, shift=64 - width, mask=mask_of(width))
    else:  # a product of two 32-bit numbers may have its highest bit set: its shift must bring in zeros
        product = b.temporary(1)
        b.emit(Micro.multiply, dst=product, a=left, b=right)
        b.emit(Micro.shift_right, dst=to, a=product, b=b.constant(width), x=64)


def _multiply_24(b: Builder, one: Instruction) -> None:
    what = Integer.multiply_24_signed if is_signed(one.type) else Integer.multiply_24
    left, right = _operands(b, one, one.type, one.type)
    to = destination(b, one)
    mad = one.name == "mad24"
    target = b.temporary(0) if mad else to
    b.emit(Micro.integer, dst=target, a=left, b=right, mask=mask_of(32), shift=32, y=what, x=16 if one.has("hi") else 0)
    if mad:
        b.emit(Micro.add, dst=to, a=target, b=b.value(one.operands[3], one.type), mask=mask_of(32))


def _shift(b: Builder, one: Instruction) -> None:
    width = width_of(one.type)
    op = (
        Micro.shift_left
        if one.name == "shl"
        else Micro.shift_right_signed
        if is_signed(one.type)
        else Micro.shift_right
    )
    left, right = _operands(b, one, one.type, "u32")
    b.emit(op, dst=destination(b, one), a=left, b=right, mask=mask_of(width), shift=64 - width, x=width)


def _bits(op: Micro) -> Lower:
    """and, or, xor, not: also of predicates."""
    table = {Micro.bit_and: 0b1000, Micro.bit_or: 0b1110, Micro.bit_xor: 0b0110, Micro.bit_not: 0b0011}[op]

    def lower(b: Builder, one: Instruction) -> None:
        if one.type == "pred":
            left, right = [*one.operands[1:], one.operands[1]][:2]
            first, second = condition(b, left), condition(b, right)
            b.emit(Micro.predicate, dst=predicate_result(b, one), a=first, b=second, x=table)
        else:
            _plain(op, 1 if op == Micro.bit_not else 2)(b, one)

    return lower


def predicate_result(b: Builder, one: Instruction) -> int:
    operand = one.operands[0]
    if not isinstance(operand, Register):
        raise b.error("has no predicate for its result")
    return b.predicate(operand.name)


def condition(b: Builder, operand: object) -> int:
    """The number of a predicate operand: a register, its complement, or a constant."""
    if isinstance(operand, Register):
        return b.predicate(operand.name)
    if isinstance(operand, Immediate):
        return b.predicate("#true" if operand.value & 1 else "#false")
    register = getattr(operand, "register", None)
    if register is None:
        raise b.error("has an operand that is no predicate")
    to = b.temporary_predicate()
    b.emit(Micro.predicate, dst=to, a=b.predicate(register.name), b=b.predicate(register.name), x=0b0011, guard=-1)
    return to


def _extreme(b: Builder, one: Instruction) -> None:
    packed = one.type in ("u16x2", "s16x2")
    least, signed = one.name == "min", is_signed(one.type)
    if packed:
        ops = (
            Integer.packed_maximum,
            Integer.packed_maximum_signed,
            Integer.packed_minimum,
            Integer.packed_minimum_signed,
        )
        return _lower_separate(ops[2 * least + signed], 2)(b, one)
    plain = (Micro.maximum, Micro.maximum_signed, Micro.minimum, Micro.minimum_signed)
    return _plain(plain[2 * least + signed])(b, one)


def _negate(b: Builder, one: Instruction) -> None:
    width = width_of(one.type)
    (value,) = _operands(b, one, one.type)
    b.emit(Micro.subtract, dst=destination(b, one), a=b.constant(0), b=value, mask=mask_of(width))


def _logic_not(b: Builder, one: Instruction) -> None:
    """cnot: whether the value is 0."""
    (value,) = _operands(b, one, one.type)
    is_zero = b.temporary_predicate()
    b.emit(Micro.equal, dst=is_zero, a=value, b=b.constant(0), x=AND_ONLY, count=-1)
    b.emit(Micro.select, dst=destination(b, one), a=b.constant(1), b=b.constant(0), x=is_zero)


def _extract(b: Builder, one: Instruction) -> None:
    """bfe; with constant places, as compilers write it, two shifts."""
    width, signed = width_of(one.type), is_signed(one.type)
    at, length = one.operands[2], one.operands[3]
    if (
        isinstance(at, Immediate)
        and isinstance(length, Immediate)
        and 0 < at.value + length.value <= width
        and length.value
    ):
        value, to = b.value(one.operands[1], one.type), destination(b, one)
        up, down = width - at.value - length.value, width - length.value
        shifted = b.temporary(0)
        b.emit(Micro.shift_left, dst=shifted, a=value, b=b.constant(up), mask=mask_of(width), x=width)
        op = Micro.shift_right_signed if signed else Micro.shift_right
        b.emit(op, dst=to, a=shifted, b=b.constant(down), mask=mask_of(width), shift=64 - width, x=width)
        return
    fields = dict(zip("abc", _operands(b, one, one.type, "u32", "u32"), strict=True))
    what = Integer.extract_signed if signed else Integer.extract
    b.emit(Micro.integer, dst=destination(b, one), mask=mask_of(width), shift=64 - width, y=what, **fields)


def _insert(b: Builder, one: Instruction) -> None:
    """bfi: bits of a at a place in b."""
    width = width_of(one.type)
    value, into, at, length = _operands(b, one, one.type, one.type, "u32", "u32")
    mask, shifted, remaining = b.temporary(0), b.temporary(1), b.temporary(2)
    size = b.temporary(3)
    b.emit(Micro.shift_left, dst=size, a=b.constant(1), b=length, mask=-1, x=64)
    b.emit(Micro.subtract, dst=mask, a=size, b=b.constant(1), mask=mask_of(width))
    b.emit(Micro.shift_left, dst=mask, a=mask, b=at, mask=mask_of(width), x=width)
    b.emit(Micro.shift_left, dst=shifted, a=value, b=at, mask=mask_of(width), x=width)
    b.emit(Micro.bit_and, dst=shifted, a=shifted, b=mask)
    b.emit(Micro.bit_not, dst=mask, a=mask, mask=mask_of(width))
    b.emit(Micro.bit_and, dst=remaining, a=into, b=mask)
    b.emit(Micro.bit_or, dst=destination(b, one), a=remaining, b=shifted)


def _find(b: Builder, one: Instruction) -> None:
    width, signed = width_of(one.type), is_signed(one.type)
    ops = (Integer.find, Integer.find_signed, Integer.find_shift, Integer.find_shift_signed)
    (value,) = _operands(b, one, one.type)
    what = ops[2 * one.has("shiftamt") + signed]
    b.emit(Micro.integer, dst=destination(b, one), a=value, mask=mask_of(32), shift=64 - width, y=what)


def _mask(b: Builder, one: Instruction) -> None:
    """bmsk: so many bits from a place on."""
    at, length = _operands(b, one, "u32", "u32")
    if one.has("wrap"):
        at, length = (_wrapped(b, row, k) for k, row in enumerate((at, length)))
    b.emit(Micro.integer, dst=destination(b, one), a=at, b=length, mask=mask_of(32), shift=32, y=Integer.mask)


def _wrapped(b: Builder, row: int, k: int) -> int:
    cut = b.temporary(k)
    b.emit(Micro.bit_and, dst=cut, a=row, b=b.constant(31))
    return cut


def _extend(b: Builder, one: Instruction) -> None:
    """szext: so many of the lowest bits, with their sign or without."""
    value, length = _operands(b, one, one.type, "u32")
    if one.has("wrap"):
        cut = _wrapped(b, length, 0)
    else:
        cut = b.temporary(0)
        b.emit(Micro.minimum, dst=cut, a=length, b=b.constant(32))
    what = Integer.extract_signed if is_signed(one.type) else Integer.extract
    to = destination(b, one)
    b.emit(Micro.integer, dst=to, a=value, b=b.constant(0), c=cut, mask=mask_of(32), shift=32, y=what)


def _permute(b: Builder, one: Instruction) -> None:
    fields = dict(zip("abc", _operands(b, one, "b32", "b32", "b32"), strict=True))
    mode = next((_PERMUTE[part] for part in one.opcode if part in _PERMUTE), 0)
    b.emit(Micro.integer, dst=destination(b, one), mask=mask_of(32), shift=32, y=Integer.permute, x=mode, **fields)


def _funnel(b: Builder, one: Instruction) -> None:
    fields = dict(zip("abc", _operands(b, one, "b32", "b32", "u32"), strict=True))
    what = Integer.funnel_left if one.has("l") else Integer.funnel_right
    clamp = int(one.has("clamp"))
    b.emit(Micro.integer, dst=destination(b, one), mask=mask_of(32), shift=32, y=what, x=clamp, **fields)


def _lookup(b: Builder, one: Instruction) -> None:
    fields = dict(zip("abc", _operands(b, one, "b32", "b32", "b32"), strict=True))
    table = one.operands[4]
    if not isinstance(table, Immediate):
        raise b.error("needs a constant table")
    b.emit(Micro.lookup, dst=destination(b, one), x=table.value, **fields)


def _dot(b: Builder, one: Instruction) -> None:
    fields = dict(zip("abc", _operands(b, one, "b32", "b32", "b32"), strict=True))
    signs = is_signed(one.opcode[-2]) + 2 * is_signed(one.opcode[-1])
    two = one.opcode[0] == "dp2a"
    how = signs + (4 if two and one.opcode[1] == "hi" else 0)
    what = Integer.dot_two if two else Integer.dot
    b.emit(Micro.integer, dst=destination(b, one), mask=mask_of(32), shift=32, y=what, x=how, **fields)


def _find_nth(b: Builder, one: Instruction) -> None:
    fields = dict(zip("abc", _operands(b, one, "b32", "b32", "b32"), strict=True))
    b.emit(Micro.integer, dst=destination(b, one), mask=mask_of(32), shift=32, y=Integer.find_nth, **fields)


def _packed_difference(b: Builder, one: Instruction) -> None:
    """vabsdiff2 and vabsdiff4 as compilers write them: whole words, without saturation."""
    fields = dict(zip("abc", _operands(b, one, "b32", "b32", "b32"), strict=True))
    kinds = [part for part in one.opcode[1:] if part in ("u32", "s32")]
    if one.has("sat") or len(set(kinds[1:])) != 1 or any(isinstance(operand, Vector) for operand in one.operands):
        raise b.error("is not supported in this form")
    how = is_signed(kinds[-1]) + 2 * (one.name == "vabsdiff4") + 4 * one.has("add")
    b.emit(
        Micro.integer, dst=destination(b, one), mask=mask_of(32), shift=32, y=Integer.packed_difference, x=how, **fields
    )


def _move(b: Builder, one: Instruction) -> None:
    """mov: registers, constants, addresses of variables; packing and unpacking; predicates."""
    to, source = one.operands[0], one.operands[1]
    if one.type == "pred":
        number = condition(b, source)
        b.emit(Micro.predicate, dst=predicate_result(b, one), a=number, b=number, x=0b1000)
    elif isinstance(to, Vector):
        _unpack(b, one, to, source)
    elif isinstance(source, Vector):
        _pack(b, one, source)
    elif isinstance(source, Register) and source.name in ("%clock", "%clock64", "%globaltimer", "%globaltimer_lo"):
        b.emit(Micro.clock, dst=destination(b, one))
    else:
        b.emit(Micro.copy, dst=destination(b, one), a=b.value(source, one.type), mask=mask_of(width_of(one.type)))


def _unpack(b: Builder, one: Instruction, to: Vector, source: object) -> None:
    part = width_of(one.type) // len(to.elements)
    value = b.temporary(4)
    b.emit(Micro.copy, dst=value, a=b.value(source, one.type))  # type: ignore[arg-type]
    for i, register in enumerate(to.elements):
        assert isinstance(register, Register)
        row = b.row(register.name)
        if row != SINK:
            shifted = b.temporary(5)
            b.emit(Micro.shift_right, dst=shifted, a=value, b=b.constant(i * part), x=64)
            b.emit(Micro.bit_and, dst=row, a=shifted, b=b.constant(mask_of(part)))


def _pack(b: Builder, one: Instruction, source: Vector) -> None:
    part = width_of(one.type) // len(source.elements)
    packed, shifted = b.temporary(4), b.temporary(5)
    b.emit(Micro.copy, dst=packed, a=b.value(source.elements[0], f"b{part}"))
    for i, value in enumerate(source.elements[1:], 1):
        b.emit(Micro.shift_left, dst=shifted, a=b.value(value, f"b{part}"), b=b.constant(i * part), x=64)
        b.emit(Micro.bit_or, dst=packed, a=packed, b=shifted)
    b.emit(Micro.copy, dst=destination(b, one), a=packed)


def convert_integers(b: Builder, one: Instruction) -> None:
    """cvt between integer types: cut, extended, or with .sat clamped; the result fills its register."""
    to, of = one.opcode[-2], one.opcode[-1]
    out, width = width_of(to), width_of(of)
    result = one.operands[0]
    full = width_of(b.types[result.name]) if isinstance(result, Register) and result.name in b.types else out
    source, row = b.value(one.operands[1], of), destination(b, one)
    if one.has("sat"):
        source = _clamp(b, source, to, of)
        width = max(width, out)
    if is_signed(of) and out > width:
        b.emit(Micro.extend, dst=row, a=source, shift=64 - width, mask=mask_of(full if is_signed(to) else out))
    elif is_signed(to) and out < full:
        b.emit(Micro.extend, dst=row, a=source, shift=64 - out, mask=mask_of(full))
    elif out < width:
        b.emit(Micro.bit_and, dst=row, a=source, b=b.constant(mask_of(out)))
    else:
        b.emit(Micro.copy, dst=row, a=source)


def _clamp(b: Builder, source: int, to: str, of: str) -> int:
    """A value brought into the range of a type; it is 64 bits wide from then on."""
    width, out = width_of(of), width_of(to)
    wide, clamped = b.temporary(0), b.temporary(1)
    op = Micro.extend if is_signed(of) else Micro.copy
    b.emit(op, dst=wide, a=source, shift=64 - width)
    low, high = (-(1 << (out - 1)), mask_of(out - 1)) if is_signed(to) else (0, mask_of(out))
    if is_signed(of):
        b.emit(Micro.maximum_signed, dst=clamped, a=wide, b=b.constant(low))
        b.emit(Micro.minimum_signed, dst=wide, a=clamped, b=b.constant(min(high, (1 << 63) - 1)))
    else:
        b.emit(Micro.minimum, dst=clamped, a=wide, b=b.constant(high))
        b.emit(Micro.copy, dst=wide, a=clamped)
    b.emit(Micro.bit_and, dst=clamped, a=wide, b=b.constant(mask_of(out)))
    return clamped


def _select(b: Builder, one: Instruction) -> None:
    left, right = _operands(b, one, one.type, one.type)
    b.emit(Micro.select, dst=destination(b, one), a=left, b=right, x=condition(b, one.operands[3]))


def _select_by_sign(b: Builder, one: Instruction) -> None:
    """slct: a where c is not negative, else b."""
    kind, by = one.opcode[-2], one.opcode[-1]
    left, right, chooser = _operands(b, one, kind, kind, by)
    negative = b.temporary_predicate()
    if by == "f32":  # -0 is not negative, and a NaN chooses b
        fields = {"x": int(Type.f32), "y": Float.compare, "list": floats.LT + floats.UNORDERED, "mask": flags(one)}
        b.emit(Micro.floating, dst=negative, a=chooser, b=b.constant(0), count=AND_ONLY, **fields)
        return b.emit(Micro.select, dst=destination(b, one), a=right, b=left, x=negative)
    b.emit(Micro.less_signed, dst=negative, a=chooser, b=b.constant(0), shift=64 - width_of(by), x=AND_ONLY, count=-1)
    b.emit(Micro.select, dst=destination(b, one), a=right, b=left, x=negative)


INTEGERS: dict[str, Lower] = {
    "add": _add,
    "sub": _add,
    "addc": _carried,
    "subc": _carried,
    "mul": _multiply,
    "mad": _multiply,
    "madc": _multiply,
    "mul24": _multiply_24,
    "mad24": _multiply_24,
    "div": _lower_separate(Integer.divide, 2, Integer.divide_signed),
    "rem": _lower_separate(Integer.remainder, 2, Integer.remainder_signed),
    "and": _bits(Micro.bit_and),
    "or": _bits(Micro.bit_or),
    "xor": _bits(Micro.bit_xor),
    "not": _bits(Micro.bit_not),
    "cnot": _logic_not,
    "shl": _shift,
    "shr": _shift,
    "min": _extreme,
    "max": _extreme,
    "neg": _negate,
    "abs": _lower_separate(Integer.absolute, 1),
    "popc": _lower_separate(Integer.popcount, 1),
    "clz": _lower_separate(Integer.leading_zeros, 1),
    "brev": _lower_separate(Integer.reverse, 1),
    "sad": _lower_separate(Integer.difference, 3, Integer.difference_signed),
    "bmsk": _mask,
    "szext": _extend,
    "bfe": _extract,
    "bfi": _insert,
    "bfind": _find,
    "prmt": _permute,
    "shf": _funnel,
    "lop3": _lookup,
    "dp4a": _dot,
    "dp2a": _dot,
    "fns": _find_nth,
    "vabsdiff2": _packed_difference,
    "vabsdiff4": _packed_difference,
    "mov": _move,
    "selp": _select,
    "slct": _select_by_sign,
}
