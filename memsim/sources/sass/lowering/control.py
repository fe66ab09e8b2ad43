"""Branches, calls, barriers, special registers, and what lanes of a warp do together."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import SINK, TRUE, ZERO
from memsim.sources.ptx.machine import barriers, warp_collectives
from memsim.sources.ptx.machine.codes import LOCAL_WINDOW, SHARED_WINDOW, Micro
from memsim.sources.sass.builder import BOTH, FIRST_ONLY, WORD, SassBuilder
from memsim.sources.sass.operands import Imm, Reg

INSTRUCTION_BYTES = 16


def _guarded(b: SassBuilder, k: int) -> dict[str, int]:
    """The guard of an instruction that an operand's predicate must hold for, too."""
    number, inverted = b.source_predicate(b.operand(k))
    guard = b.instruction.guard if b.instruction is not None else None
    if guard is None:
        return {"guard": number, "negated": int(inverted)}
    both = b.temp_predicate()
    plain = b.plain_predicate(b.operand(k))
    b.emit(Micro.predicate, dst=both, a=TRUE, b=TRUE, x=0, guard=-1)
    b.emit(Micro.predicate, dst=both, a=plain, b=plain, x=BOTH)
    return {"guard": both, "negated": 0}


def branch(b: SassBuilder) -> None:
    """BRA: to a label; with .DIV and .CONV lanes meet here, as they would in the code behind .DIV and .CONV."""
    if b.has("ANY"):
        return _branch_of_any(b)
    if b.has("DIV"):
        return _branch_if_divergent(b)
    if b.has("CONV"):
        _meet(b, b.word(b.operand(0)), x=1)
        return b.jump(b.label(b.operands[-1]))
    more = _guarded(b, 0) if b.is_predicate(0) else {}
    b.jump(b.label(b.operands[-1]), **more)


def _guard(b: SassBuilder) -> int:
    """A predicate that is true in the lanes where the instruction's guard holds, of all that are active."""
    here = b.temp_predicate()
    b.emit(Micro.predicate, dst=here, a=TRUE, b=TRUE, x=0, guard=-1)
    b.emit(Micro.predicate, dst=here, a=TRUE, b=TRUE, x=BOTH)
    return here


def _branch_if_divergent(b: SassBuilder) -> None:
    """BRA.DIV: lanes meet, then all go to a label if the guard holds for others than those of a mask.

    Without a guard no lane goes: those of the mask that have not ended are here.
    """
    members = b.word(b.operand(0)) if len(b.operands) > 1 else b.constant(WORD)
    _meet(b, members, x=1, guard=-1)
    if not b.one.predicate:
        return
    held = b.op(Micro.vote, _guard(b), b.constant(WORD), x=warp_collectives.BALLOT, guard=-1)
    differs = b.temp_predicate()
    b.emit(Micro.unequal, dst=differs, a=held, b=members, shift=32, x=FIRST_ONLY, count=-1, guard=-1)
    b.jump(b.label(b.operands[-1]), guard=differs, negated=0)


def _branch_of_any(b: SassBuilder) -> None:
    """BRA.U.ANY: the warp's lanes go together if the guard holds for any of them."""
    if b.is_predicate(0):
        raise b.unknown()
    here, any_of = _guard(b), b.temp_predicate()
    b.emit(Micro.vote, dst=any_of, a=here, b=b.constant(WORD), x=warp_collectives.ANY, guard=-1)
    b.jump(b.label(b.operands[-1]), guard=any_of, negated=0)


def jump_by_register(b: SassBuilder) -> None:
    """BRX: to the address in a register, plus the next instruction's and a constant."""
    operand = b.operand(0)
    text = getattr(operand, "text", "")
    register, _, offset = text.partition(" ") if text else ("", "", "")
    if isinstance(operand, Reg):
        row, added = b.raw(operand), 0
    elif register:
        row, added = b.row(register.split(".")[0]), int(offset.split()[0], 16)
    else:
        raise b.unknown()
    jump_to(b, row, b.one.address + INSTRUCTION_BYTES + added)


def jump_to(b: SassBuilder, row: int, added: int) -> None:
    """Go on at the address in a row."""
    if added:
        row = b.op(Micro.add, row, b.constant(added & WORD), mask=WORD)
    index = b.op(Micro.shift_right, row, b.constant(4), x=64)
    b.jump_by(index, [at_address(one.address) for one in b.kernel.code])


def at_address(address: int) -> str:
    """The label of the instruction at an address."""
    return f"@{address:#x}"


def label_address(b: SassBuilder, name: str) -> int:
    """Where the instruction at a label stands."""
    found = next((one.address for one in b.kernel.code if name in one.labels), None)
    if found is None:
        raise b.unknown(f"takes the address of {name}, a label")
    return found


def back(b: SassBuilder) -> None:
    """RET: to the address in a register; without one, the end."""
    if not b.operands:
        return b.emit(Micro.exit)
    if not b.has("REL", "ABS") or not isinstance(b.operand(0), Reg):
        raise b.unknown()
    jump_to(b, b.raw(b.operand(0)), 0)


def end(b: SassBuilder) -> None:
    """EXIT and KILL."""
    b.emit(Micro.exit, **(_guarded(b, 0) if b.is_predicate(0) else {}))


def trap(b: SassBuilder) -> None:
    """BPT.TRAP."""
    if b.has("TRAP"):
        b.emit(Micro.trap)


def begin_region(b: SassBuilder) -> None:
    """BSSY: the lanes that are active are to meet again."""
    b.emit(Micro.active, dst=_set(b, 0))


def _set(b: SassBuilder, k: int) -> int:
    operand = b.operand(k)
    if not isinstance(operand, Reg) or operand.file != "B":
        raise b.unknown()
    return b.row(operand.name)


def end_region(b: SassBuilder) -> None:
    """BSYNC: lanes wait for the others of their set."""
    _meet(b, _set(b, len(b.operands) - 1), **(_guarded(b, 0) if b.is_predicate(0) else {}))


def _meet(b: SassBuilder, row: int, **more: int) -> None:
    b.emit(Micro.converge, a=row, **more)


def members_of(b: SassBuilder) -> int:
    """The row of the lanes that do something together: behind WARPSYNC.COLLECTIVE those of its mask, else all."""
    for one in reversed(b.kernel.code[: b.one.address // INSTRUCTION_BYTES]):
        if one.name == "WARPSYNC" and "COLLECTIVE" in one.modifiers:
            return b.row("#members")
        if one.name in ("ENDCOLLECTIVE", "BRA", "EXIT", "BSYNC", "RET", "CALL"):
            break
    return b.constant(WORD)


def leave_region(b: SassBuilder) -> None:
    """BREAK: the active lanes are no longer waited for."""
    b.emit(Micro.leave, a=_set(b, len(b.operands) - 1), **(_guarded(b, 0) if b.is_predicate(0) else {}))


def move_region(b: SassBuilder) -> None:
    """BMOV: sets of lanes to and from registers."""
    to, source = b.operand(0), b.operand(1)
    if not isinstance(to, Reg) or not isinstance(source, Reg | Imm):
        raise b.unknown()
    row = b.row(source.name) if isinstance(source, Reg) and source.number >= 0 else b.raw(source)
    if to.number >= 0:
        b.emit(Micro.copy, dst=b.row(to.name), a=row)


def meet(b: SassBuilder) -> None:
    """WARPSYNC: lanes wait for those of a mask."""
    if b.has("EXCLUSIVE") or b.has("COLLECTIVE") and b.has("ALL"):  # where BRA.CONV would lead
        return b.emit(Micro.trap)
    if b.has("COLLECTIVE"):
        b.emit(Micro.copy, dst=b.row("#members"), a=b.word(b.operand(0)))
    _meet(b, b.word(b.operand(0)) if b.operands else b.constant(WORD))


_BARRIERS = {"AND": barriers.RED_AND, "OR": barriers.RED_OR, "POPC": barriers.RED_POPC}


def barrier(b: SassBuilder) -> None:
    """BAR: all warps of the block, or so many threads, meet; .RED with what their predicates come to."""
    if not b.has("SYNC", "ARV", "RED") or b.has("SCAN"):
        raise b.unknown()
    fields = {"x": barriers.ARRIVE if b.has("ARV") else barriers.SYNC, "mask": 0}
    operands = list(b.operands)
    if b.has("RED"):
        number, inverted = b.source_predicate(operands.pop())
        kind = next((_BARRIERS[one] for one in b.one.modifiers if one in _BARRIERS), None)
        if kind is None:
            raise b.unknown()
        to = b.row("#counted") if kind == barriers.RED_POPC else b.predicate("#joined")
        fields |= {"x": kind, "c": number, "mask": int(inverted), "dst": to}
    rows = [b.word(one) for one in operands]
    given = len(rows) == 2
    b.emit(Micro.barrier, a=rows[0], b=rows[1] if given else ZERO, y=int(given), **fields)


def barrier_result(b: SassBuilder) -> None:
    """B2R.RESULT: what a barrier's predicates came to."""
    if not b.has("RESULT"):
        raise b.unknown()
    if b.operand(0) != Reg("R", -1):
        b.emit(Micro.copy, dst=b.to(b.operand(0)), a=b.row("#counted"))
    if len(b.operands) > 1:
        combined = b.predicate("#joined")
        b.emit(Micro.predicate, dst=b.to_predicate(b.operand(1)), a=combined, b=combined, x=BOTH)


_SHUFFLES = {
    "UP": warp_collectives.UP,
    "DOWN": warp_collectives.DOWN,
    "BFLY": warp_collectives.BUTTERFLY,
    "IDX": warp_collectives.INDEX,
}


def shuffle(b: SassBuilder) -> None:
    """SHFL: the value of another lane, and whether that lane is there."""
    mode = next((_SHUFFLES[one] for one in b.one.modifiers if one in _SHUFFLES), None)
    if mode is None:
        raise b.unknown()
    valid = b.operand(0)
    to = -1 if isinstance(valid, Reg) and valid.number < 0 else b.to_predicate(valid)
    value, lane, clamp = (b.word(b.operand(k)) for k in (2, 3, 4))
    b.emit(Micro.shuffle, dst=b.to(b.operand(1)), a=value, b=lane, c=clamp, x=mode, count=to)


def match(b: SassBuilder) -> None:
    """MATCH: the lanes that have the same value."""
    is_all, first = b.has("ALL"), int(b.is_predicate(0))
    value = b.wide(b.operand(first + 1)) if b.has("U64") else b.word(b.operand(first + 1))
    valid = b.operand(0)
    to = b.to_predicate(valid) if first and isinstance(valid, Reg) and valid.number >= 0 else -1
    b.emit(Micro.match, dst=b.to(b.operand(first)), a=value, b=members_of(b), x=int(is_all), count=to)


_REDUCTIONS = {
    "SUM": warp_collectives.R_ADD,
    "MIN": warp_collectives.R_MINIMUM,
    "MAX": warp_collectives.R_MAXIMUM,
    "AND": warp_collectives.R_AND,
    "OR": warp_collectives.R_OR,
    "XOR": warp_collectives.R_XOR,
}


def reduce(b: SassBuilder) -> None:
    """REDUX and CREDUX: what the active lanes' values come to."""
    what = next((_REDUCTIONS[one] for one in b.one.modifiers if one in _REDUCTIONS), warp_collectives.R_AND)
    if b.has("F32"):
        raise b.unknown()
    signed = int(b.has("S32") or what == warp_collectives.R_ADD)
    fields = {"mask": WORD, "shift": 32, "x": what, "y": signed, "b": members_of(b)}
    b.emit(Micro.reduce, dst=b.to(b.operand(0)), a=b.word(b.operand(1)), **fields)


def elect(b: SassBuilder) -> None:
    """ELECT: the lowest active lane."""
    to = b.to_predicate(b.operand(0))
    row = b.temp()
    b.emit(Micro.elect, dst=row, b=b.constant(WORD), count=to)
    if len(b.operands) > 1 and isinstance(b.operands[1], Reg) and b.operands[1].number >= 0:
        b.emit(Micro.copy, dst=b.to(b.operands[1]), a=row)


_SPECIALS = {
    "SR_TID.X": "%tid.x", "SR_TID.Y": "%tid.y", "SR_TID.Z": "%tid.z", "SR_CTAID.X": "%ctaid.x",
    "SR_CTAID.Y": "%ctaid.y", "SR_CTAID.Z": "%ctaid.z", "SR_LANEID": "%laneid", "SR_EQMASK": "%lanemask_eq",
    "SR_LTMASK": "%lanemask_lt", "SR_LEMASK": "%lanemask_le", "SR_GTMASK": "%lanemask_gt", "SR_GEMASK": "%lanemask_ge",
}  # fmt: skip
_CLOCKS = ("SR_CLOCKLO", "SR_CLOCK_LO", "SR_GLOBALTIMERLO")
_ALWAYS = {
    "SRZ": 0, "SR_SWINHI": SHARED_WINDOW >> 32, "SR_LWINHI": LOCAL_WINDOW >> 32, "SR_CgaCtaId": 0,
    "SR_CgaSize": 0, "SR_VIRTUALSMID": 0, "SR_CLOCKHI": 0, "SR_GLOBALTIMERHI": 0,
}  # fmt: skip


def special(b: SassBuilder) -> None:
    """S2R, S2UR, CS2R and CS2UR: special registers; the last two fill two registers unless they are .32."""
    name = b.special(1)
    to = b.to(b.operand(0))
    if name in _SPECIALS:
        b.emit(Micro.copy, dst=to, a=b.row(_SPECIALS[name]))
    elif name in _CLOCKS:
        b.emit(Micro.bit_and, dst=to, a=_clock(b), b=b.constant(WORD))
    elif name in _ALWAYS:
        b.emit(Micro.copy, dst=to, a=b.constant(_ALWAYS[name]))
    else:
        raise b.unknown("reads a special register")
    if b.one.name.startswith("CS2") and not b.has("32") and to != SINK:
        b.emit(Micro.copy, dst=b.to(b.operand(0), 1), a=ZERO)


def _clock(b: SassBuilder) -> int:
    row = b.temp()
    b.emit(Micro.clock, dst=row)
    return row


def give_way(b: SassBuilder) -> None:
    """YIELD and NANOSLEEP: lanes that wait for others of their warp let these run first."""
    _meet(b, b.constant(WORD), x=1)


def ignore(b: SassBuilder) -> None:
    """What orders or announces without an effect on values."""
