"""Branches of PTX that the assembler made predicates: every warp issues what they skip, for no lane maybe."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath

from memsim.sources.ptx.compiled.counts import kinds_and_loops, target_of
from memsim.sources.ptx.effects import effects
from memsim.sources.ptx.flow import ENDS, BasicBlock
from memsim.sources.ptx.module import Instruction, Symbol
from memsim.sources.sass.disassembly import SassInstruction

Key = tuple[int, str, str, int]  # loop, kind of access, file, line


def predicated_branches(code: Sequence[SassInstruction], blocks: Sequence[BasicBlock]) -> set[int]:
    """Identities of the branches that skip one block, of which the assembler made predicates.

    An access of the block must have a predicate in machine code, and one branch less must skip it there. What cannot be
    laid onto machine code, as :func:`~memsim.sources.ptx.compiled.counts.charges` does it, is taken to be as in PTX.

    Args:
        code: the kernel's machine code.
        blocks: its PTX.
    """
    laid = kinds_and_loops(code, blocks)
    if isinstance(laid, str):
        return set()
    every, code = laid.every, laid.code
    ours: dict[Key, list[int]] = defaultdict(list)
    theirs: dict[Key, list[int]] = defaultdict(list)
    for k, (one, loop, kind) in enumerate(zip(every, laid.at_ptx, laid.kinds_ptx, strict=True)):
        if kind:
            ours[loop, kind, PurePath(one.position.file).name, one.position.line].append(k)
    for k, (machine, loop, kind) in enumerate(zip(code, laid.at_sass, laid.kinds_sass, strict=True)):
        if kind:
            theirs[loop, kind, PurePath(machine.file).name, machine.line].append(k)
    skipped, skipped_there = _skips_of_ptx(blocks), _skips_of_sass(code)
    off: set[int] = set()
    for key, places in ours.items():
        if len(theirs[key]) == len(places):
            for k, there in zip(places, theirs[key], strict=True):
                if code[there].predicate and skipped_there[there] < skipped[k]:
                    off.add(id(every[k]))
    return {id(branch) for branch, body, _ in skipping(blocks) if _all_in(body, off)}


def skipping(blocks: Sequence[BasicBlock]) -> list[tuple[Instruction, list[Instruction], list[Instruction]]]:
    """Branches with a guard that skip the one block behind them, that block's instructions, and those behind it."""
    found = []
    for (before, body), behind in zip(pairwise(blocks), blocks[2:], strict=False):
        branch = before.instructions[-1] if before.instructions else None
        if branch is None or branch.name != "bra" or branch.guard is None or body.labels or not body.instructions:
            continue
        goes_on = body.instructions[-1].name not in ENDS
        to = branch.operands[0]
        if goes_on and isinstance(to, Symbol) and to.name in behind.labels:
            found.append((branch, body.instructions, behind.instructions))
    return found


def _all_in(body: Sequence[Instruction], off: set[int]) -> bool:
    """Whether the body has accesses, and all of them are known to have a predicate."""
    accesses = [id(one) for one in body if _is_access(one)]
    return bool(accesses) and off.issuperset(accesses)


def _is_access(one: Instruction) -> bool:
    return effects(one).memory and effects(one).space != "param"


def _skips_of_ptx(blocks: Sequence[BasicBlock]) -> list[int]:
    """Of every instruction the number of branches that may skip it."""
    places = {label: k for k, block in enumerate(blocks) for label in block.labels}
    skips = [0] * len(blocks)
    for k, block in enumerate(blocks):
        last = block.instructions[-1] if block.instructions else None
        if last is not None and last.name == "bra" and last.guard is not None:
            to = last.operands[0]
            for between in range(k + 1, places.get(to.name, k) if isinstance(to, Symbol) else k):
                skips[between] += 1
    return [skips[k] for k, block in enumerate(blocks) for _ in block.instructions]


def _skips_of_sass(code: Sequence[SassInstruction]) -> list[int]:
    places = {label: k for k, one in enumerate(code) for label in one.labels}
    skips = [0] * len(code)
    for k, one in enumerate(code):
        if one.opcode.startswith("BRA") and one.predicate:
            for between in range(k + 1, places.get(target_of(one), k)):
                skips[between] += 1
    return skips
