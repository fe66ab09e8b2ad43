"""What is known so far of a GPU that is calibrated, as values of the model with their sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from memsim.gpu import board, presets
from memsim.gpu.config import GPU
from memsim.gpu.presets import Provenance
from memsim.support.errors import InputError

Found = TypeVar("Found")
Point = tuple[int, float]  # bytes of a list, mean latency of an access in its second lap; or blocks, bytes per cycle


@dataclass
class Calibration:
    """What was found so far.

    Attributes:
        base: the preset or path that states the rest.
        source: what every value's source begins with: who measured what, and when.
        values: field of the model -> value.
        left: why a group of values is still the base's, a sentence each.
        curve: latency against the length of a list.
        rates: "l2" and "dram" -> bytes per cycle against the number of blocks.
        interrupted: whether the measurement was ended before everything was found.
    """

    base: str
    source: str
    values: dict[str, Provenance] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    curve: list[Point] = field(default_factory=list)
    rates: dict[str, list[Point]] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def gpu(self) -> GPU:
        """The GPU as far as it is known."""
        return presets.inheriting(self.base, self.values, self.source)

    def take(self, found: Mapping[str, Any], how: str, status: str = "measured") -> None:
        """Take values over if they are possible together; else say why not."""
        source, clock = f"{self.source}: {how}", self.gpu.sm.clock_mhz
        added = {name: board.sourced(name, of, source, status, clock) for name, of in found.items()}
        try:
            presets.inheriting(self.base, self.values | added, how)
        except InputError as error:
            self.left.append(f"{', '.join(found)}: {error}")
        else:
            self.values |= added

    def tried(self, what: str, search: Callable[[], Found]) -> Found | None:
        """What a search finds, or None and why."""
        try:
            return search()
        except RuntimeError as error:  # of answers that do not fit the model
            self.left.append(f"{what}: {error}")
            return None


def curves_csv(known: Calibration) -> str:
    """All curves: which, at how many bytes or blocks, and the cycles or bytes per cycle there.

    >>> print(curves_csv(Calibration("a100", "here", curve=[(128, 33.04)], rates={"l2": [(2, 128.0)]})), end="")
    curve,at,value
    latency_cycles_by_list_bytes,128,33.0
    l2_bytes_a_cycle_by_blocks,2,128.0
    """
    curves = {"latency_cycles_by_list_bytes": known.curve}
    curves |= {f"{level}_bytes_a_cycle_by_blocks": points for level, points in known.rates.items()}
    rows = (f"{name},{at},{value:.1f}\n" for name, points in curves.items() for at, value in points)
    return "curve,at,value\n" + "".join(rows)
