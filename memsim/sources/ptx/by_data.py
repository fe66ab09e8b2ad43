"""Which accesses of a kernel have addresses that come from loaded data, as those of lists and gathers have."""

from __future__ import annotations

from collections.abc import Sequence

from memsim.sources.ptx.effects import effects, registers_of
from memsim.sources.ptx.module import Address, Instruction

_LOADS = ("ld", "ldu", "atom", "ldmatrix", "tex", "tld4", "suld")


def addressed_by_data(instructions: Sequence[Instruction]) -> set[int]:
    """The accesses, by the identity of the instruction, whose addresses registers of loaded values lead to.

    Registers are followed as the text has them, whatever the order: too many are found rather than too few. What a
    kernel gets as a parameter is no loaded data, and memory between a store and a load is not followed.
    """
    made = [(one, effects(one)) for one in instructions]
    loaded: set[str] = set()
    size = -1
    while size != len(loaded):
        size = len(loaded)
        for one, effect in made:
            brought = one.name in _LOADS and effect.space not in ("param", "const")
            if brought or (not effect.memory and not loaded.isdisjoint(effect.reads)):
                loaded.update(effect.writes)
    return {
        id(one)
        for one, effect in made
        if effect.memory
        for operand in one.operands
        if isinstance(operand, Address) and not loaded.isdisjoint(registers_of(operand))
    }
