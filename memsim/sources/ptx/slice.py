"""What must be computed: whatever feeds addresses, predicates and branches, through registers and memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memsim.sources.ptx.layout import Layout
from memsim.sources.ptx.memory import Memory
from memsim.sources.ptx.module import Instruction


@dataclass(frozen=True)
class Slice:
    """The instructions whose values matter; None: of all."""

    kept: frozenset[int] | None

    def values(self, one: Instruction) -> bool:
        """Whether what the instruction computes, loads or stores matters."""
        return self.kept is None or id(one) in self.kept


def everything(instructions: Sequence[Instruction]) -> Slice:
    """All values matter."""
    return Slice(None)


def needed(
    instructions: Sequence[Instruction], registers: dict[str, str], layout: Layout, memory: Memory, fixed: dict[str, int]
) -> Slice:
    """The slice."""
    return Slice(None)
