"""How many loops there are and have been compiled, for the message while that happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class LoopCounts:
    """Of this process."""

    made: int = 0  # loops and the functions within them
    when_compiled: list[Callable[[], None]] = field(default_factory=list)  # called after each compilation
    reported: bool = False  # whether a message has said that it takes long


counts = LoopCounts()
