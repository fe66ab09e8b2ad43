"""Which instructions bring what others wait for, and which only hand it on."""

from __future__ import annotations

from memsim.sources.ptx.effects import effects, registers_of
from memsim.sources.ptx.module import Instruction, Register, Vector

_BRINGING = ("ld", "ldu", "atom", "ldmatrix", "tex", "tld4", "suld")


def brings(one: Instruction) -> bool:
    """Whether later instructions wait for this one's results: loads and atomics, but those of parameters.

    Parameters lie in constant memory that instructions read as operands.
    """
    return one.name in _BRINGING and effects(one).space != "param"


def hands_on(one: Instruction) -> bool:
    """Whether an instruction vanishes as its result can stay where its operand is: a move, also of parts of a register.

    Register allocation of compilers coalesces them (Chaitin 1982); so what they copy is waited for where it is used.
    """
    return one.name == "mov" and one.type != "pred" and any(True for _ in registers_of(one.operands[1]))


def handed(one: Instruction) -> list[tuple[str, str]]:
    """Of a move: (register that gets a value, register that has it)."""
    to, of = one.operands[0], one.operands[1]
    if isinstance(of, Vector):
        return [(name, part) for name in registers_of(to) for part in registers_of(of)]
    if isinstance(of, Register) and not of.name.startswith("%tid"):
        return [(name, of.name) for name in registers_of(to)]
    return []
