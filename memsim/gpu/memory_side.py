"""The declaration of the cache levels between L2 and DRAM: counters, laws, figures of merit.

Such a level caches what memory holds, whoever asks for it, and keeps no data that memory lacks (AMD CDNA 3 white paper,
"AMD Infinity Cache"). Every field is a list with one entry per level, the level next to L2 first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from memsim.gpu.choices import OF_BITS, IndexHash, Replacement
from memsim.gpu.component import Component, ComponentRatio, Counts
from memsim.gpu.geometry import Problem, interleave_problems, power_of_two

if TYPE_CHECKING:
    from memsim.gpu.config import GPU

NAMES = ("l3", "l4")  # of the levels, in counters


@dataclass(frozen=True)
class MemorySideLevel:
    """One level; its attributes are the fields of :class:`memsim.gpu.memory.MemorySide`."""

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


def _problems(gpu: GPU) -> Iterator[Problem]:
    """Every field of the levels between L2 and DRAM has an entry per level; each level is slower than the one above."""
    own, l1 = gpu.memory_side, gpu.l1
    for name in type(own).model_fields:
        value = getattr(own, name)
        if isinstance(value, tuple) and len(value) < own.levels:
            yield (
                f"memory_side.{name}",
                f"has {len(value)} entries; give one per level, memory_side.levels = {own.levels}",
            )
            return
    if own.levels and not gpu.l2.enabled:
        yield "memory_side.levels", f"is {own.levels}; without an L2 give 0"
    above = gpu.l2.hit_latency_cycles
    for level in own.each:
        yield from _level_problems(level, l1.line_bytes)
        if level.hit_latency_cycles <= above:
            problem = f"is {level.hit_latency_cycles} in {level.name}; give more than the {above} of the level above"
            yield "memory_side.hit_latency_cycles", problem
        above = level.hit_latency_cycles


def _level_problems(level: MemorySideLevel, line_bytes: int) -> Iterator[Problem]:
    size, share, set_bytes = level.line_bytes, level.size_bytes // level.slices, level.ways * level.line_bytes
    if not power_of_two(size) or size > line_bytes:
        yield "memory_side.line_bytes", f"is {size}; give a power of two from 32 to l1.line_bytes = {line_bytes}"
    elif level.size_bytes % level.slices or share < set_bytes or share % set_bytes:
        right = f"give a multiple of slices x ways x line_bytes = {level.slices * set_bytes}"
        yield "memory_side.size_bytes", f"is {level.size_bytes}; {right}"
    elif level.set_hash in OF_BITS and not power_of_two(share // set_bytes):
        right = "give a power-of-two number of sets"
        yield "memory_side.set_hash", f"is {level.set_hash} over {share // set_bytes} sets; {right}"
    yield from interleave_problems("memory_side.slice_interleave_bytes", level.slice_interleave_bytes, line_bytes)
    if level.slice_hash in OF_BITS and not power_of_two(level.slices):
        right = "give modulo or a power-of-two number of slices"
        yield "memory_side.slice_hash", f"is {level.slice_hash} over {level.slices} slices; {right}"
    for field, chosen in (("slice_hash", level.slice_hash), ("set_hash", level.set_hash)):
        if chosen == "fermi_l1":
            yield f"memory_side.{field}", "is fermi_l1, which is a hash of the L1 alone; give modulo or xor_fold"
    if level.replacement == "tree_plru" and not power_of_two(level.ways):
        yield "memory_side.ways", f"is {level.ways}; tree_plru needs a power of two up to 64"


def _l2_reads(of: Counts, levels: int, dram_reads: Any) -> Any:
    """The last level reads from DRAM what it misses; L2 reads from the first one."""
    return np.where(dram_reads == of[f"{NAMES[levels - 1]}_misses"], of[f"{NAMES[0]}_reads"], -1)


def _adds_up(level: str, of: Counts) -> object:
    return of[f"{level}_reads"] == of[f"{level}_hits"] + of[f"{level}_merges"] + of[f"{level}_misses"]


def _updates_at_most(level: str, of: Counts) -> object:
    return of[f"{level}_updates"] <= of[f"{level}_writes"]


def _below(above: str, below: str, of: Counts) -> object:
    """The next level, if there is one, gets what a level misses and writes."""
    passed = (of[f"{below}_reads"] == of[f"{above}_misses"]) & (of[f"{below}_writes"] == of[f"{above}_writes"])
    return passed | ((of[f"{below}_reads"] == 0) & (of[f"{below}_writes"] == 0))


def _levels(of: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Of the levels that exist; a write that finds no sector is a miss, as at L2."""
    return {
        level: {name: of[f"{level}_{name}"] for name in ("reads", "writes", "merges")}
        | {
            "atomics": 0,
            "hits": of[f"{level}_hits"] + of[f"{level}_updates"],
            "misses": of[f"{level}_misses"] + of[f"{level}_writes"] - of[f"{level}_updates"],
        }
        for level in NAMES
        if of[f"{level}_reads"] or of[f"{level}_writes"]
    }


def _hit_rate(level: str, of: Counts, _: float) -> float:
    reads = of[f"{level}_reads"]
    return float(of[f"{level}_hits"] / reads) if reads else float("nan")


MEMORY_SIDE = Component(
    section="memory_side",
    chooser="levels",
    off=0,
    problems=_problems,
    l2_reads=_l2_reads,
    levels=_levels,
    counters={
        f"{level}_{name}": meaning
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
    },
    laws={f"reads of {level} are not all hits, merges or misses": partial(_adds_up, level) for level in NAMES}
    | {f"{level} updates more sectors than are written": partial(_updates_at_most, level) for level in NAMES}
    | {
        f"{below} gets other requests than {above} misses and writes": partial(_below, above, below)
        for above, below in zip(NAMES, NAMES[1:], strict=False)
    },
    ratios=tuple(
        ComponentRatio(
            f"{level}_hit_rate", "sectors that are present, over all that are read", partial(_hit_rate, level)
        )
        for level in NAMES
    ),
)
