"""Refresh and bank groups as data sheets have them, which no preset has on: what each would leave of the bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.harness.readme import markdown

Settings = Mapping[str, float]


@dataclass(frozen=True)
class Part:
    """What a kind of memory does besides: nanoseconds, and clocks of its bus."""

    refi_ns: float
    rfc_ns: float
    ccd_l: int
    wtr_l: int

    def refresh(self, clock_mhz: float) -> Settings:
        """All banks at once.

        >>> Part(3900, 260, 4, 8).refresh(1000)
        {'dram.timing.refi': 3900, 'dram.timing.rfc': 260}
        """
        clocks = {"refi": self.refi_ns, "rfc": self.rfc_ns}
        return {f"dram.timing.{name}": round(ns * clock_mhz / 1000) for name, ns in clocks.items()}

    def bank_groups(self) -> Settings:
        """Four, as both kinds have."""
        return {"dram.bank_groups": 4, "dram.timing.ccd_l": self.ccd_l, "dram.timing.wtr_l": self.wtr_l}


# Ramulator 2 (as experiments/dram records it), presets HBM2_4Gb at 2 Gbps and GDDR6_8Gb_x16 at 14 Gbps.
PARTS = {"tesla-v100": Part(3900, 260, 4, 8), "a40": Part(1900, 120, 4, 11)}


def switched(gpu: str, clock_mhz: float) -> dict[str, Settings]:
    """The settings of a board by name, the preset's own first."""
    part = PARTS[gpu]
    return {"preset": {}, "bank groups": part.bank_groups(), "refresh": part.refresh(clock_mhz)}


def table(rows: list[tuple[str, str, float, Mapping[str, float]]]) -> str:
    """GB/s: a row a board and loop, with what was measured and what each setting gives."""
    headers = ["board", "loop", "measured", *rows[0][-1]]
    return markdown(
        headers,
        [[gpu, kernel, f"{was:.0f}", *(f"{ours:.0f}" for ours in found.values())] for gpu, kernel, was, found in rows],
        left=2,
    )
