"""Whether two accesses of a kernel may touch the same bytes, as far as the text tells.

What an optimizing assembler may know, and no more: the spaces that opcodes name, offsets from one register, variables
that addresses are made from. Pointers of different parameters may be the same; what is loaded by ``.nc`` nobody writes
during the kernel (PTX ISA, ld.global.nc).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memsim.sources.ptx.effects import has_result, registers_of, space_of
from memsim.sources.ptx.module import Address, Instruction, Register, Symbol
from memsim.sources.ptx.widths import width_of_access

GENERIC = "generic"
_SPACES = ("global", "shared", "local", "param", "const")
_DERIVING = ("mov", "add", "sub", "mad", "cvta", "cvt", "or")  # what makes an address of another


@dataclass(frozen=True)
class AccessOrigin:
    """Where an access goes.

    Attributes:
        space: that the opcode names, or GENERIC.
        base: the address's register and how often that was written before; None for a variable's own address.
        variable: that the address is made from; "" if none is known.
        first, last: bytes from the base, the last one not among them.
        constant: whether nobody writes there during the kernel.
    """

    space: str
    base: tuple[str, int] | None
    variable: str
    first: int
    last: int
    constant: bool


def may_meet(one: AccessOrigin, other: AccessOrigin) -> bool:
    """Whether two accesses may touch the same bytes, one of them a store."""
    if one.constant or other.constant:
        return False
    if GENERIC not in (one.space, other.space) and one.space != other.space:
        return False
    if one.variable and other.variable and one.variable != other.variable:
        return False
    same = one.base == other.base and (one.base is not None or one.variable == other.variable != "")
    return not same or one.first < other.last and other.first < one.last


class Places:
    """The places of a kernel's accesses.

    Args:
        instructions: of the whole kernel, in the order of the text.
    """

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self._variables = _variables(instructions)

    def of(self, one: Instruction, written: dict[str, int]) -> AccessOrigin | None:
        """Where an access goes; None where that is not known, so that it may meet any.

        Args:
            one: the access.
            written: how often each register was written before it.
        """
        addresses = [operand for operand in one.operands if isinstance(operand, Address)]
        if len(addresses) != 1 or addresses[0].coordinates or one.name not in ("ld", "st"):
            return None
        [address] = addresses
        base, variable = None, ""
        if isinstance(address.base, Register):
            base = address.base.name, written.get(address.base.name, 0)
            variable = self._variables.get(address.base.name) or ""
        elif isinstance(address.base, Symbol):
            variable = address.base.name
        else:
            return None
        first = address.offset + (address.base.offset if isinstance(address.base, Symbol) else 0)
        return AccessOrigin(_named_space(one), base, variable, first, first + width_of_access(one), one.has("nc"))


def _named_space(one: Instruction) -> str:
    named = space_of(one)
    return named if any(part.split("::")[0] in _SPACES for part in one.parts) else GENERIC


def _variables(instructions: Sequence[Instruction]) -> dict[str, str | None]:
    """The one variable that each register's address is made from; None where it may be made from several."""
    found: dict[str, str | None] = {}
    changed = True
    while changed:  # registers that loops write come to rest in a few rounds: each goes from nothing to one to several
        changed = False
        for one in instructions:
            if not has_result(one):
                continue
            derived = _derived(one, found) if one.name in _DERIVING else set()
            for name in registers_of(one.operands[0]):
                now = _joined(found.get(name, ""), derived)
                if found.get(name, "") != now:
                    found[name], changed = now, True
    return found


def _derived(one: Instruction, found: dict[str, str | None]) -> set[str | None]:
    named: set[str | None] = {operand.name for operand in one.operands[1:] if isinstance(operand, Symbol)}
    return named | {
        found[name] for operand in one.operands[1:] for name in registers_of(operand) if found.get(name, "") != ""
    }


def _joined(known: str | None, derived: set[str | None]) -> str | None:
    """What a register's address is made from, after another definition; "" stands for no variable."""
    every = derived | ({known} if known != "" else set())
    if not every:
        return ""
    return next(iter(every)) if len(every) == 1 else None
