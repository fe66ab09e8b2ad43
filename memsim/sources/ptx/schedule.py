"""In which order the assembler issues the instructions of a basic block."""

from __future__ import annotations

from memsim.sources.ptx.module import Instruction


def scheduled(instructions: list[Instruction]) -> list[Instruction]:
    """The instructions of a basic block in the order in which they are issued."""
    return instructions
