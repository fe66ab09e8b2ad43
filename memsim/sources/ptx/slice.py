"""What must be computed: whatever feeds addresses, predicates of accesses and branches, through registers and memory.

A backward slice (Weiser 1984) that asks neither for the order of instructions nor for paths: a register is needed or
it is not. Memory is distinguished by space, and global memory by the arrays that an address may point into.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memsim.sources.ptx.effects import Effects, effects
from memsim.sources.ptx.layout import KernelLayout
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.module import Address, Immediate, Instruction, Operand, Register, Symbol

Places = frozenset[str]  # names of regions; empty: unknown, anywhere


@dataclass(frozen=True)
class NeededValues:
    """The instructions whose values matter; None: of all."""

    needed: frozenset[int] | None

    def values(self, one: Instruction) -> bool:
        """Whether what the instruction computes, loads or stores matters."""
        return self.needed is None or id(one) in self.needed


def everything(instructions: Sequence[Instruction]) -> NeededValues:
    """All values matter."""
    return NeededValues(None)


def needed(instructions: Sequence[Instruction], layout: KernelLayout, memory: DeviceMemory) -> NeededValues:
    """The instructions of a kernel whose values addresses and branches depend on."""
    return _Slicing(instructions, layout, memory).run()


class _Slicing:
    """The state: registers that are needed, instructions that write them, memory that is read for them."""

    def __init__(self, instructions: Sequence[Instruction], layout: KernelLayout, memory: DeviceMemory) -> None:
        self._effects = [(one, effects(one)) for one in instructions]
        self._origins = Origins(instructions, layout, memory)
        self._writers: dict[str, list[tuple[Instruction, Effects]]] = {}
        self._stores: list[tuple[Instruction, Effects]] = []
        for one, effect in self._effects:
            for name in effect.writes:
                self._writers.setdefault(name, []).append((one, effect))
            if effect.stores:
                self._stores.append((one, effect))
        self._needed: set[int] = set()
        self._registers: set[str] = set()
        self._work: list[str] = []

    def run(self) -> NeededValues:
        for one, effect in self._effects:
            if steers(one):
                self._add(one, effect)
            self._need(effect.steers)
        while self._work:
            for one, effect in self._writers.get(self._work.pop(), ()):
                self._add(one, effect)
        return NeededValues(frozenset(self._needed))

    def _need(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self._registers:
                self._registers.add(name)
                self._work.append(name)

    def _add(self, one: Instruction, effect: Effects) -> None:
        """An instruction's values matter: so do all that it reads, and what may be stored where it reads."""
        if id(one) in self._needed:
            return
        self._needed.add(id(one))
        self._need(effect.reads)
        space = read_space(one, effect)
        if space:
            where = self._origins.of(one)
            for store, stored in self._stores:
                if may_meet(space, where, stored.space, self._origins.of(store)):
                    self._add(store, stored)


def steers(one: Instruction) -> bool:
    """Whether an instruction's values say which way threads go, whoever reads them: barriers in memory, flags."""
    return one.name == "mbarrier" or (one.name == "ld" and one.has("volatile", "acquire", "mmio"))


def read_space(one: Instruction, effect: Effects) -> str:
    """The space that an instruction reads values from, "" for none.

    The objects of mbarrier are nobody's else; what arrives at them is always counted. A copy reads where it copies
    from.
    """
    if not effect.memory or one.name in ("st", "stmatrix", "sust", "mbarrier") or effect.space in ("param", "const"):
        return ""
    if one.name == "cp":
        spaces = [part.split("::")[0] for part in one.opcode if part.split("::")[0] in ("shared", "global")]
        return spaces[-1] if spaces else ""
    return effect.space


def may_meet(a: str, places_a: Places, b: str, places_b: Places) -> bool:
    """Whether accesses of two spaces may be of the same memory."""
    generic = "global"  # generic addresses, too
    if a != b and generic not in (a, b):
        return False
    return not places_a or not places_b or bool(places_a & places_b)


class Origins:
    """The arrays that addresses may point into: those that the parameters they are computed from point into."""

    def __init__(self, instructions: Sequence[Instruction], layout: KernelLayout, memory: DeviceMemory) -> None:
        self._layout, self._memory = layout, memory
        self._of: dict[str, Places] = {}
        changed = True
        while changed:
            changed = False
            for one in instructions:
                effect = effects(one)
                found = self._result(one, effect)
                for name in effect.writes:
                    if not found <= self._of.get(name, frozenset()):
                        self._of[name] = self._of.get(name, frozenset()) | found
                        changed = True

    def of(self, one: Instruction) -> Places:
        """Where an access may go; unknown if any part of its address is a pointer that was loaded, or none is known."""
        found: Places = frozenset()
        space = effects(one).space
        for number, operand in enumerate(one.operands):
            copies = one.name == "cp"
            if not isinstance(operand, Address) or copies and number > 1:
                continue
            shared = (space == "shared") == (number == 0) if copies else space == "shared"
            spaces = frozenset(["#shared"]) if shared else self._operand(operand.base)
            if not spaces or ANYWHERE in spaces:
                return frozenset()
            found |= spaces
        return found

    def _operand(self, operand: Operand) -> Places:
        if isinstance(operand, Register):
            return self._of.get(operand.name, frozenset())
        if isinstance(operand, Symbol):
            return self._region(self._layout.symbols.get(operand.name, 0))
        return frozenset()

    def _region(self, address: int) -> Places:
        region = self._memory.region_at(address)
        return frozenset([f"{region.name}@{region.address}"]) if region else frozenset()

    def _result(self, one: Instruction, effect: Effects) -> Places:
        if one.name in ("ld", "ldu", "atom"):
            if effect.space != "param":
                return frozenset([ANYWHERE]) if one.type.endswith("64") else frozenset()
            return self._parameter(one)
        found: Places = frozenset()
        for operand in one.operands[1:]:
            found |= self._operand(operand)
            for part in getattr(operand, "elements", ()):
                found |= self._operand(part)
        return found

    def _parameter(self, one: Instruction) -> Places:
        """Where a parameter points, if it is 64 bits at a known place."""
        address = one.operands[1]
        if not isinstance(address, Address) or not isinstance(address.base, Symbol | Immediate):
            return frozenset([ANYWHERE])
        first = self._layout.symbols.get(getattr(address.base, "name", ""), 0) + address.offset
        if not one.type.endswith("64"):
            return frozenset()
        found: Places = frozenset()
        count = next((int(part[1:]) for part in one.opcode if part in ("v2", "v4")), 1)
        for at in range(first, first + 8 * count, 8):
            found |= self._region(int.from_bytes(bytes(self._layout.parameters[at : at + 8]), "little"))
        return found


ANYWHERE = "?"
