"""Calls: of functions that stand behind the kernel, and of CUDA's device runtime.

Arguments are in registers from R4 on, those of 64 bits in pairs that begin at an even one; the result is in R4, the
address to go on at in R20 and R21.
"""

from __future__ import annotations

from memsim.sources.ptx.inline import HOST_CALLS
from memsim.sources.ptx.lowering.builder import SINK
from memsim.sources.ptx.machine.codes import Micro
from memsim.sources.sass.builder import WORD, SassBuilder
from memsim.sources.sass.constants import functions_called
from memsim.sources.sass.lowering.control import jump_to, label_address
from memsim.sources.sass.operands import LabelOperand, Reg

_FIRST_ARGUMENT, _RETURN = 4, 20


def call(b: SassBuilder) -> None:
    """CALL.REL: to a function behind the kernel. CALL.ABS: to one of the device runtime, by its address."""
    target = b.operands[-1]
    if b.has("REL") and isinstance(target, LabelOperand) and len(b.operands) == 1:
        return b.jump(b.label(target))
    if not b.has("ABS") or not isinstance(target, Reg) or len(b.operands) != 1 or b.one.predicate:
        raise b.unknown("calls a function in a way")
    address = b.wide(target)
    for name, value in functions_called(b.kernel).items():
        called = b.temp_predicate()
        b.set_predicate(called, Micro.equal, address, b.constant(value), shift=0)
        _host_call(b, name, called)
    jump_to(b, b.raw(Reg("R", _RETURN)), 0)


def _host_call(b: SassBuilder, name: str, called: int) -> None:
    number, (result, *kinds) = HOST_CALLS[name]
    rows, register = [], _FIRST_ARGUMENT
    for kind in kinds:
        width = 2 if kind == "b64" else 1
        register = -(-register // width) * width
        rows.append(b.wide(Reg("R", register)) if width == 2 else b.raw(Reg("R", register)))
        register += width
    returns = name != "free"
    row = b.temp() if returns else SINK
    b.emit(Micro.host_call, dst=row, x=number, list=b.listed(rows), count=len(rows), guard=called)
    if returns:
        to = Reg("R", _FIRST_ARGUMENT)
        b.emit(Micro.bit_and, dst=b.to(to), a=row, b=b.constant(WORD), guard=called)
        if result == "b64":
            b.emit(Micro.shift_right, dst=b.to(to, 1), a=row, b=b.constant(32), x=64, guard=called)


def own_address(b: SassBuilder) -> None:
    """LEPC: the address of this instruction, or of a label, from the kernel's begin."""
    value = b.one.address
    if len(b.operands) > 1:
        value = label_address(b, b.label(b.operand(1)))
    b.emit(Micro.copy, dst=b.to(b.operand(0)), a=b.constant(value))
    b.emit(Micro.copy, dst=b.to(b.operand(0), 1), a=b.constant(0))
