"""Instructions by class, as the compiled code will have them: what is counted between accesses."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.sources.ptx.effects import effects
from memsim.sources.ptx.module import Instruction

CLASSES = ("integer", "fp32", "half", "fp64", "special", "conversion", "control", "shuffle")
TENSORS = ("tensor_f16", "tensor_tf32", "tensor_i8", "tensor_f8", "tensor_f64")


@dataclass(frozen=True)
class Segment:
    """Instructions that run one after another without a row of the trace between them.

    Attributes:
        counts, chains: by class of CLASSES; all of them, and those on the longest chain of dependent ones.
        tensors: instructions for tensor cores.
        macs: their multiply-accumulates by class of TENSORS, of the whole warp.
    """

    counts: tuple[int, ...] = (0,) * len(CLASSES)
    chains: tuple[int, ...] = (0,) * len(CLASSES)
    tensors: int = 0
    macs: tuple[int, ...] = (0,) * len(TENSORS)

    @property
    def gap(self) -> int:
        """All instructions."""
        return sum(self.counts) + self.tensors

    @property
    def chain(self) -> int:
        """Those on the longest chain of dependent ones."""
        return min(self.gap, max(sum(self.chains), int(self.gap > 0)))

    def __add__(self, other: Segment) -> Segment:
        return Segment(
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            tuple(a + b for a, b in zip(self.chains, other.chains, strict=True)),
            self.tensors + other.tensors,
            tuple(a + b for a, b in zip(self.macs, other.macs, strict=True)),
        )


class Counter:
    """Counts instructions into segments; equal ones are one."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._numbers: dict[Segment, int] = {}
        self._now: list[Instruction] = []

    def begin(self, instructions: list[Instruction]) -> None:
        """A basic block begins."""

    def add(self, one: Instruction) -> None:
        """Count an instruction that is no access."""
        if not effects(one).memory:
            self._now.append(one)

    def take(self) -> int:
        """The number of the segment since the last call, -1 if there was nothing."""
        segment = Segment((len(self._now), 0, 0, 0, 0, 0, 0, 0), (len(self._now), 0, 0, 0, 0, 0, 0, 0))
        self._now = []
        if segment.gap == 0:
            return -1
        if segment not in self._numbers:
            self._numbers[segment] = len(self.segments)
            self.segments.append(segment)
        return self._numbers[segment]
