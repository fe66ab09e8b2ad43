"""Finds the tests of mbarrier phases in machine code before sm_90, which has no instruction for them."""

from __future__ import annotations

from memsim.sources.sass.disassembly import SassInstruction
from memsim.sources.sass.operands import Imm, Reg, SassOperand, parse_operands

# A test stands so many instructions at most behind the load of the word that it looks at.
_REACH = 12
_PHASE = 0x80000000


def tested_by(code: tuple[SassInstruction, ...], at: int) -> SassInstruction | None:
    """The test of an mbarrier's phase that looks at the word that a load from shared memory brings, if it does."""
    to = parse_operands(code[at].operands, code[at].word)[0]
    for one in code[at + 1 : at + 1 + _REACH]:
        if one.labels:
            return None
        if one.name == "LOP3" and _tests(one, to):
            return one
        if one.name in ("BRA", "EXIT", "CALL", "RET") or one.operands.startswith(f"{getattr(to, 'name', '')},"):
            return None
    return None


def _tests(one: SassInstruction, of: SassOperand) -> bool:
    """Whether an instruction compares bit 31 of a register: LOP3 P, RZ, word, 2^31, state, table, !PT.

    Tables are those of (word ^ state) & 2^31, and where the state is a constant of word & 2^31 and ~word & 2^31.
    """
    operands = parse_operands(one.operands, one.word)
    return (
        len(operands) == 7
        and operands[1] == Reg("R", -1)
        and isinstance(operands[2], Reg)
        and isinstance(of, Reg)
        and operands[2].number == of.number
        and operands[3] == Imm(_PHASE)
        and (operands[5] == Imm(0x48) or operands[4] == Reg("R", -1) and operands[5] in (Imm(0xC0), Imm(0x0C)))
    )
