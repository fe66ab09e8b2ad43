"""The declaration of the cache levels between L2 and DRAM: parameters, counters, laws, figures of merit.

Such a level caches what memory holds, whoever asks for it, and keeps no data that memory lacks (AMD CDNA 3 white paper,
"AMD Infinity Cache"). Every field is a list with one entry per level, the level next to L2 first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import Field

from memsim.gpu.choices import IndexHash, Replacement
from memsim.gpu.component import Component, ComponentCounter, ComponentLaw, ComponentRatio, Counts
from memsim.gpu.section import Section

NAMES = ("l3", "l4")  # of the levels, in counters


@dataclass(frozen=True)
class MemorySideLevel:
    """One level; its attributes are the fields of :class:`MemorySide`."""

    name: str
    size_bytes: int
    line_bytes: int
    ways: int
    slices: int
    slice_interleave_bytes: int
    slice_hash: IndexHash
    set_hash: IndexHash
    replacement: Replacement
    hit_latency_cycles: int
    slice_bytes_per_cycle: int


_Cycles = Annotated[int, Field(ge=2, le=10**5)]


class MemorySide(Section):
    """The cache levels between L2 and DRAM."""

    levels: int = Field(0, ge=0, le=len(NAMES), description="cache levels between L2 and DRAM, from L2 on; 0: none")
    size_bytes: tuple[Annotated[int, Field(ge=1, le=2**34)], ...] = Field(
        (), description="of each level: capacity of all slices together"
    )
    line_bytes: tuple[Annotated[int, Field(ge=32, le=256)], ...] = Field(
        (), description="of each level: bytes per line; validity is per 32-byte sector"
    )
    ways: tuple[Annotated[int, Field(ge=1, le=64)], ...] = Field((), description="of each level: associativity")
    slices: tuple[Annotated[int, Field(ge=1, le=256)], ...] = Field(
        (), description="of each level: slices, each with a share of the addresses"
    )
    slice_interleave_bytes: tuple[Annotated[int, Field(ge=32, le=2**30)], ...] = Field(
        (), description="of each level: consecutive bytes per slice"
    )
    slice_hash: tuple[IndexHash, ...] = Field((), description="of each level: hash from address to slice")
    set_hash: tuple[IndexHash, ...] = Field((), description="of each level: hash from line number to set")
    replacement: tuple[Replacement, ...] = Field((), description="of each level: replacement policy")
    hit_latency_cycles: tuple[_Cycles, ...] = Field(
        (), description="of each level: load-to-use latency of a hit without queueing"
    )
    slice_bytes_per_cycle: tuple[Annotated[int, Field(ge=1, le=2**16)], ...] = Field(
        (), description="of each level: bytes that a slice reads or writes per SM cycle"
    )

    @property
    def each(self) -> list[MemorySideLevel]:
        """The levels, from L2 on."""
        fields = [name for name in type(self).model_fields if name != "levels"]
        return [
            MemorySideLevel(NAMES[k], **{name: getattr(self, name)[k] for name in fields}) for k in range(self.levels)
        ]


def _adds_up(level: str, of: Counts) -> object:
    return of[f"{level}_reads"] == of[f"{level}_hits"] + of[f"{level}_merges"] + of[f"{level}_misses"]


def _updates_at_most(level: str, of: Counts) -> object:
    return of[f"{level}_updates"] <= of[f"{level}_writes"]


def _below(above: str, below: str, of: Counts) -> object:
    """What a level asks the next one for, if there is a next one."""
    passed = (of[f"{below}_reads"] == of[f"{above}_misses"]) & (of[f"{below}_writes"] == of[f"{above}_writes"])
    return passed | ((of[f"{below}_reads"] == 0) & (of[f"{below}_writes"] == 0))


def _hit_rate(level: str, of: Counts, _: float) -> float:
    reads = of[f"{level}_reads"]
    return float(of[f"{level}_hits"] / reads) if reads else float("nan")


MEMORY_SIDE = Component(
    section="memory_side",
    parameters=MemorySide,
    off=0,
    counters=tuple(
        ComponentCounter(f"{level}_{name}", meaning)
        for level in NAMES
        for name, meaning in (
            ("reads", "sectors that the level above reads"),
            ("hits", "of these, sectors that are present"),
            ("merges", "of these, sectors that are under way from below"),
            ("misses", "of these, sectors that are read from below"),
            ("writes", "sectors that are written, here where present, and below"),
            ("updates", "of these, sectors that are present"),
            ("evictions", "lines that are replaced"),
        )
    ),
    laws=(
        *(
            ComponentLaw(f"reads of {level} are not all hits, merges or misses", partial(_adds_up, level))
            for level in NAMES
        ),
        *(
            ComponentLaw(f"{level} updates more sectors than are written", partial(_updates_at_most, level))
            for level in NAMES
        ),
        *(
            ComponentLaw(f"{below} is not asked for what {above} misses and writes", partial(_below, above, below))
            for above, below in zip(NAMES, NAMES[1:], strict=False)
        ),
    ),
    ratios=tuple(
        ComponentRatio(
            f"{level}_hit_rate", "sectors that are present, over all that are read", partial(_hit_rate, level)
        )
        for level in NAMES
    ),
)
