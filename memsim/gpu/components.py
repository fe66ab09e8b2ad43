"""The registry of components, in the order of their columns in results files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memsim.gpu.component import Component
from memsim.gpu.memory_side import MEMORY_SIDE
from memsim.gpu.prefetcher import PREFETCHER
from memsim.gpu.translation import TRANSLATION

COMPONENTS: tuple[Component, ...] = (PREFETCHER, MEMORY_SIDE, TRANSLATION)

COUNTERS: tuple[tuple[str, str], ...] = tuple(  # (section, counter), in the order of results files
    (one.section, counter) for one in COMPONENTS for counter in one.counters
)
UNNAMED_COUNTERS: tuple[tuple[str, str], ...] = tuple(  # those of results files that state no names, in their order
    (section, f"{level}{name}")
    for section, levels, names in (
        ("prefetcher", ("",), "requests redundant dropped sent sectors useful late unused left"),
        ("memory_side", ("l3_", "l4_"), "reads hits merges misses writes updates evictions"),
    )
    for level in levels
    for name in names.split()
)


def counts_of(component: Component, values: np.ndarray) -> dict[str, np.ndarray]:
    """The counters of a component, by name.

    Args:
        values: [..., len(COUNTERS)]; any leading axes, such as trials.

    >>> int(counts_of(PREFETCHER, np.arange(len(COUNTERS)))["sent"])
    3
    """
    return {name: values[..., at] for at, (section, name) in enumerate(COUNTERS) if section == component.section}


def component_counts(counts: Mapping[str, np.ndarray]) -> np.ndarray:
    """The counters of all components, i8 [len(COUNTERS)], from those of some (by section); the others are 0."""
    values = [counts.get(one.section, np.zeros(len(one.counters), np.int64)) for one in COMPONENTS]
    return np.concatenate(values)


def absent_sections(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """Sections of the components that a configuration (plain data, by section) does without."""
    return tuple(one.section for one in COMPONENTS if not one.is_on(configuration))
