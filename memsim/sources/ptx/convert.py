"""Branches turned into predicates, as the assembler does with short ones (if-conversion).

A warp none of whose lanes goes through a branch skips what is behind it. Where the assembler made predicates of the
branch, every warp issues those instructions, though for no lane.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from memsim.sources.ptx.effects import effects
from memsim.sources.ptx.flow import basic_blocks
from memsim.sources.ptx.module import Instruction, Label, Not, Register, Symbol

Body = Sequence[Instruction | Label]
# Besides all that is .sync, what lanes do together, waits or orders: never under a predicate that was a branch.
_TOGETHER = frozenset(
    ["bar", "barrier", "shfl", "vote", "activemask", "call", "cp", "mbarrier", "wgmma", "membar", "fence"]
)


def converted(body: Body, branches: Collection[int]) -> list[Instruction | Label]:
    """The body without some of its branches; what each skipped has its predicate instead.

    Args:
        branches: identities of branches, each of which skips one block. One stays whose block cannot have the
            predicate: it changes it, has predicates of its own, or does what lanes do together.

    Returns:
        the body; labels that nothing names any more are gone, so that its blocks are as long as they can be.
    """
    found: list[Instruction | Label] = []
    guards: dict[int, Register | Not] = {}
    blocks = basic_blocks(body)
    for block, skipped in zip(blocks, blocks[1:], strict=False):
        branch = block.instructions[-1] if block.instructions else None
        if branch is not None and id(branch) in branches and _can_have(skipped.instructions, branch):
            guards |= dict.fromkeys(map(id, [branch, *skipped.instructions]), _turned(branch.guard))
    gone = {id(one) for one in body if isinstance(one, Instruction) and one.name == "bra" and id(one) in guards}
    kept = [one for one in body if id(one) not in gone]
    named = {operand.name for one in kept if isinstance(one, Instruction) for operand in one.operands
             if isinstance(operand, Symbol)}  # fmt: skip
    left = {_label(one) for one in body if id(one) in gone} - named
    for one in kept:
        if isinstance(one, Instruction):
            found.append(replace(one, guard=guards[id(one)]) if id(one) in guards else one)
        elif one.name not in left:
            found.append(one)
    return found


def _can_have(skipped: Sequence[Instruction], branch: Instruction) -> bool:
    """Whether what a branch skips can have its predicate."""
    name = branch.guard.register.name if isinstance(branch.guard, Not) else getattr(branch.guard, "name", "")
    return all(one.guard is None and not _together(one) and name not in effects(one).writes for one in skipped)


def _together(one: Instruction) -> bool:
    return one.name in _TOGETHER or one.has("sync")


def _turned(guard: Register | Not | None) -> Register | Not:
    """The predicate of what a branch with this one does not skip."""
    assert guard is not None
    return guard.register if isinstance(guard, Not) else Not(guard)


def _label(one: Instruction | Label) -> str:
    """The label that a branch names."""
    to = one.operands[0] if isinstance(one, Instruction) else None
    return to.name if isinstance(to, Symbol) else ""
