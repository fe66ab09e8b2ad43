"""Branches, barriers, and what lanes of a warp do together (PTX ISA 9.0, sections 9.7.12 and 9.7.13)."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import SINK, ZERO, Builder, Lower, width_of
from memsim.sources.ptx.lowering.integers import condition, destination, is_signed, mask_of
from memsim.sources.ptx.machine import barriers, warp_collectives
from memsim.sources.ptx.machine.codes import Micro
from memsim.sources.ptx.module import Immediate, Instruction, Not, Register, Symbol, Vector

_SHUFFLES = {
    "up": warp_collectives.UP,
    "down": warp_collectives.DOWN,
    "bfly": warp_collectives.BUTTERFLY,
    "idx": warp_collectives.INDEX,
}
_VOTES = {
    "all": warp_collectives.ALL,
    "any": warp_collectives.ANY,
    "uni": warp_collectives.UNIFORM,
    "ballot": warp_collectives.BALLOT,
}
_REDUCTIONS = {
    "add": warp_collectives.R_ADD,
    "min": warp_collectives.R_MINIMUM,
    "max": warp_collectives.R_MAXIMUM,
    "and": warp_collectives.R_AND,
    "or": warp_collectives.R_OR,
    "xor": warp_collectives.R_XOR,
}
_BARRIER_KINDS = {"and": barriers.RED_AND, "or": barriers.RED_OR, "popc": barriers.RED_POPC}


def label_of(b: Builder, operand: object) -> str:
    """The name of a label."""
    if isinstance(operand, Symbol | Register):
        return operand.name
    raise b.error("names no label")


def _branch(b: Builder, one: Instruction) -> None:
    b.jump(label_of(b, one.operands[0]))


def _exit(b: Builder, one: Instruction) -> None:
    b.emit(Micro.exit)


def _trap(b: Builder, one: Instruction) -> None:
    b.emit(Micro.trap)


def _barrier(b: Builder, one: Instruction) -> None:
    """bar and barrier: sync, arrive, red; those of clusters apart."""
    if one.has("cluster"):
        return b.emit(Micro.cluster_barrier, x=int(one.has("wait")) + 2 * int(one.has("arrive")))
    if one.has("warp"):
        return None
    reduces = one.has("red")
    operands = list(one.operands)
    fields = {"x": barriers.ARRIVE if one.has("arrive") else barriers.SYNC, "mask": 0}
    if reduces:
        what = next((part for part in one.opcode if part in _BARRIER_KINDS), None)
        if what is None or len(operands) < 3:
            raise b.error("reduces in a way that memsim does not support")
        to, by = operands.pop(0), operands.pop()
        name = by.register.name if isinstance(by, Not) else getattr(by, "name", "")
        assert isinstance(to, Register)
        fields |= {"x": _BARRIER_KINDS[what], "c": b.predicate(name), "mask": int(isinstance(by, Not))}
        fields["dst"] = b.row(to.name) if what == "popc" else b.predicate(to.name)
    rows = [b.value(operand, "u32") for operand in operands[:2]]
    given = len(rows) == 2
    b.emit(Micro.barrier, a=rows[0] if rows else ZERO, b=rows[1] if given else ZERO, y=int(given), **fields)


def _shuffle(b: Builder, one: Instruction) -> None:
    mode = next((_SHUFFLES[part] for part in one.opcode if part in _SHUFFLES), None)
    if mode is None:
        raise b.error("shuffles in a way that memsim does not support")
    to = one.operands[0]
    valid = to.elements[1] if isinstance(to, Vector) else None
    rows = [b.value(operand, "b32") for operand in one.operands[1:4]]
    second = b.predicate(valid.name) if isinstance(valid, Register) else -1
    b.emit(Micro.shuffle, dst=destination(b, one), a=rows[0], b=rows[1], c=rows[2], x=mode, count=second)


def _members(b: Builder, one: Instruction) -> int:
    """The row of the mask that names the lanes of a collective instruction; without ``.sync``: of all lanes."""
    return b.value(one.operands[-1], "b32") if one.has("sync") else b.constant(mask_of(32))


def _vote(b: Builder, one: Instruction) -> None:
    mode = next((_VOTES[part] for part in one.opcode if part in _VOTES), None)
    if mode is None:
        raise b.error("votes in a way that memsim does not support")
    to = one.operands[0]
    assert isinstance(to, Register)
    result = b.row(to.name) if mode == warp_collectives.BALLOT else b.predicate(to.name)
    b.emit(Micro.vote, dst=result, a=condition(b, one.operands[1]), b=_members(b, one), x=mode)


def _match(b: Builder, one: Instruction) -> None:
    to = one.operands[0]
    second = b.predicate(to.elements[1].name) if isinstance(to, Vector) else -1  # type: ignore[union-attr]
    fields = {"a": b.value(one.operands[1], one.type), "b": _members(b, one), "x": int(one.has("all"))}
    b.emit(Micro.match, dst=destination(b, one), count=second, **fields)


def _reduce(b: Builder, one: Instruction) -> None:
    what = next((_REDUCTIONS[part] for part in one.opcode if part in _REDUCTIONS), None)
    if what is None or one.type == "f32":
        raise b.error("reduces in a way that memsim does not support")
    width = width_of(one.type)
    fields = {"mask": mask_of(width), "shift": 64 - width, "x": what, "y": int(is_signed(one.type) or what == 0)}
    fields["b"] = _members(b, one)
    b.emit(Micro.reduce, dst=destination(b, one), a=b.value(one.operands[1], one.type), **fields)


def _elect(b: Builder, one: Instruction) -> None:
    to = one.operands[0]
    if not isinstance(to, Vector):
        raise b.error("has no predicate for its result")
    leader, predicate = to.elements
    assert isinstance(leader, Register) and isinstance(predicate, Register)
    dst = b.row(leader.name) if leader.name != "_" else SINK
    b.emit(Micro.elect, dst=dst, b=_members(b, one), count=b.predicate(predicate.name))


def _active(b: Builder, one: Instruction) -> None:
    b.emit(Micro.active, dst=destination(b, one))


def _host_call(b: Builder, one: Instruction) -> None:
    """A function of CUDA's device runtime, which the machine's caller carries out; what charges comes before it."""
    to, number = one.operands[:2]
    assert isinstance(to, Register) and isinstance(number, Immediate)
    rows = [b.value(operand, "b64") for operand in one.operands[2:]]
    b.flush()
    dst = b.row(to.name) if to.name != "_" else SINK
    b.emit(Micro.host_call, dst=dst, x=number.value, list=b.listed(rows), count=len(rows))


CONTROL: dict[str, Lower] = {
    "bra": _branch,
    "ret": _exit,
    "exit": _exit,
    "trap": _trap,
    "brkpt": _trap,
    "bar": _barrier,
    "barrier": _barrier,
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "redux": _reduce,
    "elect": _elect,
    "activemask": _active,
    "hostcall": _host_call,
}
