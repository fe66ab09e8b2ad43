"""What travels between the levels of the oracle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Packet:
    """From an SM to a slice and back; or an invalidation."""

    kind: str  # load, bypass, atomic, store, reduction, invalidate
    line: int
    mask: int
    sm: int
    op: int
    time: int
    partial: int = 0  # sectors that a store covers in part
    transaction: Any = None
    l2_sets: list[int] = field(default_factory=list)  # of each L2 line
    place: tuple[int, int, int] = (0, 0, 0)  # channel, bank, row
    awaits: set[Any] = field(default_factory=set)


@dataclass(eq=False)
class Fetch:
    """From a slice to a channel and back."""

    time: int
    line: int
    mask: int
    op: int
    place: tuple[int, int, int]
    write: bool = False
    source: int = 0  # slice
    brings: list[Any] = field(default_factory=list)  # (way, sector)
    waiting: list[Packet] = field(default_factory=list)


@dataclass(eq=False)
class Drop:
    """From the home of a line to the slice opposite: its copy is out of date."""

    line: int
    l2_sets: list[int]
