"""Instructions of formats other than Accel-Sim's, as lines of its traces: those are what the compiled reader reads."""

from __future__ import annotations

from typing import NamedTuple

from memsim.sources.imported.sass import Where, decode
from memsim.trace.schema import OpKind

_LONG, _SHORT = 4, 5  # registers that stand for any load before, of memory and of shared memory
_COPIES = "0000 ffffffff 0 DEPBAR 0 0"


class Step(NamedTuple):
    """An instruction of a warp.

    Attributes:
        pc: in hexadecimal.
        lanes: those that take part.
        opcode: as disassembled.
        written, read: registers.
        access: bytes, address mode and addresses; ``0`` without an access.
    """

    pc: str
    lanes: int
    opcode: str
    written: tuple[int, ...]
    read: tuple[int, ...]
    access: str

    def line(self) -> str:
        """The instruction as a line of an Accel-Sim trace."""
        return f"{self.pc} {self.lanes:08x} {_named(self.written)} {self.opcode} {_named(self.read)} {self.access}"

    def waiting_for_all(self) -> list[str]:
        """The same, waiting for every load before it, and waited for by all that come after."""
        does = decode(self.opcode)
        register = _SHORT if does.where in (Where.shared, Where.constant) else _LONG
        written = (register,) if does.kind in (OpKind.load, OpKind.atomic) else ()
        return [_COPIES, self._replace(written=written, read=(_LONG, _SHORT)).line()]


def _named(registers: tuple[int, ...]) -> str:
    return " ".join([str(len(registers)), *(f"R{register}" for register in registers)])
