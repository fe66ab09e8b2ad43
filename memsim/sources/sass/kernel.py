"""A kernel as machine code: its instructions, and the cubin that they come from."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.sources.sass.disassembly import SassInstruction
from memsim.sources.sass.elf import Cubin


@dataclass(frozen=True, eq=False)
class SassKernel:
    """A kernel that can run as machine code.

    Attributes:
        name: mangled, as in the cubin.
        code: its instructions, with those of the functions that stand behind it.
        cubin: constants, memory and symbols.
    """

    name: str
    code: tuple[SassInstruction, ...]
    cubin: Cubin

    @property
    def has_copies(self) -> bool:
        """Whether it copies asynchronously, so that DEPBAR may wait for groups of copies."""
        return any(one.name == "LDGDEPBAR" for one in self.code)


class UnknownMachineCode(Exception):
    """Machine code that memsim cannot run; the message names what is unknown."""
