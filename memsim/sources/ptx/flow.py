"""Basic blocks of a kernel's body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memsim.sources.ptx.module import Instruction, Label

ENDS = ("bra", "brx", "ret", "exit", "trap")


@dataclass
class BasicBlock:
    """Instructions that run one after another: labels at their start, a branch at most at their end."""

    labels: list[str] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)


def basic_blocks(body: Sequence[Instruction | Label]) -> list[BasicBlock]:
    """A body cut at its labels and behind its branches, in the order of the text."""
    blocks = [BasicBlock()]
    for one in body:
        if isinstance(one, Label):
            if blocks[-1].instructions:
                blocks.append(BasicBlock())
            blocks[-1].labels.append(one.name)
            continue
        blocks[-1].instructions.append(one)
        if one.name in ENDS:
            blocks.append(BasicBlock())
    return blocks
