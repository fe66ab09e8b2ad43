"""What an instruction reads and writes: registers, memory; the same for slicing, scheduling and waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memsim.sources.ptx.module import Address, Instruction, Not, Operand, Register, Vector

# Instructions whose first operand is no result.
NO_RESULT = frozenset((
    "st", "red", "bra", "brx", "ret", "exit", "bar", "barrier", "membar", "fence", "cp", "prefetch", "prefetchu",
    "trap", "brkpt", "call", "nanosleep", "griddepcontrol", "discard", "applypriority", "setmaxnreg", "stmatrix",
    "sust", "pmevent", "tensormap", "multimem", "stackrestore",
))  # fmt: skip
_LOADS = frozenset(["ld", "ldu", "ldmatrix", "tex", "tld4", "suld"])
_ATOMICS = frozenset(["atom", "red"])
LOADING = ("ld", "ldu", "atom", "ldmatrix", "tex", "tld4", "suld")  # later instructions wait for what these load
_FENCES = frozenset((
    "hostcall", "bar", "barrier", "membar", "fence", "call", "griddepcontrol", "wgmma", "nanosleep", "trap",
    "tensormap",
))  # fmt: skip
ADDRESSED = (
    _LOADS
    | _ATOMICS
    | frozenset(["st", "stmatrix", "sust", "cp", "mbarrier", "prefetch", "prefetchu", "wgmma", "multimem"])
)


@dataclass(frozen=True)
class Effects:
    """What one instruction does.

    Attributes:
        writes, reads: registers; ``reads`` has addresses, guards and old values of guarded results, too.
        steers: those of ``reads`` that addresses, guards and choices of the way need, whatever the values are.
        memory: whether it touches memory.
        stores: whether it changes memory.
        ordered: whether no access may move past it (barriers, fences, atomics, volatile accesses).
        space: of the access: ``global`` (generic ones, too), ``shared``, ``local``, ``param``, ``const``; "" for none.
    """

    writes: tuple[str, ...]
    reads: tuple[str, ...]
    steers: tuple[str, ...]
    memory: bool
    stores: bool
    ordered: bool
    space: str


def registers_of(operand: Operand) -> Iterator[str]:
    """The registers in an operand, those of addresses and lists, too."""
    if isinstance(operand, Register):
        if operand.name != "_":
            yield operand.name
    elif isinstance(operand, Not):
        yield operand.register.name
    elif isinstance(operand, Vector):
        for part in operand.elements:
            yield from registers_of(part)
    elif isinstance(operand, Address):
        yield from registers_of(operand.base)
        for part in operand.coordinates:
            yield from registers_of(part)


def has_result(one: Instruction) -> bool:
    """Whether the first operand is where a result goes."""
    if one.name in NO_RESULT or not one.operands:
        return one.name == "bar" and one.has("red") or one.name == "barrier" and one.has("red")
    if one.name == "mbarrier":
        return not isinstance(one.operands[0], Address)
    if one.name == "wgmma":
        return one.has("mma_async")
    return True


def space_of(one: Instruction) -> str:
    """Where an access goes, as its modifiers say; of a copy, where it copies to."""
    if one.name == "cp":
        spaces = [part.split("::")[0] for part in one.opcode if part.split("::")[0] in ("shared", "global")]
        return spaces[0] if spaces else "shared"
    for space in ("shared", "local", "param", "const"):
        if any(part == space or part.startswith(f"{space}::") for part in one.opcode):
            return space
    return "global"


CARRIED = ("addc", "subc", "madc")
CARRY = "%carry"  # the condition code, which instructions with .cc write


@lru_cache(maxsize=1 << 16)
def effects(one: Instruction) -> Effects:
    """What an instruction does; see :class:`Effects`."""
    result = has_result(one)
    writes = tuple(registers_of(one.operands[0])) if result else ()
    sources = one.operands[1:] if result else one.operands
    guard = tuple(registers_of(one.guard)) if one.guard is not None else ()
    reads = [name for operand in sources for name in registers_of(operand)] + list(guard)
    if one.has("cc"):
        writes += (CARRY,)
    if one.name in CARRIED:
        reads.append(CARRY)
    if result and (guard or one.name == "wgmma"):
        reads += writes
    memory = one.name in ADDRESSED
    addresses = [name for operand in one.operands if isinstance(operand, Address) for name in registers_of(operand)]
    steers = [*addresses, *guard] if memory else []
    if one.name in ("bra", "brx", "ret", "exit", "trap"):
        steers = reads
    if one.name in ("bar", "barrier"):
        steers = reads if not one.has("red") else [*guard]
    if one.name in ("cp", "mbarrier", "tex", "tld4", "tensormap", "call"):
        steers = reads
    stores = one.name in ("st", "red", "atom", "stmatrix", "sust", "cp", "mbarrier", "multimem")
    ordered = (
        one.name in _FENCES
        or one.name in ("atom", "red", "mbarrier", "cp")
        or one.has("volatile", "acquire", "mmio")
        or (one.has("release", "relaxed") and memory)
    )
    return Effects(tuple(writes), tuple(reads), tuple(steers), memory, stores, ordered, space_of(one) if memory else "")


def loads_data(one: Instruction) -> bool:
    """Whether later instructions wait for this one's results: loads and atomics, but those of parameters.

    Parameters lie in constant memory that instructions read as operands.
    """
    return one.name in LOADING and effects(one).space != "param"


def is_register_copy(one: Instruction) -> bool:
    """Whether an instruction vanishes as its result can stay where its operand is: a move, also of bits of a register.

    Register allocation of compilers coalesces them (Chaitin 1982); so what they copy is waited for where it is used.
    """
    return one.name == "mov" and one.type != "pred" and any(True for _ in registers_of(one.operands[1]))


def copied_registers(one: Instruction) -> list[tuple[str, str]]:
    """Of a move: (register that gets a value, register that has it)."""
    to, of = one.operands[0], one.operands[1]
    if isinstance(of, Vector):
        return [(name, source) for name in registers_of(to) for source in registers_of(of)]
    if isinstance(of, Register) and not of.name.startswith("%tid"):
        return [(name, of.name) for name in registers_of(to)]
    return []


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
            loads = one.name in LOADING and effect.space not in ("param", "const")
            if loads or (not effect.memory and not loaded.isdisjoint(effect.reads)):
                loaded.update(effect.writes)
    return {
        id(one)
        for one, effect in made
        if effect.memory
        for operand in one.operands
        if isinstance(operand, Address) and not loaded.isdisjoint(registers_of(operand))
    }
