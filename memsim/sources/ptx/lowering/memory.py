"""Loads, stores, atomics and addresses (PTX ISA 9.0, sections 9.7.9 and 9.7.13)."""

from __future__ import annotations

from memsim.sources.ptx.effects import effects, space_of
from memsim.sources.ptx.lowering.builder import SINK, ZERO, Builder, Lower, width_of
from memsim.sources.ptx.lowering.integers import AND_ONLY, destination, is_signed, mask_of
from memsim.sources.ptx.lowering.types import FLOATS, number_type
from memsim.sources.ptx.machine import access, atomics, copies
from memsim.sources.ptx.machine.codes import LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW, Micro, Type
from memsim.sources.ptx.module import Address, Immediate, Instruction, Operand, Register, Symbol, Vector

WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAMETER_WINDOW}
_ATOMICS = {
    "add": atomics.ADD, "min": atomics.MINIMUM, "max": atomics.MAXIMUM, "and": atomics.AND, "or": atomics.OR,
    "xor": atomics.XOR, "exch": atomics.EXCHANGE, "cas": atomics.SWAP, "inc": atomics.INCREMENT,
    "dec": atomics.DECREMENT,
}  # fmt: skip


def address_of(b: Builder, operand: Operand, space: str) -> tuple[int, int]:
    """The row of an address's base, and what is added to it: its offset, and where its window lies."""
    if not isinstance(operand, Address):
        raise b.error("has no address where one must be")
    added = operand.offset + WINDOWS.get(space, 0)
    if isinstance(operand.base, Register):
        return b.row(operand.base.name), added
    if isinstance(operand.base, Symbol):
        return ZERO, b.symbol(operand.base) + added
    return ZERO, operand.base.value + added


def elements(b: Builder, one: Instruction, operand: Operand, kind: str) -> list[int]:
    """The rows of what is loaded or stored."""
    listed = operand.elements if isinstance(operand, Vector) else (operand,)
    count = next((int(part[1:]) for part in one.opcode if part in ("v2", "v4", "v8")), 1)
    if len(listed) != count:
        raise b.error(f"has {len(listed)} elements; it takes {count}")
    return [b.row(part.name) if isinstance(part, Register) else b.value(part, kind) for part in listed]


def _logged(space: str) -> int:
    """How an access to a space is logged: parameters' never, constants' where they have lanes, others' always."""
    if space == "param":
        return 0
    return access.LOGGED if space == "const" else access.LOGGED | access.LOAD_STORE


def _check(b: Builder, one: Instruction, kind: str) -> int:
    width = width_of(kind)
    if width not in (8, 16, 32, 64):
        raise b.error(f"has elements of {width} bits, which memsim does not support")
    return width


def _load(b: Builder, one: Instruction, values: bool) -> None:
    kind, space = one.type, space_of(one)
    width = _check(b, one, kind)
    base, added = address_of(b, one.operands[1], space)
    rows = elements(b, one, one.operands[0], kind)
    first = one.operands[0].elements[0] if isinstance(one.operands[0], Vector) else one.operands[0]
    full = width_of(b.types[first.name]) if isinstance(first, Register) and first.name in b.types else width
    bits = access.VALUES * values | access.SIGNED * is_signed(kind) | _logged(space)
    if space != "param":
        bits |= access.WAITED
    if one.has("acquire") or one.has("volatile") and space == "global":
        bits |= access.POLLS
    b.emit(
        Micro.load, a=base, x=added, y=bits, mask=width // 8, shift=64 - width, c=mask_of(full), list=b.listed(rows),
        count=len(rows),
    )  # fmt: skip


def _store(b: Builder, one: Instruction, values: bool) -> None:
    space = space_of(one)
    width = _check(b, one, one.type)
    base, added = address_of(b, one.operands[0], space)
    rows = elements(b, one, one.operands[1], one.type) if values else [SINK] * _count(one)
    bits = access.VALUES * values | _logged(space)
    b.emit(Micro.store, a=base, x=added, y=bits, mask=width // 8, list=b.listed(rows), count=len(rows))


def _count(one: Instruction) -> int:
    return next((int(part[1:]) for part in one.opcode if part in ("v2", "v4", "v8")), 1)


def answers(one: Instruction, read: set[str]) -> bool:
    """Whether an atomic gives its old value: one that nobody reads becomes RED, but for exch and cas."""
    if one.name != "atom":
        return False
    return one.has("exch", "cas") or any(name in read for name in effects(one).writes)


def _atomic(b: Builder, one: Instruction, values: bool) -> None:
    """atom and red; an atom whose result nobody reads brings nothing that could be waited for."""
    kind, space, returns = one.type, space_of(one), one.name == "atom"
    operands = one.operands[1:] if returns else one.operands
    name = next((part for part in one.opcode[1:] if part in _ATOMICS), None)
    if name is None or one.has("v2", "v4", "v8") or width_of(kind) > 64:
        raise b.error("is an atomic that memsim does not support")
    base, added = address_of(b, operands[0], space)
    width = width_of(kind)
    swap = {"c": b.value(operands[2], kind)} if name == "cas" else {}
    integer = Type.signed if is_signed(kind) else Type.unsigned
    number = number_type(b, kind) if kind in FLOATS else int(integer)
    bits = access.VALUES * values | _logged(space) | access.WAITED * answers(one, b.read)
    to = destination(b, one) if returns else SINK
    value = b.value(operands[1], kind)
    b.emit(
        Micro.atomic, dst=to, a=base, b=value, x=added, y=bits, mask=width // 8, shift=64 - width, list=_ATOMICS[name],
        count=number, **swap,
    )  # fmt: skip


def _to_generic(b: Builder, one: Instruction) -> None:
    """cvta: an address of a space as a generic one, or back."""
    space = next((part.split("::")[0] for part in one.opcode if part.split("::")[0] in WINDOWS), "")
    source, to = b.value(one.operands[1], one.type), destination(b, one)
    if not space:
        return b.emit(Micro.copy, dst=to, a=source)
    op = Micro.subtract if one.has("to") else Micro.add
    b.emit(op, dst=to, a=source, b=b.constant(WINDOWS[space]), mask=-1)


def _is_space(b: Builder, one: Instruction) -> None:
    """isspacep: whether a generic address lies in a space."""
    space = one.opcode[1].split("::")[0]
    value = b.value(one.operands[1], "u64")
    to = b.predicate(one.operands[0].name)  # type: ignore[union-attr]
    high = b.temporary(0)
    window = WINDOWS.get(space, 0)
    b.emit(Micro.shift_right, dst=high, a=value, b=b.constant(58), x=64)
    if space == "param":
        b.emit(Micro.shift_right, dst=high, a=value, b=b.constant(59), x=64)
    b.emit(Micro.equal, dst=to, a=high, b=b.constant(window >> (59 if space == "param" else 58)), x=AND_ONLY, count=-1)


def _emit_none(b: Builder, one: Instruction) -> None:
    """Hints, fences and what has no effect on one block's values."""


def _matrix(b: Builder, one: Instruction, values: bool) -> None:
    """ldmatrix and stmatrix of 8 x 8 elements of 16 bits."""
    stores = one.name == "stmatrix"
    operand, listed = (one.operands[0], one.operands[1]) if stores else (one.operands[1], one.operands[0])
    if not one.has("m8n8") or one.type != "b16" or not isinstance(listed, Vector):
        raise b.error("moves matrices in a way that memsim does not support")
    space = space_of(one)
    base, added = address_of(b, operand, space)
    rows = [b.value(part, "b32") for part in listed.elements] if values or not stores else [SINK] * len(listed.elements)
    bits = access.VALUES * values | _logged(space) | access.WAITED * (not stores)
    op = Micro.matrix_store if stores else Micro.matrix_load
    fields = {"mask": int(one.has("trans")), "list": b.listed(rows), "count": len(rows)}
    b.emit(op, a=base, x=added, y=bits, **fields)


def _copy(b: Builder, one: Instruction, values: bool) -> None:
    """cp.async: 4, 8 or 16 bytes per lane, commits and waits."""
    if one.has("commit_group"):
        return b.emit(Micro.commit)
    if one.has("wait_group", "wait_all"):
        number = one.operands[0] if one.operands else None
        return b.emit(Micro.wait_group, x=number.value if isinstance(number, Immediate) else copies.ALL)
    if one.opcode[1:2] != ("async",) or one.has("bulk", "mbarrier") or len(one.operands) < 3:
        raise b.error("is a copy that memsim does not support")
    target, to_added = address_of(b, one.operands[0], "shared")
    source, added = address_of(b, one.operands[1], "global")
    width = one.operands[2]
    if not isinstance(width, Immediate) or width.value not in (4, 8, 16):
        raise b.error("copies another number of bytes than 4, 8 or 16")
    bits, size = access.VALUES * values | access.LOAD_STORE, ZERO
    if len(one.operands) > 3:
        size = b.value(one.operands[3], "u32")
        bits |= copies.SIZED
    b.emit(Micro.copy_async, a=source, x=added, b=target, list=to_added, c=size, mask=width.value, y=bits)


def _policy(b: Builder, one: Instruction) -> None:
    """createpolicy: what it makes is a hint for L2, of which only accesses read the bits."""
    b.emit(Micro.copy, dst=destination(b, one), a=b.constant(0))


LOADS = {"ld": _load, "ldu": _load, "ldmatrix": _matrix}
STORES = {"st": _store, "stmatrix": _matrix, "cp": _copy}
ATOMICS = {"atom": _atomic, "red": _atomic}
ADDRESSES: dict[str, Lower] = {"cvta": _to_generic, "isspacep": _is_space, "createpolicy": _policy}
WITHOUT_EFFECT: dict[str, Lower] = dict.fromkeys(
    [
        "prefetch",
        "prefetchu",
        "membar",
        "fence",
        "nanosleep",
        "applypriority",
        "discard",
        "griddepcontrol",
        "setmaxnreg",
        "pmevent",
    ],
    _emit_none,
)
