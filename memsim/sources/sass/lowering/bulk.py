"""Bulk copies between global and shared memory, which one lane of a warp issues."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import SINK, ZERO
from memsim.sources.ptx.machine import access, bulk, log
from memsim.sources.ptx.machine.codes import SHARED_WINDOW, Micro
from memsim.sources.sass.builder import BOTH, WORD, SassBuilder
from memsim.sources.sass.operands import Mem, Reg, SassOperand, parse_operands

# ELECT stands so many instructions at most before the copy of the lane that it chooses.
_REACH = 8
_UNIT = 16  # bytes in which the size of a copy counts


def copy(b: SassBuilder) -> None:
    """UBLKCP: a stretch of memory to shared memory (.S.G), whose mbarrier is notified, or from there (.G.S)."""
    if b.one.modifiers not in (("S", "G"), ("G", "S")) or len(b.operands) != 3:
        raise b.unknown()
    loads = b.one.modifiers[0] == "S"
    target, source = (_pair(b, k) for k in (0, 1))
    shared, other = (target, source) if loads else (source, target)
    address = b.op(Micro.add, b.raw(shared), b.constant(SHARED_WINDOW))
    size = b.op(Micro.multiply, b.word(b.operand(2)), b.constant(_UNIT), mask=WORD)
    far = b.wide(other)
    fields = {"a": far, "b": address, "list": b.raw(shared, 1)} if loads else {"a": address, "b": far, "list": ZERO}
    bits = access.VALUES | (bulk.ARRIVES if loads else log.STORES)
    b.emit(Micro.bulk, c=size, x=0, mask=0, y=bits, guard=issuing_lane(b), **fields)


def load_box(b: SassBuilder) -> None:
    """UTMALDG: a box of a tensor to shared memory, where an mbarrier is notified."""
    _copy_box(b, 2, bulk.ARRIVES)


def store_box(b: SassBuilder) -> None:
    """UTMASTG: a box of a tensor from shared memory."""
    _copy_box(b, 1, log.STORES)


def _copy_box(b: SassBuilder, first: int, bits: int) -> None:
    """Registers in a row: the place in shared memory, the mbarrier of a load, from `first` on the coordinates."""
    if len(b.operands) != 2 or len(b.one.modifiers) != 1:
        raise b.unknown()
    rank = int(b.one.modifiers[0][0])
    box, tensor_map = (_pair(b, k) for k in (0, 1))
    rows = [b.raw(box, first + k) for k in range(rank)] + [b.raw(box, 1)] * (first == 2)
    fields = {"c": ZERO, "list": b.listed(rows), "count": rank, "y": access.VALUES | bits}
    b.emit(Micro.tensor, a=b.wide(tensor_map), b=b.raw(box), guard=issuing_lane(b), **fields)


def _pair(b: SassBuilder, k: int) -> Reg:
    operand = b.operand(k)
    if not isinstance(operand, Mem) or len(operand.registers) != 1 or operand.offset:
        raise b.unknown()
    return operand.registers[0]


def issuing_lane(b: SassBuilder) -> int:
    """The predicate of the lane that issues an instruction of the uniform unit which works once for a warp.

    That is the lane that an ELECT just before chose, where loops of ptxas go through all lanes, else the lowest one.
    The instruction's own guard holds as well: ptxas also moves the ELECT of a later copy to before an earlier one.
    """
    chosen = b.temp_predicate()
    b.emit(Micro.predicate, dst=chosen, a=0, b=0, x=0, guard=-1)
    elected = _elected(b)
    if elected is None:
        b.emit(Micro.elect, dst=SINK, b=b.constant(WORD), count=chosen)
    else:
        lane = b.to_predicate(elected)
        b.emit(Micro.predicate, dst=chosen, a=lane, b=lane, x=BOTH)
    return chosen


def _elected(b: SassBuilder) -> SassOperand | None:
    """The predicate of an ELECT just before an instruction, if none between them writes it."""
    at = b.one.address // 16
    for k in reversed(range(max(at - _REACH, 0), at)):
        one = b.kernel.code[k]
        if one.name == "ELECT":
            found = parse_operands(one.operands, one.word)[0]
            # What an instruction writes is among its first three operands. A source there hides the ELECT, too.
            between = (parse_operands(later.operands, later.word)[:3] for later in b.kernel.code[k + 1 : at])
            return None if any(found in first for first in between) else found
        if one.labels:
            break
    return None
