"""Two profiles of programs side by side: the time of all launches and that of each kernel, with intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from memsim.analysis.compare import Difference, HasSpeedUp, Pairing, difference, paired
from memsim.analysis.program import LaunchGroup, ProgramResult
from memsim.analysis.statistics import Sample


@dataclass(frozen=True)
class TimeRatio(HasSpeedUp):
    """A time in both profiles.

    Attributes:
        time: milliseconds, and its change.
        log_time: the same of its logarithm.
    """

    time: Difference
    log_time: Difference


@dataclass(frozen=True)
class KernelChange:
    """A kernel of both programs.

    Attributes:
        label: its name in the second profile, or in the first where it is only there.
        first, second: its launches; None: the program has none.
        ratio: of its times; None where only one program has it.
    """

    label: str
    first: LaunchGroup | None
    second: LaunchGroup | None
    ratio: TimeRatio | None


@dataclass(frozen=True)
class ProgramComparison:
    """The second of two profiles, seen from the first.

    Attributes:
        first, second: the profiles.
        total: of all launches.
        kernels: those that take longest first.
        cautions: what else differs than the change that a comparison is made for, in words.
    """

    first: ProgramResult
    second: ProgramResult
    total: TimeRatio
    kernels: tuple[KernelChange, ...]
    cautions: tuple[str, ...]

    def slower_than(self, share: float) -> bool:
        """As :meth:`TimeRatio.slower_than`, of the program."""
        return self.total.slower_than(share)


def compare_programs(first: ProgramResult, second: ProgramResult) -> ProgramComparison:
    """Compare the profiles of two programs, or of two versions of one.

    Kernels are matched by name and grid, those that are left by name alone. Trials are paired by number where both
    profiles drew from one seed: then both drew the same launches.
    """
    pairing = paired(first.groups[0].first, second.groups[0].first)
    return ProgramComparison(
        first,
        second,
        _ratio(first.time, second.time, pairing),
        tuple(_kernels(first, second, pairing)),
        tuple(_differences(first, second)),
    )


def _ratio(first: Sample, second: Sample, pairing: Pairing) -> TimeRatio:
    logarithms = Sample(np.log(first.values)), Sample(np.log(second.values))
    return TimeRatio(difference(first, second, pairing), difference(*logarithms, pairing))


def _kernels(first: ProgramResult, second: ProgramResult, pairing: Pairing) -> Iterator[KernelChange]:
    ours, theirs = (dict(zip(one.labels(), one.groups, strict=True)) for one in (first, second))
    matches: dict[str, str] = {}
    for same in (lambda one, other: one.grid == other.grid, lambda one, other: True):
        for label, group in theirs.items():
            free = (name for name in ours if name not in matches.values())
            found = (name for name in free if ours[name].kernel == group.kernel and same(ours[name], group))
            if label not in matches and (name := next(found, None)) is not None:
                matches[label] = name
    for label, group in theirs.items():
        other = ours.get(matches.get(label, ""))
        yield KernelChange(label, other, group, None if other is None else _ratio(other.time, group.time, pairing))
    for label, group in ours.items():
        if label not in matches.values():
            yield KernelChange(label, group, None, None)


def _differences(first: ProgramResult, second: ProgramResult) -> Iterator[str]:
    if first.gpu != second.gpu:
        yield f"the GPUs differ: {first.gpu}, {second.gpu}"
    counts = [sum(group.launches for group in one.groups) for one in (first, second)]
    if counts[0] != counts[1]:
        yield f"the programs make {counts[0]:,} and {counts[1]:,} launches"
    for which, one in (("first", first), ("second", second)):
        if one.about.get("interrupted"):
            yield f"the {which} profile was interrupted"
