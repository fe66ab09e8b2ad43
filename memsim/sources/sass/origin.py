"""What the trace and messages say of a machine instruction: its text, its place in the source, what it accesses."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.sources.ptx.module import Not, Register, SourcePosition
from memsim.sources.sass.disassembly import SassInstruction


@dataclass(frozen=True, eq=False)
class SassOrigin:
    """A machine instruction as the origin of micro-ops, with the names that an instruction of PTX has.

    Attributes:
        one: the instruction.
        guard: the predicate it runs under, None for always.
        position: in the source.
    """

    one: SassInstruction
    guard: Register | Not | None
    position: SourcePosition

    @property
    def name(self) -> str:
        return self.one.name

    @property
    def text(self) -> str:
        """The opcode with its modifiers."""
        return self.one.opcode

    @property
    def line(self) -> int:
        """The address, in bytes from the kernel's start."""
        return self.one.address


def position_of(one: SassInstruction) -> SourcePosition:
    """The place in the source, with those of the callers that it is inlined into."""
    caller = None
    for file, line in reversed(one.callers):
        caller = SourcePosition(file, line, 0, caller)
    return SourcePosition(one.file, one.line, 0, caller)
