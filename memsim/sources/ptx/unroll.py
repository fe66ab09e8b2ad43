"""Loops of few rounds, whose number the code tells, written out as the assembler does.

LLVM leaves loops rolled that ptxas unrolls whole: those of one block whose counter begins, steps and ends at constants.
Up to which size is not documented; the bounds here hold in ptxas 13.0's code of loops of 8 to 136 instructions with 2
to 100 rounds (tests/sources/ptx/test_ptx_unroll.py), as does which instructions keep a loop rolled. It also writes out
some rounds of longer loops; memsim does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memsim.sources.ptx.effects import effects, has_result, registers_of
from memsim.sources.ptx.module import Address, Immediate, Instruction, Label, Not, Operand, Register, Symbol, Vector

Body = Sequence[Instruction | Label]
MOST = 320  # instructions of all rounds
SHORT, MOST_OF_SHORT = 12, 768  # of loops of so few instructions
LONGEST = 100  # instructions of a round
MOST_OF_KERNEL = 3072  # instructions written out, assumed: memsim's own time grows as the square of a block's accesses
_UNKNOWN = frozenset(["brx", "ret", "exit", "trap", "call", "hostcall", "wgmma"])
_TOGETHER = frozenset(["shfl", "vote", "match", "redux", "membar", "fence"])  # keep a loop rolled, as do those below
_BY_FUNCTIONS = frozenset(["div", "rem", "sqrt", "rcp"])  # that ptxas calls or branches in, unless they may be rough
_ROUNDED = ("rn", "rz", "rm", "rp", "u64", "s64")
_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__,
}  # fmt: skip
_INTEGERS = frozenset(f"{sign}{bits}" for sign in "su" for bits in (16, 32, 64))


def unrolled(body: Body, registers: Mapping[str, str]) -> tuple[list[Instruction | Label], dict[str, str]]:
    """The body with such loops written out.

    Args:
        registers: name -> type.

    Returns:
        the body, and the registers with those that rounds have of their own.
    """
    found: list[Instruction | Label] = []
    own = dict(registers)
    named = Counter(
        to.name for one in body if isinstance(one, Instruction) for to in one.operands if isinstance(to, Symbol)
    )
    reads = Counter(name for one in body if isinstance(one, Instruction) for name in effects(one).reads)
    at, written = 0, 0
    while at < len(body):
        loop = _loop(body, at)
        rounds = _rounds(found, loop) if loop and named[loop.label] == 1 else 0
        length = len(loop.inside) if loop else 0
        if loop and rounds > 0 and _is_small(length, rounds) and written + length * rounds <= MOST_OF_KERNEL:
            written += length * rounds
            loop.inside = _without_test(loop, reads)
            for number in range(rounds):
                found += _round(loop, f"#{at}.{number}" if number < rounds - 1 else "", own)
            at += length + 2
        else:
            found.append(body[at])
            at += 1
    return found, own


@dataclass
class _Loop:
    """A label, what is done in a round, and the branch back."""

    label: str
    inside: Sequence[Instruction]
    branch: Instruction
    names: dict[str, str]  # of this round's registers, where they are its own


def _loop(body: Body, at: int) -> _Loop | None:
    """The loop of one block that begins at a label."""
    first = body[at]
    if not isinstance(first, Label) or first.rolled:
        return None
    for end in range(at + 1, min(len(body), at + LONGEST + 2)):
        one = body[end]
        if (
            isinstance(one, Label)
            or one.name in _UNKNOWN
            or _keeps_rolled(one)
            or (one.guard is not None and one.name != "bra" and has_result(one))
        ):
            return None
        if one.name == "bra":
            back = [to.name for to in one.operands if isinstance(to, Symbol)] == [first.name] and one.guard is not None
            inside = [each for each in body[at + 1 : end] if isinstance(each, Instruction)]
            return _Loop(first.name, inside, one, {}) if back else None
    return None


def _keeps_rolled(one: Instruction) -> bool:
    """Whether ptxas leaves loops as they are that have this instruction: it waits for a warp, or becomes a function."""
    if one.name in ("bar", "barrier"):
        return one.has("warp") or one.name == "barrier" and not one.has("aligned")
    return one.name in _TOGETHER or one.name in _BY_FUNCTIONS and one.has(*_ROUNDED)


def _without_test(loop: _Loop, reads: Mapping[str, int]) -> list[Instruction]:
    """What is left of a round whose branch is gone: no test that decided on it alone."""
    decides = set(registers_of(loop.branch.guard)) if loop.branch.guard is not None else set()
    return [
        one
        for one in loop.inside
        if not (set(effects(one).writes) & decides and all(reads[name] == 1 for name in decides))
    ]


def _is_small(instructions: int, rounds: int) -> bool:
    return instructions * rounds <= (MOST_OF_SHORT if instructions <= SHORT else MOST)


def _rounds(before: Body, loop: _Loop) -> int:
    """How many rounds a loop has behind what comes before it; 0 where the code does not tell."""
    guard = loop.branch.guard
    decides = next(iter(registers_of(guard))) if guard is not None else ""
    test = _only_writer(loop.inside, decides)
    if test is None or not _is_plain(test):
        return 0
    to, left, right = test.operands
    if not isinstance(to, Register) or not isinstance(left, Register) or not isinstance(right, Immediate):
        return 0  # `%p1|%p2` has two results
    step = _only_writer(loop.inside, left.name)
    added = _added(step, test.type[1:]) if step is not None else None
    begin = _begins(before, left.name)
    if step is None or added is None or begin is None:
        return 0
    value, late = begin, list(loop.inside).index(test) < list(loop.inside).index(step)
    for done in range(1, MOST_OF_SHORT + 1):
        compared = _of_type(value if late else value + added, test.type)
        value += added
        if _COMPARED[test.parts[1]](compared, _of_type(right.value, test.type)) == isinstance(guard, Not):
            return done
    return 0


def _is_plain(test: Instruction) -> bool:
    """Whether an instruction compares two integers, and no more."""
    return (
        test.name == "setp"
        and len(test.parts) == len(test.operands) == 3
        and test.parts[1] in _COMPARED
        and test.type in _INTEGERS
    )


def _of_type(value: int, kind: str) -> int:
    """A number as a register of a type has it.

    >>> _of_type(-8, "u32"), _of_type(0xFFFFFFFF, "s32")
    (4294967288, -1)
    """
    bits = int(kind[1:])
    half = 1 << (bits - 1) if kind[0] == "s" else 0
    return (value + half) % (1 << bits) - half


def _only_writer(instructions: Sequence[Instruction], name: str) -> Instruction | None:
    writers = [one for one in instructions if name in effects(one).writes]
    return writers[0] if len(writers) == 1 and writers[0].guard is None else None


def _added(step: Instruction, bits: str) -> int | None:
    """What an instruction adds to its own result of so many bits, going round at the end."""
    if step.name != "add" or len(step.operands) != 3 or step.type not in (f"s{bits}", f"u{bits}") or step.has("sat"):
        return None
    to, *rest = step.operands
    numbers = [one.value for one in rest if isinstance(one, Immediate) and not one.float_bits]
    return numbers[0] if to in rest and len(numbers) == 1 else None


def _begins(before: Body, name: str) -> int | None:
    """The constant in a register behind straight code."""
    for one in reversed(before):
        if isinstance(one, Label) or one.name in _UNKNOWN or one.name == "bra":
            return None
        if name in effects(one).writes:
            value = one.operands[-1] if one.name == "mov" and one.guard is None else None
            return value.value if isinstance(value, Immediate) and not value.float_bits else None
    return None


def _round(loop: _Loop, suffix: str, registers: dict[str, str]) -> list[Instruction]:
    """One round, whose results have names of their own but in the last one."""
    found = []
    for one in loop.inside:
        names = loop.names
        if has_result(one):
            sources = tuple(_named(operand, names) for operand in one.operands[1:])
            for name in registers.keys() & effects(one).writes:  # one that is not declared is reported where it is met
                loop.names = {**loop.names, name: name + suffix}
                registers[name + suffix] = registers[name]
            operands = (_named(one.operands[0], loop.names), *sources)
        else:
            operands = tuple(_named(operand, names) for operand in one.operands)
        guard = one.guard if one.guard is None else _named(one.guard, names)
        assert guard is None or isinstance(guard, Register | Not)
        found.append(replace(one, operands=operands, guard=guard))
    return found


def _named(operand: Operand, names: Mapping[str, str]) -> Operand:
    """An operand with the registers of a round."""
    if isinstance(operand, Register):
        return Register(names.get(operand.name, operand.name))
    if isinstance(operand, Not):
        return Not(Register(names.get(operand.register.name, operand.register.name)))
    if isinstance(operand, Vector):
        return Vector(tuple(_named(part, names) for part in operand.parts))
    if isinstance(operand, Address):
        base = _named(operand.base, names)
        assert isinstance(base, Register | Symbol | Immediate)
        return replace(operand, base=base, coordinates=tuple(_named(part, names) for part in operand.coordinates))
    return operand
