"""Of what power of two a register is a multiple, whatever the thread: what an assembler knows of addresses.

An analysis of known low bits over the whole kernel: a register is what its least aligned definition makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memsim.sources.ptx.effects import has_result, registers_of
from memsim.sources.ptx.module import Immediate, Instruction, Operand, Register, Symbol

MOST = 16  # log2, the most that is tracked; 0 is a multiple of anything
_SAME = ("mov", "cvta", "cvt")
_LEAST = ("add", "sub", "or", "xor", "min", "max")  # of what they take
_FLOATS = ("f16", "bf16", "f32", "f64", "f16x2", "bf16x2")


def multiples(instructions: Sequence[Instruction], symbols: Mapping[str, int]) -> dict[str, int]:
    """Registers to the log2 of a power of two that they are multiples of; those that are not in it are of 1.

    Args:
        instructions: of the whole kernel.
        symbols: where variables lie.
    """
    defined = [(one, list(registers_of(one.operands[0]))) for one in instructions if has_result(one)]
    found = {name: MOST for _, names in defined for name in names}
    changed = True
    while changed:  # from the best case down, so that what a loop adds to itself keeps its alignment
        changed = False
        for one, names in defined:
            log = _made(one, found, symbols) if len(names) == 1 else 0
            for name in names:
                if log < found[name]:
                    found[name], changed = log, True
    return found


def _made(one: Instruction, found: Mapping[str, int], symbols: Mapping[str, int]) -> int:
    """Of what the result of an instruction is a multiple."""
    if one.has(*_FLOATS) or one.has("hi"):
        return 0
    logs = [_log(operand, found, symbols) for operand in one.operands[1:]]
    if one.name in _SAME or one.name in _LEAST:
        return min(logs)
    if one.name == "and":
        return max(logs)
    if one.name == "shl" and isinstance(one.operands[2], Immediate):
        return min(MOST, logs[0] + one.operands[2].value)
    if one.name == "mul":
        return min(MOST, sum(logs))
    if one.name == "mad":
        return min(MOST, sum(logs[:2]), logs[2])
    return min(logs[:2]) if one.name == "selp" else 0


def _log(operand: Operand, found: Mapping[str, int], symbols: Mapping[str, int]) -> int:
    if isinstance(operand, Register):
        return found.get(operand.name, 0)
    if isinstance(operand, Immediate):
        return trailing(operand.value)
    if isinstance(operand, Symbol) and operand.name in symbols:
        return trailing(symbols[operand.name] + operand.offset)
    return 0


def trailing(value: int) -> int:
    """Zeros at the end of a number in base two, at most MOST.

    >>> [trailing(value) for value in (12, 1, 0, -8)]
    [2, 0, 16, 3]
    """
    return min(MOST, (value & -value).bit_length() - 1) if value else MOST
