"""What is uncertain in a preset: the numbers that were fitted or assumed, and how far each may be off.

A number's stated uncertainty (``uncertainty`` next to ``value`` in the TOML file, a share) bounds it, or else a default
one. Measured and documented numbers stay, and so do choices of a mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import getitem
from typing import Any

import numpy as np

from memsim.gpu.components import COMPONENTS, absent_sections
from memsim.gpu.config import GPU
from memsim.gpu.presets import Provenance, override
from memsim.support.errors import InputError

_STATUSES = ("fitted", "assumed")
_ELSEWHERE = ("stochastic.", "mwp_cwp.", "host.")  # what no replay reads, and what is random on purpose
_TOGETHER = (("dram.write_queue", "dram.write_high", "dram.write_low"),)  # thresholds move with what they are of
_DOUBLED = ("ways", "_bytes", "_entries")  # a neighbour of such a number is its half or its double
_COUNTED = ("slices", "channels", "banks")  # few values fit the sizes


@dataclass(frozen=True)
class Factor:
    """An uncertain number, or some that move together.

    Attributes:
        name: the field's, the first where there are more.
        fields: field -> its value in the preset.
        unit, status, source: of the first.
        low, high: values of the first at both ends; one may be the preset's own.
        steps: whether only the ends and the preset's value can be.
    """

    name: str
    fields: Mapping[str, float]
    unit: str
    status: str
    source: str
    low: float
    high: float
    steps: bool

    @property
    def value(self) -> float:
        """The preset's."""
        return self.fields[self.name]

    def settings(self, value: float) -> dict[str, object]:
        """The fields at a value of the first."""
        scaled = {name: of * value / self.value for name, of in self.fields.items()}
        return {name: _like(self.fields[name], of) for name, of in scaled.items()}

    def at(self, share: float) -> float:
        """The value at a share of the range, 0 to 1."""
        if self.steps:
            levels = sorted({self.low, self.value, self.high})
            return levels[min(int(share * len(levels)), len(levels) - 1)]
        return self.low + share * (self.high - self.low)


def uncertain_choices(provenance: Mapping[str, Provenance]) -> tuple[str, ...]:
    """Fields that are fitted or assumed and no numbers."""
    return tuple(name for name, entry in _doubtful(provenance) if not _is_number(entry.value))


def _doubtful(provenance: Mapping[str, Provenance]) -> Iterator[tuple[str, Provenance]]:
    kinds = {one.section: {one.chooser: provenance[name].value} for one in COMPONENTS
             if (name := f"{one.section}.{one.chooser}") in provenance}  # fmt: skip
    unread = (*_ELSEWHERE, *(f"{section}." for section in absent_sections(kinds)))
    for name, entry in provenance.items():
        if entry.status in _STATUSES and entry.value is not None and not name.startswith(unread):
            yield name, entry


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def factors(
    gpu: GPU, provenance: Mapping[str, Provenance], uncertainty: float
) -> tuple[tuple[Factor, ...], dict[str, str]]:
    """The uncertain numbers, and why others that are uncertain cannot be varied (field -> reason)."""
    values: Any = gpu.model_dump(mode="json")
    followers = {name: group for group in _TOGETHER for name in group[1:]}
    found, left = [], {}
    for name, entry in _doubtful(provenance):
        if not _is_number(entry.value) or (name in followers and followers[name][0] in provenance):
            continue
        group = next((names for names in _TOGETHER if names[0] == name), (name,))
        base: dict[str, float] = {field: reduce(getitem, field.split("."), values) for field in group}
        if not base[name]:
            left[name] = "is 0, and a share of that is nothing"
            continue
        share = entry.uncertainty or uncertainty
        steps = name.endswith(_DOUBLED + _COUNTED) and not name.endswith("per_cycle")
        factor = Factor(name, base, entry.unit, entry.status, entry.source, base[name], base[name], steps)
        ends = [_end(gpu, factor, sign * share) for sign in (-1, 1)]
        if ends[0] == ends[1]:
            left[name] = f"no value within {share:.0%} of {base[name]:g} can be" if not steps else "no other value fits"
        else:
            found.append(replace(factor, low=ends[0], high=ends[1]))
    return tuple(found), left


def _end(gpu: GPU, factor: Factor, share: float) -> float:
    """The farthest value that a GPU can have, up to `share` from the preset's; that itself where there is none."""
    value = factor.value
    if factor.name.endswith(_DOUBLED) and factor.steps:
        candidates: Sequence[float] = [value * 2 if share > 0 else value / 2]
    elif isinstance(value, int):
        far = int(np.trunc(value * abs(share) + 0.5)) * (1 if share > 0 else -1)
        candidates = range(value + far, value, -1 if share > 0 else 1)
    else:
        candidates = [value * (1 + share)]
    for candidate in candidates:
        if candidate == int(candidate) or not isinstance(value, int):
            try:
                override(gpu, factor.settings(candidate))
            except InputError:
                continue
            return _like(value, candidate)
    return value


def _like(value: float, changed: float) -> float:
    """A whole number stays one."""
    return round(changed) if isinstance(value, int) else changed
