"""What an instruction charges before it runs, and what it waits for; the machine's rows get both.

The front end asks one object for each instruction, in the order of the code. This one counts instructions by class
between those that may log a row, and has an instruction wait for the loads that set the scoreboards of its wait mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memsim.sources.ptx.classes import Segment
from memsim.sources.sass.disassembly import NO_SCOREBOARD, SassInstruction
from memsim.trace.schema import INSTRUCTION_CLASSES, LINKS, TENSOR_TYPES

_CLASS = {name: k for k, name in enumerate(INSTRUCTION_CLASSES)}
_LOADS = ("LD", "LDG", "LDS", "LDL", "LDC", "ATOM", "ATOMG", "ATOMS", "LDSM")
_LOGS = (*_LOADS, "ST", "STG", "STS", "STL", "RED", "REDG", "STSM", "LDGSTS", "BAR", "DEPBAR", "LDGDEPBAR", "SYNCS")
_ENDS = ("BRA", "BRX", "RET", "EXIT", "CALL", "BSYNC", "KILL", "WARPSYNC")
SCOREBOARDS = 6


@dataclass(frozen=True)
class Charge:
    """What stands before an instruction.

    Attributes:
        segment: number of the instructions since the last charge; -1 for none.
        uses: registers whose loads it waits for; ``SB0`` stands for the last load that set scoreboard 0.
    """

    segment: int = -1
    uses: tuple[str, ...] = ()


class Timing(Protocol):
    """What the front end asks while it lowers a kernel."""

    segments: list[Segment]

    def before(self, one: SassInstruction) -> Charge:
        """What the first micro-op of an instruction charges and waits for."""

    def boundary(self) -> Charge:
        """What is charged where a block ends because a label follows."""

    def scoreboard(self, one: SassInstruction) -> str:
        """The register that stands for what the instruction brings; empty where nothing may wait for it."""


class CountedTiming:
    """Counts by class, and waits by scoreboard."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._numbers: dict[Segment, int] = {}
        self._now: list[SassInstruction] = []

    def before(self, one: SassInstruction) -> Charge:
        logs, ends = one.name in _LOGS, one.name in _ENDS
        uses = tuple(f"SB{k}" for k in range(SCOREBOARDS) if one.waits >> k & 1)
        if not logs:
            self._now.append(one)
        return Charge(self._take() if logs or ends or uses else -1, uses)

    def boundary(self) -> Charge:
        return Charge(self._take())

    def scoreboard(self, one: SassInstruction) -> str:
        return f"SB{one.sets}" if one.name in _LOADS and one.sets != NO_SCOREBOARD else ""

    def _take(self) -> int:
        if not self._now:
            return -1
        counts, tensors = [0] * len(INSTRUCTION_CLASSES), 0
        for one in self._now:
            if one.kind == "tensor":
                tensors += 1
            else:
                counts[_CLASS.get(one.kind, _CLASS["control"])] += 1
        chains = [*counts, *(0 for _ in LINKS[len(INSTRUCTION_CLASSES) :])]
        segment = Segment(tuple(counts), tuple(chains), tensors, (0,) * len(TENSOR_TYPES))
        self._now = []
        if segment not in self._numbers:
            self._numbers[segment] = len(self.segments)
            self.segments.append(segment)
        return self._numbers[segment]
