"""Loads, stores, atomics, copies and constants."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import SINK, TRUE, ZERO
from memsim.sources.ptx.machine import access, atomics, copies
from memsim.sources.ptx.machine.codes import LOCAL_WINDOW, SHARED_WINDOW, Micro, Type
from memsim.sources.sass.builder import BANK_WINDOWS, BOTH, WORD, SassBuilder
from memsim.sources.sass.constants import ADDRESSES_BANK, addresses, functions_called
from memsim.sources.sass.lowering.mbarriers import arrive, note_tested
from memsim.sources.sass.operands import Bank, Imm, Mem, Reg, SassOperand

_WINDOWS = {
    "LDS": SHARED_WINDOW,
    "STS": SHARED_WINDOW,
    "ATOMS": SHARED_WINDOW,
    "LDL": LOCAL_WINDOW,
    "STL": LOCAL_WINDOW,
}
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}


def width_of(modifiers: tuple[str, ...]) -> int:
    """Bytes that a lane accesses.

    >>> width_of(("E", "128", "CONSTANT")), width_of(("E",))
    (16, 4)
    """
    return next((_WIDTHS[one] for one in modifiers if one in _WIDTHS), 4)


def _is_polling(b: SassBuilder) -> bool:
    return b.has("STRONG") and b.has("GPU", "SYS") and b.one.name in ("LD", "LDG")


def _check_descriptor(b: SassBuilder, operand: SassOperand) -> None:
    if isinstance(operand, Mem) and operand.modifiers:
        raise b.unknown("has an address")


def _registers(b: SassBuilder, operand: SassOperand, count: int, sources: bool) -> list[int]:
    return [b.raw(operand, k) if sources else b.to(operand, k) for k in range(count)]


def load(b: SassBuilder) -> None:
    """LD, LDG, LDS and LDL."""
    if len(b.operands) != 2:
        raise b.unknown()
    width = width_of(b.one.modifiers)
    base, added = b.address(b.operand(1), _WINDOWS.get(b.one.name, 0))
    _check_descriptor(b, b.operand(1))
    bits = access.LOGGED | access.LOAD_STORE | access.WAITED
    if b.one in b.kernel.phase_loads:
        bits |= note_tested(b, base, added)
    _load(b, base, added, width, bits)


def _load(b: SassBuilder, base: int, added: int, width: int, bits: int) -> None:
    count, element = max(width // 4, 1), min(width, 4)
    rows = _registers(b, b.operand(0), count, False)
    signed = b.has("S8", "S16")
    bits |= access.VALUES | access.SIGNED * signed | access.POLLS * _is_polling(b)
    b.emit(
        Micro.load, a=base, x=added, y=bits, mask=element, shift=64 - 8 * element, c=WORD, list=b.listed(rows),
        count=count,
    )  # fmt: skip


def store(b: SassBuilder) -> None:
    """ST, STG, STS and STL."""
    if len(b.operands) != 2:
        raise b.unknown()
    width = width_of(b.one.modifiers)
    base, added = b.address(b.operand(0), _WINDOWS.get(b.one.name, 0))
    _check_descriptor(b, b.operand(0))
    count, element = max(width // 4, 1), min(width, 4)
    rows = _registers(b, b.operand(1), count, True)
    bits = access.VALUES | access.LOGGED | access.LOAD_STORE
    b.emit(Micro.store, a=base, x=added, y=bits, mask=element, list=b.listed(rows), count=count)


def load_constant(b: SassBuilder) -> None:
    """LDC, LDCU and ULDC: words of a bank, whose place may be in a register."""
    operand = b.operand(1)
    if not isinstance(operand, Bank) or operand.negative or operand.absolute or operand.inverted:
        raise b.unknown()
    width = width_of(b.one.modifiers)
    if operand.base is None and width >= 4:
        for k in range(width // 4):
            b.emit(Micro.copy, dst=b.to(b.operand(0), k), a=b.bank(operand, k))
        return
    if operand.number == 2:
        return _load_literal(b, operand)
    if operand.number == ADDRESSES_BANK:
        return _load_address(b, operand)
    if operand.number not in BANK_WINDOWS:
        raise b.unknown("indexes a bank")
    window = BANK_WINDOWS[operand.number]
    base, added = ZERO, window + operand.offset
    if operand.base is not None:
        base = b.op(Micro.add, b.word(operand.base), b.constant(operand.offset & WORD), mask=WORD)
        added = window
    bits = access.WAITED | (access.LOGGED if operand.number else 0)
    _load(b, base, added, width, bits)


def _load_literal(b: SassBuilder, operand: Bank) -> None:
    """An indexed word of bank 2, as tables of branches are read."""
    if operand.base is None or width_of(b.one.modifiers) != 4:
        raise b.unknown("indexes a bank")
    data = b.kernel.cubin.data(f".nv.constant2.{b.kernel.name}")
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data) & -4, 4)]
    address = b.op(Micro.add, b.word(operand.base), b.constant(operand.offset & WORD), mask=WORD)
    rows = [b.constant(word) for word in words]
    index = b.op(Micro.shift_right, address, b.constant(2), x=64)
    found = rows[0]
    for k, row in enumerate(rows[1:], 1):  # few: a table of branches
        here = b.temporary_predicate()
        b.set_predicate(here, Micro.equal, index, b.constant(k))
        to = b.temporary(60 + k % 2)
        b.emit(Micro.select, dst=to, a=row, b=found, x=here)
        found = to
    b.emit(Micro.copy, dst=b.to(b.operand(0)), a=found)


def _load_address(b: SassBuilder, operand: Bank) -> None:
    """An indexed word of bank 4: the address of a function that is called next."""
    if operand.base is None or operand.offset or width_of(b.one.modifiers) != 8:
        raise b.unknown("indexes a bank")
    functions, address = functions_called(b.kernel), b.word(operand.base)
    found = b.temp()
    b.emit(Micro.copy, dst=found, a=ZERO)
    for offset, (name, added) in addresses(b.kernel).items():
        if name in functions:
            here = b.temp_predicate()
            b.set_predicate(here, Micro.equal, address, b.constant(offset))
            b.emit(Micro.select, dst=found, a=b.constant(functions[name] + added), b=found, x=here)
    b.split(b.operand(0), found)


_ATOMICS = {
    "ADD": atomics.ADD, "MIN": atomics.MINIMUM, "MAX": atomics.MAXIMUM, "AND": atomics.AND, "OR": atomics.OR,
    "XOR": atomics.XOR, "EXCH": atomics.EXCHANGE, "CAS": atomics.SWAP, "CAST": atomics.SWAP,
    "INC": atomics.INCREMENT, "DEC": atomics.DECREMENT,
}  # fmt: skip
_TYPES = {
    "S32": (4, Type.signed), "U32": (4, Type.unsigned), "S64": (8, Type.signed), "U64": (8, Type.unsigned),
    "64": (8, Type.unsigned), "F32": (4, Type.f32), "F64": (8, Type.f64), "F16x2": (4, Type.f16x2),
    "BF16x2": (4, Type.bf16x2), "BF16_V2": (4, Type.bf16x2),
}  # fmt: skip


def atomic_width(modifiers: tuple[str, ...]) -> int:
    """Bytes that a lane of an atomic accesses."""
    return next((_TYPES[one][0] for one in modifiers if one in _TYPES), 4)


def atomic(b: SassBuilder) -> None:
    """ATOM, ATOMG, ATOMS and RED: an operation on memory, with the value before where a register takes it."""
    name = b.one.name
    if b.has("ARRIVE"):
        return arrive(b)
    first = int(b.is_predicate(0))
    returns = not isinstance(b.operand(first), Mem)  # RED does not, nor sm_120's CAST but in its predicate
    tries = bool(first) and not returns
    what = next((_ATOMICS[one] for one in b.one.modifiers if one in _ATOMICS), None)
    if what is None:
        raise b.unknown()
    width, kind = next((_TYPES[one] for one in b.one.modifiers if one in _TYPES), (4, Type.unsigned))
    to = b.operand(first) if returns else Reg("R", -1)
    at = first + returns
    base, added = b.address(b.operand(at), _WINDOWS.get(name, 0))
    _check_descriptor(b, b.operand(at))
    values = [b.wide(one) if width == 8 else b.raw(one) for one in b.operands[at + 1 :]]
    if b.has("POPC"):  # the lanes that have the same address are counted first
        if values or to != Reg("R", -1):
            raise b.unknown()
        what, values = atomics.ADD, [b.constant(1)]
    if len(values) != 1 + (what == atomics.SWAP):
        raise b.unknown()
    in_register = to != Reg("R", -1)
    result = (b.temp() if width == 8 or b.has("CAST") else b.to(to)) if in_register or tries else SINK
    bits = access.VALUES | access.LOGGED | access.LOAD_STORE | access.WAITED * (result != SINK)
    b.emit(
        Micro.atomic, dst=result, a=base, b=values[0], c=values[-1] if len(values) > 1 else ZERO, x=added, y=bits,
        mask=width, shift=64 - 8 * width, list=what, count=int(kind),
    )  # fmt: skip
    if in_register:
        _result(b, to, result, width, values)
    if tries:
        b.set_predicate(b.to_predicate(b.operands[0]), Micro.equal, result, values[0], shift=64 - 8 * width)
    elif first:  # whether it was done: not by the instruction for all of memory where that is shared memory
        b.emit(Micro.predicate, dst=b.to_predicate(b.operands[0]), a=TRUE, b=TRUE, x=BOTH)


def _result(b: SassBuilder, to: SassOperand, result: int, width: int, values: list[int]) -> None:
    """Put what was in memory into the result's registers; of a swap that tries (CAST) whether it succeeded."""
    rows = [b.to(to, k) for k in range(width // 4)]
    if b.has("CAST"):
        same = b.temp_predicate()
        b.set_predicate(same, Micro.equal, result, values[0], shift=64 - 8 * width)
        b.emit(Micro.select, dst=rows[0], a=b.constant(1), b=ZERO, x=same)
        for row in rows[1:]:
            b.emit(Micro.copy, dst=row, a=ZERO)
    elif width == 8:
        b.split(to, result)
    else:
        return
    b.emit(Micro.alias, list=b.listed([row for to_row in rows for row in (to_row, result)]), count=len(rows), guard=-1)


def matrix_load(b: SassBuilder) -> None:
    """LDSM and STSM: matrices of 8 x 8 elements of 16 bits."""
    stores = b.one.name == "STSM"
    if not b.has("16") or not b.has("M88", "MT88"):
        raise b.unknown()
    count = next((int(one) for one in b.one.modifiers if one in ("2", "4")), 1)
    address, registers = (b.operand(0), b.operand(1)) if stores else (b.operand(1), b.operand(0))
    base, added = b.address(address, SHARED_WINDOW)
    rows = _registers(b, registers, count, stores)
    if base in rows and not stores:  # the machine reads addresses while it writes results
        base = b.op(Micro.copy, base)
    bits = access.VALUES | access.LOGGED | access.LOAD_STORE | access.WAITED * (not stores)
    op = Micro.matrix_store if stores else Micro.matrix_load
    b.emit(op, a=base, x=added, y=bits, mask=int(b.has("MT88")), list=b.listed(rows), count=count)


def copy_async(b: SassBuilder) -> None:
    """LDGSTS: a copy from global to shared memory; where its predicate does not hold it writes zeros."""
    width = width_of(b.one.modifiers)
    target, to_added = b.address(b.operand(0), SHARED_WINDOW)
    source, added = b.address(b.operand(1), 0)
    bits, size = access.VALUES | access.LOAD_STORE, ZERO
    if len(b.operands) > 2:
        size = b.select(b.operand(2), b.constant(width), ZERO)
        bits |= copies.SIZED
    b.emit(
        Micro.copy_async, a=source, x=added, b=target, list=to_added, c=size, mask=width, y=bits,
    )  # fmt: skip


def commit(b: SassBuilder) -> None:
    """LDGDEPBAR: the copies so far are a group."""
    b.emit(Micro.commit)


def wait_group(b: SassBuilder) -> None:
    """DEPBAR: at most so many groups of copies are left under way; of scoreboards it orders timing alone."""
    if not b.has("LE"):
        return
    number = b.operand(1)
    if not isinstance(number, Imm):
        raise b.unknown()
    if b.kernel.has_copies and b.operand(0) == Reg("SB", 0):
        b.emit(Micro.wait_group, x=number.value)


def find_space(b: SassBuilder) -> None:
    """QSPC: whether a generic address lies in shared or local memory, or in neither."""
    operand = b.operand(2)
    if not isinstance(operand, Mem) or operand.offset or len(operand.registers) != 1 or b.operand(1) != Reg("R", -1):
        raise b.unknown()
    high = b.op(Micro.shift_right, b.wide(operand.registers[0]), b.constant(58), x=64)
    to = b.to_predicate(b.operand(0))
    if b.has("D"):  # of another block of a cluster: machine code runs without clusters
        return b.emit(Micro.predicate, dst=to, a=TRUE, b=TRUE, x=0)
    windows = {"S": SHARED_WINDOW, "L": LOCAL_WINDOW, "G": 0}
    window = next((windows[one] for one in b.one.modifiers if one in windows), None)
    if window is None:
        raise b.unknown()
    b.set_predicate(to, Micro.equal, high, b.constant(window >> 58), shift=0)


def ignore(b: SassBuilder) -> None:
    """What has no effect on values: fences, hints, waits for time."""
