"""A part of the machine that declares itself once: its counters, and the laws that these obey.

From a declaration follow the columns of results files, the check of files, JSON, the text report and the random
machines of the tests. The fields of the part are a section of a GPU's configuration (memsim.gpu.memory).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memsim.gpu.geometry import Problem

if TYPE_CHECKING:
    from memsim.gpu.config import GPU

Counts = Mapping[str, Any]  # of a component: by counter, a number or an array of them


@dataclass(frozen=True)
class ComponentRatio:
    """A figure of merit.

    Attributes:
        name: in reports and JSON.
        meaning: in words.
        value: from the counters, and the read sectors that missed L2; nan where it does not exist.
    """

    name: str
    meaning: str
    value: Callable[[Counts, float], float]


@dataclass(frozen=True)
class Component:
    """A declaration.

    Attributes:
        section: its name, and that of its section of the configuration.
        chooser: the field of this section that chooses the kind.
        off: the kind with which the part does not exist.
        counters: of one trial; by name in files and JSON, what is counted, in what unit.
        laws: what always holds between them; by the words that say that it does not, whether it does.
        ratios: of one trial.
        problems: (field, what is wrong and what would be right) of a GPU whose fields do not fit together.
        l2_reads: from the counters, the kind, and the sectors that DRAM, or the level below, reads: those that are read
            because a request missed L2; negative if the counters do not fit them.
        levels: of a part with cache levels: their counts by name, as those of L2 in sectors, from the counters.
        is_compiled: whether the compiled engine has it; otherwise the reference model alone.
    """

    section: str
    chooser: str
    off: str | int
    counters: Mapping[str, str]
    laws: Mapping[str, Callable[[Counts], Any]]
    ratios: tuple[ComponentRatio, ...] = ()
    problems: Callable[[GPU], Iterator[Problem]] = lambda gpu: iter(())
    l2_reads: Callable[[Counts, Any, Any], Any] = lambda of, kind, reads: reads
    levels: Callable[[Mapping[str, float]], dict[str, dict[str, float]]] = lambda of: {}
    is_compiled: bool = False

    def is_on(self, configuration: Mapping[str, Any]) -> bool:
        """Whether a configuration (of plain data, by section) has the part."""
        return configuration.get(self.section, {}).get(self.chooser, self.off) != self.off
