"""What an instruction reads and writes: registers, memory; the same for slicing, scheduling and waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memsim.sources.ptx.module import Address, Instruction, Not, Operand, Register, Vector

# Instructions whose first operand is no result.
NO_RESULT = frozenset(
    [
        "st",
        "red",
        "bra",
        "brx",
        "ret",
        "exit",
        "bar",
        "barrier",
        "membar",
        "fence",
        "cp",
        "prefetch",
        "prefetchu",
        "trap",
        "brkpt",
        "call",
        "nanosleep",
        "griddepcontrol",
        "discard",
        "applypriority",
        "setmaxnreg",
        "stmatrix",
        "sust",
        "pmevent",
        "tensormap",
        "multimem",
        "stackrestore",
    ]
)
_LOADS = frozenset(["ld", "ldu", "ldmatrix", "tex", "tld4", "suld"])
_ATOMICS = frozenset(["atom", "red"])
CARRY = "#carry"  # the flag of add.cc, addc and their like
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
        for part in operand.parts:
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
        spaces = [part.split("::")[0] for part in one.parts if part.split("::")[0] in ("shared", "global")]
        return spaces[0] if spaces else "shared"
    for space in ("shared", "local", "param", "const"):
        if any(part == space or part.startswith(f"{space}::") for part in one.parts):
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
    if one.name in ("addc", "subc", "madc"):
        reads.append(CARRY)
    if result and (guard or one.name == "wgmma"):
        reads += writes
    if one.name in CARRIED:
        reads.append(CARRY)
    if one.has("cc"):
        writes += (CARRY,)
    memory = one.name in ADDRESSED
    addresses = [name for operand in one.operands if isinstance(operand, Address) for name in registers_of(operand)]
    steers = [*addresses, *guard] if memory else []
    if one.name in ("bra", "brx", "ret", "exit", "trap"):
        steers = reads
    if one.name in ("bar", "barrier"):
        steers = reads if not one.has("red") else [*guard]
    if one.name in ("cp", "mbarrier", "tex", "tld4"):
        steers = reads
    if one.name == "call":
        steers = reads
    stores = one.name in ("st", "red", "atom", "stmatrix", "sust", "cp", "mbarrier", "multimem")
    fence = one.name in (
        "hostcall",
        "bar",
        "barrier",
        "membar",
        "fence",
        "call",
        "griddepcontrol",
        "wgmma",
        "nanosleep",
        "trap",
    )
    ordered = (
        fence or one.name in ("atom", "red", "mbarrier") or one.name == "cp" or one.has("volatile", "acquire", "mmio")
    )
    ordered = ordered or one.has("release", "relaxed") and memory
    return Effects(tuple(writes), tuple(reads), tuple(steers), memory, stores, ordered, space_of(one) if memory else "")
