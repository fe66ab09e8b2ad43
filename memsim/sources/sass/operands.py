"""Operands of machine instructions as data, from the text that ``nvdisasm`` prints."""

from __future__ import annotations

import re
from dataclasses import dataclass

_REGISTER = re.compile(r"([-~!]?)(\|?)(UR|UP|SB|R|P|B)(\d+|Z|T)((?:\.\w+)*)(\|?)((?:\.\w+)*)$")
_BANK = re.compile(r"([-~!]?)(\|?)c\[(0x[0-9a-f]+)\] ?\[(.*?)\](\|?)((?:\.\w+)*)$")
_MEMORY = re.compile(r"(?:g?desc\[(UR\d+)\])?\[(.*)\]((?:\.\w+)*)$")
_MATRICES = re.compile(r"gdesc\[UR(\d+)\]((?:\.\w+)*)$")
_HEXADECIMAL = re.compile(r"[-~]?0x[0-9a-f]+$")
_LABEL = re.compile(r"`\((.*)\)$")
_NUMBER = re.compile(r"[-+]?(\d|INF|QNAN|SNAN)")
_SPECIAL = re.compile(r"SR_\w+(\.\w+)?$|SRZ$")
ZERO_REGISTER = -1


@dataclass(frozen=True, slots=True)
class Reg:
    """A register.

    Attributes:
        file: ``R``, ``UR``, ``P``, ``UP``, ``B`` or ``SB``.
        number: -1 for RZ, URZ, PT, UPT.
        negative, absolute, inverted: what is done to its value; an inverted predicate is its complement.
        modifiers: modifiers, as ``64``, ``H0_H0``, ``X4``, ``U32``.
    """

    file: str
    number: int
    negative: bool = False
    absolute: bool = False
    inverted: bool = False
    modifiers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As in the text: R4, URZ, PT."""
        zero = "T" if self.file in ("P", "UP") else "Z"
        return f"{self.file}{zero if self.number < 0 else self.number}"


@dataclass(frozen=True, slots=True)
class Imm:
    """A constant: the value of a whole number, or bits of a floating-point one as the instruction holds them."""

    value: int
    is_float: bool = False


@dataclass(frozen=True, slots=True)
class Bank:
    """``c[number][base + offset]``: a word in a bank of constants."""

    number: int
    offset: int
    base: Reg | None = None
    negative: bool = False
    absolute: bool = False
    inverted: bool = False
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mem:
    """``[register + register + offset]``; ``descriptor`` is the register of ``desc[...]``."""

    registers: tuple[Reg, ...]
    offset: int
    descriptor: Reg | None = None
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedMatrices:
    """``gdesc[UR8]``: two matrices in shared memory.

    Attributes:
        descriptors: the first of four uniform registers, a pair for each matrix.
        modifiers: ``tnspA``, ``negB`` and the like.
    """

    descriptors: int
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelOperand:
    """A place in the code, or a symbol's address: ``32@lo(name)`` has the part ``lo``."""

    name: str


@dataclass(frozen=True, slots=True)
class Special:
    """A special register: SR_TID.X."""

    name: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """What is in no known form; whoever needs it says so."""

    text: str


SassOperand = Reg | Imm | Bank | Mem | SharedMatrices | LabelOperand | Special | Unknown


def parse_operands(text: str, word: int) -> tuple[SassOperand, ...]:
    """The operands of an instruction.

    Args:
        text: as printed.
        word: the instruction's bits, which hold the bits of floating-point constants.

    >>> parse_operands("R4, -R2.reuse, c[0x0][0x160]", 0)[1]
    Reg(file='R', number=2, negative=True, absolute=False, inverted=False, modifiers=())
    >>> parse_operands("R2, [R4.64+-0x8]", 0)[1].offset
    -8
    >>> parse_operands("c[0x0] [0x164].H0_H0", 0)[0].modifiers  # with a space in instructions on halves
    ('H0_H0',)
    >>> parse_operands("c[0x0][-0x7ffc]", 0)[0].offset
    32772
    """
    return tuple(_operand(part.strip(), word) for part in _split(text)) if text else ()


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    modifiers, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "[({") - (char in "])}")
        if char == "," and depth == 0:
            modifiers.append(text[start:at])
            start = at + 1
    return [*modifiers, text[start:]]


def _operand(text: str, word: int) -> SassOperand:
    if register := _register(text.split(" `(")[0]):  # RET has the function that it returns to behind its register
        return register
    if found := _BANK.match(text):
        base, offset = _sum(found[4])
        if len(base) > 1:
            return Unknown(text)
        sign, modifiers = found[1], _modifiers(found[6])
        base_register = base[0] if base else None
        offset = offset if base else offset & 0xFFFF  # printed as a number of 16 bits with a sign
        inverted = sign in ("~", "!")
        return Bank(int(found[3], 16), offset, base_register, sign == "-", bool(found[2]), inverted, modifiers)
    if found := _MATRICES.match(text):
        return SharedMatrices(int(found[1]), _modifiers(found[2]))
    if found := _MEMORY.match(text):
        descriptor = _register(found[1]) if found[1] else None
        registers, offset = _sum(found[2])
        return Mem(tuple(registers), offset, descriptor, _modifiers(found[3]))
    if _HEXADECIMAL.match(text):
        value = int(text.lstrip("-~"), 16)
        return Imm(-value if text[0] == "-" else ~value if text[0] == "~" else value)
    if found := _LABEL.match(text):
        return LabelOperand(found[1])
    if _SPECIAL.match(text):
        return Special(text)
    if _NUMBER.match(text):
        return Imm(word >> 32 & 0xFFFFFFFF, True)
    return Unknown(text)


def _register(text: str) -> Reg | None:
    sign, rest = ("-", text[1:]) if text.startswith("-|") else ("", text)
    found = _REGISTER.match(rest)
    if found is None:
        return None
    sign = sign or found[1]
    number = ZERO_REGISTER if found[4] in "ZT" else int(found[4])
    return Reg(found[3], number, sign == "-", bool(found[2]), sign in ("~", "!"), _modifiers(found[5] + found[7]))


def _modifiers(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(".") if part and part != "reuse")


def _sum(text: str) -> tuple[list[Reg], int]:
    """The registers and the constant of an address."""
    registers, offset = [], 0
    for part in text.split("+"):
        if register := _register(part.strip()):
            registers.append(register)
        elif _HEXADECIMAL.match(part.strip()):
            offset += int(part.strip(), 16)
        elif part.strip():
            raise ValueError(f"{text!r} is an address in an unknown form")
    return [one for one in registers if one.number != ZERO_REGISTER], offset
