"""SASS's instructions laid onto the PTX that they were made of: what is counted between accesses, as compiled.

The machine runs PTX, so each of its instructions is charged with what the assembler made of it. What can be matched
soundly is a loop and a source line: loops of both in their order, and in a loop the machine instructions of a line onto
the line's PTX, in order. That is refused where loops or what they access differ (the assembler unrolled one that
`unroll.py` leaves, or joined accesses that `join.py` leaves): then the estimates of
:mod:`memsim.sources.ptx.classes` stay. In what order the assembler put things
within a line, and its waits, are not taken over.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from memsim.sources.ptx.classes import tensor_work
from memsim.sources.ptx.effects import effects
from memsim.sources.ptx.flow import BasicBlock
from memsim.sources.ptx.module import Instruction, Symbol
from memsim.sources.sass.disassembly import SassInstruction
from memsim.trace.schema import INSTRUCTION_CLASSES

Charges = dict[int, dict[int, int]]  # identity of a PTX instruction -> machine instructions by class
_CONTROL = INSTRUCTION_CLASSES.index("control")
_SPACES = {"global": "G", "shared": "S", "local": "L"}
_SAME = {"ATOM": "ATOMG", "RED": "ATOMG", "REDG": "ATOMG", "REDS": "ATOMS", "LD": "LDG", "ST": "STG"}
_ACCESSES = frozenset(["LDG", "LDS", "LDL", "LDSM", "LDGSTS", "STG", "STS", "STL", "STSM", "ATOMG", "ATOMS", "BAR"])
_TARGET = re.compile(r"`\((\S+?)\)")


def charges(code: Sequence[SassInstruction], blocks: Sequence[BasicBlock]) -> Charges | str:
    """Machine instructions by class of every PTX instruction that is no access; or in one line why nothing is known.

    Args:
        code: the kernel's machine code.
        blocks: its PTX, in the order in which it is run.
    """
    laid = kinds_and_loops(code, blocks)
    return laid if isinstance(laid, str) else _laid(laid.code, laid.at_sass, laid.every, laid.at_ptx)


@dataclass(frozen=True)
class Laid:
    """A kernel's PTX and machine code whose loops have the same accesses.

    Attributes:
        every, code: the instructions of both, without what fills the end of the machine code.
        at_ptx, at_sass: the number of the loop that each is in, -1 outside.
        kinds_ptx, kinds_sass: which row each makes, in SASS's names; "" of none.
    """

    every: list[Instruction]
    code: list[SassInstruction]
    at_ptx: list[int]
    at_sass: list[int]
    kinds_ptx: list[str]
    kinds_sass: list[str]


def kinds_and_loops(code: Sequence[SassInstruction], blocks: Sequence[BasicBlock]) -> Laid | str:
    """Both codes by loop and kind of access; or in one line what the assembler changed of them."""
    every = [one for block in blocks for one in block.instructions]
    code = [one for one in _usual(code) if not _pads(one)]
    ours, theirs = _loops_of_ptx(blocks), _loops_of_sass(code)
    if len(ours) != len(theirs):
        return f"its machine code has {len(theirs)} loops, its PTX {len(ours)}"
    at_ptx, at_sass = _innermost(ours, len(every)), _innermost(theirs, len(code))
    kinds_ptx, kinds_sass = [_kind_of_ptx(one) for one in every], [_kind_of_sass(one) for one in code]
    want = Counter(key for key in zip(at_ptx, kinds_ptx, strict=True) if key[1])
    have = Counter(key for key in zip(at_sass, kinds_sass, strict=True) if key[1])
    if want != have:
        loop, kind = min(key for key in want.keys() | have.keys() if want[key] != have[key])
        where = f"in loop {loop + 1}" if loop >= 0 else "outside of loops"
        return (
            f"its machine code has {have[loop, kind]} memory instructions of kind {kind} {where}, its PTX "
            f"{want[loop, kind]}"
        )
    return Laid(every, code, at_ptx, at_sass, kinds_ptx, kinds_sass)


def target_of(one: SassInstruction) -> str:
    """The label that a branch names, "" of none."""
    found = _TARGET.search(one.operands)
    return found[1] if found else ""


def _laid(
    code: Sequence[SassInstruction], at_sass: Sequence[int], every: Sequence[Instruction], at_ptx: Sequence[int]
) -> Charges:
    """Lay every machine instruction onto one of PTX: of its loop and line if there is one, else of its loop."""
    lines: dict[tuple[int, str, int], list[Instruction]] = defaultdict(list)
    loops: dict[int, list[Instruction]] = defaultdict(list)
    for one, loop in zip(every, at_ptx, strict=True):
        if not effects(one).memory:
            lines[loop, PurePath(one.position.file).name, one.position.line].append(one)
            loops[loop].append(one)
    groups: dict[tuple[int, str, int], list[SassInstruction]] = defaultdict(list)
    for machine, loop in zip(code, at_sass, strict=True):
        if _class(machine) is not None:
            groups[loop, PurePath(machine.file).name, machine.line].append(machine)
    found: Charges = {id(one): {} for one in every}
    for key, made in groups.items():
        onto = lines.get(key) or loops.get(key[0]) or list(every)
        for number, machine in enumerate(made):
            to, kind = found[id(onto[number * len(onto) // len(made)])], _class(machine)
            assert kind is not None
            to[kind] = to.get(kind, 0) + 1
    return found


def _class(one: SassInstruction) -> int | None:
    """The class that a machine instruction counts in; None of accesses, barriers and tensor cores, which have rows."""
    if _kind_of_sass(one) or one.predicate == "@!PT":
        return None
    kind = one.kind if one.kind in INSTRUCTION_CLASSES else "control"  # constants, commits of copies
    return INSTRUCTION_CLASSES.index(kind)


def _kind_of_sass(one: SassInstruction) -> str:
    """Which row an instruction makes, "" of none; what the assembler never lets run makes none."""
    name = one.opcode.partition(".")[0]
    name = _SAME.get(name, name)
    if one.predicate == "@!PT":
        return ""
    return "tensor" if "MMA" in name else name if name in _ACCESSES else ""


def _kind_of_ptx(one: Instruction) -> str:
    """The same of PTX, in SASS's names."""
    if tensor_work(one) is not None:
        return "tensor"
    if one.name in ("bar", "barrier"):
        return "" if one.has("warp") else "BAR"
    if one.name == "cp":
        return "" if one.has("commit_group") or one.has("wait_group") or one.has("wait_all") else "LDGSTS"
    if one.name in ("ldmatrix", "stmatrix"):
        return "LDSM" if one.name == "ldmatrix" else "STSM"
    space = _SPACES.get(effects(one).space)
    if space is None or one.name not in ("ld", "st", "atom", "red"):
        return ""
    return {"ld": "LD", "st": "ST"}.get(one.name, "ATOM") + space


def _loops_of_ptx(blocks: Sequence[BasicBlock]) -> dict[int, int]:
    """Loops by the place of their first instruction: the place behind their last."""
    starts: list[int] = []
    labels: dict[str, int] = {}
    at = 0
    for block in blocks:
        starts.append(at)
        labels |= dict.fromkeys(block.labels, at)
        at += len(block.instructions)
    loops: dict[int, int] = {}
    for start, block in zip(starts, blocks, strict=True):
        last = block.instructions[-1] if block.instructions else None
        if last is None or last.name != "bra":
            continue
        for operand in last.operands:
            head = labels.get(operand.name, at) if isinstance(operand, Symbol) else at
            if head <= start:
                loops[head] = max(loops.get(head, 0), start + len(block.instructions))
    return loops


def _usual(code: Sequence[SassInstruction]) -> Iterator[SassInstruction]:
    """What runs as a rule: not the functions behind the kernel that divisions of denormals and the like call."""
    rare = False
    for one in code:
        for label in one.labels:
            rare = "slowpath" in label if label.startswith("$") else rare
        if not rare:
            yield one


def _pads(one: SassInstruction) -> bool:
    """Whether it stands behind a kernel's end: the branch to itself, and what fills the last line."""
    return one.opcode == "NOP" or one.opcode.startswith("BRA") and target_of(one) in one.labels


def _loops_of_sass(code: Sequence[SassInstruction]) -> dict[int, int]:
    """The same of machine code."""
    labels = {label: place for place, one in enumerate(code) for label in one.labels}
    loops: dict[int, int] = {}
    for place, one in enumerate(code):
        head = labels.get(target_of(one), place) if one.opcode.startswith("BRA") else place
        if head < place:
            loops[head] = max(loops.get(head, 0), place + 1)
    return loops


def _innermost(loops: dict[int, int], count: int) -> list[int]:
    """Of every instruction the number of the loop that it is in, -1 outside: of several, the one that begins last."""
    heads = sorted(loops)
    return [_last_around(heads[: bisect_right(heads, place)], loops, place) for place in range(count)]


def _last_around(heads: Iterable[int], loops: dict[int, int], place: int) -> int:
    return max((number for number, head in enumerate(heads) if place < loops[head]), default=-1)
