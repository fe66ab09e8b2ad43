"""What a capture records of a launch: its accesses, its trace, and the reply to the program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CountedLaunch:
    """A launch that has run, and how many accesses it made to global memory."""

    kernel: str
    index: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    accesses: int

    def __str__(self) -> str:
        shape = f"grid {_extents(self.grid)}, block {_extents(self.block)}"
        return f"{self.kernel}: {shape}, {self.accesses:,} accesses in launch {self.index}"


@dataclass(frozen=True)
class LaunchTrace:
    """A trace of a launch, in its temporary place; ``timed``: of one in a benchmark, in case that no other comes."""

    counted: CountedLaunch
    order: int
    path: Path
    timed: bool = False


@dataclass(frozen=True)
class LaunchReply:
    """The reply to the program about a launch; ``repeated``: it was not executed."""

    nanoseconds: int
    text: bytes
    repeated: bool = False


def _extents(extents: tuple[int, int, int]) -> str:
    x, y, z = extents
    return f"{x}x{y}x{z}" if z > 1 else f"{x}x{y}" if y > 1 else str(x)
