"""Registers of a disassembled instruction, as Accel-Sim's tracer names them: those it writes, those it reads."""

from __future__ import annotations

import re
from functools import lru_cache

_INSTRUCTION = re.compile(r"\s*(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)\s*([^;]*)")
_REGISTER = re.compile(r"(?<![A-Za-z0-9_])R(\d{1,3}|Z)\b")
_PREDICATE = re.compile(r"!?U?P(\d|T)\b")
_ZERO = 255


@lru_cache(1 << 12)
def registers_of(sass: str) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """The opcode, and numbers of the registers that an instruction writes and reads; RZ is 255.

    Its result stands first, or after the predicates that atomics and shuffles write; comparisons write predicates alone
    (*CUDA Binary Utilities*, instruction set reference). Of a pair only the first register is named.

    Raises:
        ValueError: it is no instruction, or names a register that no GPU has.

    >>> registers_of("@!P0 LDG.E.64 R4, desc[UR6][R2.64+0x10] ;")
    ('LDG.E.64', (4,), (2,))
    >>> registers_of("ATOMG.E.ADD.STRONG.GPU PT, RZ, [R2], R5 ;"), registers_of("ISETP.GE.AND P0, PT, R0, R3, PT ;")
    (('ATOMG.E.ADD.STRONG.GPU', (255,), (2, 5)), ('ISETP.GE.AND', (), (0, 3)))
    """
    found = _INSTRUCTION.match(sass)
    if not found:
        raise ValueError("is not an instruction")
    opcode, operands = found[1], [operand.strip() for operand in found[2].split(",")]
    if "SETP" not in opcode:
        while len(operands) > 1 and _PREDICATE.match(operands[0]):
            operands.pop(0)
    written = _numbers(operands.pop(0)) if re.match(r"R(\d|Z)", operands[0]) else ()
    return opcode, written, _numbers(",".join(operands))


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(_ZERO if number == "Z" else int(number) for number in _REGISTER.findall(text))
    if any(number > _ZERO for number in numbers):
        raise ValueError("names a register above R254")
    return numbers
