"""The time of a whole program, from the trials of its groups of launches; and the file that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memsim.analysis.choices import Convention
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Interval, Sample
from memsim.analysis.time_breakdown import TimeBreakdown, time_breakdown
from memsim.analysis.utilization import bound_by
from memsim.montecarlo import store
from memsim.support import hdf5
from memsim.support.deprecated import OLD_JSON_KEYS
from memsim.support.errors import InputError
from memsim.support.hdf5 import read_text, write_text
from memsim.trace import source_text

if TYPE_CHECKING:
    from memsim.montecarlo.sampled_launches import Group  # which needs numba; who only reads a file does not

SCHEMA, VERSION = "memsim-program", (1, 1)
_MOST_GROUPS = 10_000


@dataclass(frozen=True)
class LaunchGroup:
    """Launches of one kernel that are alike.

    Attributes:
        kernel: its name.
        launches: how many.
        first: of the first launch.
        others: of launches drawn from the others; None where there is one launch.
        positions: of the launches in the program, from 0; empty in what is read from a file.
        rest: milliseconds of all launches after the first together, one value per trial, where each was replayed; None:
            they are as many times the drawn one.
    """

    kernel: str
    launches: int
    first: RunResult
    others: RunResult | None
    positions: tuple[int, ...] = ()
    rest: np.ndarray | None = None

    @property
    def typical(self) -> RunResult:
        """What stands for most of the launches."""
        return self.first if self.others is None else self.others

    @property
    def time(self) -> Sample:
        """Milliseconds of all launches, one value per trial."""
        first = self.first.kernel_time.values
        if self.others is None:
            return Sample(first)
        drawn = (self.launches - 1) * self.others.kernel_time.values
        return Sample(first + (drawn if self.rest is None else self.rest))

    @property
    def best_possible(self) -> float:
        """Milliseconds that all launches take at best; nan where the file does not state it."""
        return float("nan") if self.breakdown is None else self.breakdown.best_possible

    @cached_property
    def breakdown(self) -> TimeBreakdown | None:
        """What separates the time of all launches from the best possible one; None where the file does not state it."""
        first, later = time_breakdown(self.first), time_breakdown(self.typical)
        return None if first is None or later is None else TimeBreakdown.of_launches(first, later, self._drawn)

    @property
    def prediction_interval(self) -> Interval | None:
        """The interval that is to hold the measured time of all launches in 90 % of cases, milliseconds.

        The model errs alike on all launches of a kernel. None where times are lower bounds.
        """
        first, later = self.first.prediction_interval, self.typical.prediction_interval
        if first is None or later is None:
            return None
        return Interval(*(one + self._drawn * each for one, each in zip(first, later, strict=True)))

    @property
    def _drawn(self) -> float:
        """How many times the typical launch's time comes to the first one's."""
        return float((self.time.mean - self.first.kernel_time.mean) / self.typical.kernel_time.mean)

    @property
    def bound_by(self) -> tuple[str, float]:
        """What bounds the kernel, and how busy the busiest part of the GPU is, 0 to 1."""
        return bound_by(self.typical)

    @property
    def grid(self) -> tuple[int, ...]:
        """Blocks of a launch, by dimension."""
        return tuple(self.first.trials.about["trace"]["grid"])


@dataclass
class ProgramResult:
    """A program's launches in groups, those that take longest first.

    Attributes:
        groups: of launches that are alike.
        about: program, launches, interrupted, findings (a list of dicts kernel, cause, location, advice, replayed,
            gain, upper_bound; the last two are shares of the kernel's time; gain and replayed are None without a
            replay), causes (of explained kernels, by label, as :mod:`memsim.why.stored` writes them), activities (a
            list of kind, stream, and bytes or, of a launch, the number of its group; the kinds are those of
            :class:`memsim.capture.activities.ActivityKind`, and "launch").
    """

    groups: list[LaunchGroup]
    about: dict[str, Any]

    @classmethod
    def of(cls, groups: Sequence[Group], about: dict[str, Any], convention: str = Convention.model) -> ProgramResult:
        """From the trials of :func:`memsim.montecarlo.sampled_launches.run_launches`."""
        found = [
            LaunchGroup(
                one.kernel,
                len(one.positions),
                RunResult(one.first, convention),
                None if one.others is None else RunResult(one.others, convention),
                tuple(one.positions),
                np.sum([RunResult(of).kernel_time.values for of in one.each.values()], axis=0) if one.each else None,
            )
            for one in groups
            if one.first is not None
        ]
        return cls(sorted(found, key=lambda one: -one.time.mean), about)

    @property
    def gpu(self) -> str:
        """Name of the GPU."""
        return self.groups[0].first.gpu

    @property
    def time(self) -> Sample:
        """Milliseconds of all launches together, one value per trial."""
        return Sample(np.sum([group.time.values for group in self.groups], axis=0))

    @property
    def prediction_interval(self) -> Interval | None:
        """The sum of the groups' intervals, as if the model erred alike on all kernels; None where one has none."""
        found = [group.prediction_interval for group in self.groups]
        bounds = [(one.low, one.high) for one in found if one is not None]
        return Interval(*np.sum(bounds, axis=0).tolist()) if len(bounds) == len(found) else None

    def labels(self) -> list[str]:
        """A name for each group: its kernel's, and the grid where several groups have the same kernel."""
        kernels = [group.kernel for group in self.groups]
        found: list[str] = []
        for group in self.groups:
            several = kernels.count(group.kernel) > 1
            label = f"{group.kernel} {'x'.join(map(str, group.grid))}" if several else group.kernel
            found.append(f"{label} #{len(found)}" if label in found else label)
        return found

    def save(self, path: str | Path) -> None:
        """Write a file, whole or not at all.

        Raises:
            InputError: it cannot be written.
        """
        with hdf5.written(path, SCHEMA, VERSION, durable=True) as file:
            write_text(file, "about", self.about | {"groups": [self._stated(group) for group in self.groups]})
            for number, group in enumerate(self.groups):
                store.write(file.create_group(f"groups/{number}/first"), group.first.trials)
                if group.others is not None:
                    store.write(file.create_group(f"groups/{number}/others"), group.others.trials)
            sources = {name: text for group in self.groups for name, text in group.first.trials.sources.items()}
            source_text.write(file, sources)

    @staticmethod
    def _stated(group: LaunchGroup) -> dict[str, Any]:
        rest = None if group.rest is None else group.rest.tolist()
        return {"kernel": group.kernel, "launches": group.launches, "several": group.others is not None, "rest": rest}

    @classmethod
    def load(cls, path: str | Path, convention: str = Convention.model) -> ProgramResult:
        """Read a file of :meth:`save`.

        Raises:
            InputError: it is damaged, of another schema or newer version, or holds impossible values.
        """
        with hdf5.opened(path, SCHEMA, VERSION) as file:
            about = read_text(path, file, "about")
            stated = _checked(path, about)
            sources = source_text.read(path, file)
            groups = []
            for number, one in enumerate(stated):
                of = [store.read(path, file, f"groups/{number}/first/")]
                of += [store.read(path, file, f"groups/{number}/others/")] if one["several"] else []
                for trials in of:
                    trials.sources = sources
                results = [RunResult(trials, convention) for trials in of]
                rest = None if one.get("rest") is None else np.array(one["rest"], float)
                if rest is not None and rest.shape != results[0].trials.trial.shape:
                    raise InputError(
                        path, f"about.groups[{number}].rest", "has another number of trials; it is damaged"
                    )
                groups.append(LaunchGroup(one["kernel"], one["launches"], results[0], (*results, None)[1], (), rest))
        return cls(groups, about)


def _with_new_keys(path: str | Path, finding: Any) -> dict[str, Any]:
    """A finding of a file, under the keys of this version."""
    if not isinstance(finding, dict):
        raise InputError(path, "about.findings", "holds something else than objects; the file is damaged")
    renamed = OLD_JSON_KEYS["profiled kernel"]
    return {"advice": ""} | {renamed.get(str(name), str(name)): value for name, value in finding.items()}


def is_program(path: str | Path) -> bool:
    """Whether a file is a program's result that can be read; of a damaged one, no."""
    return hdf5.is_readable(path, SCHEMA, VERSION)


def _checked(path: str | Path, about: Any) -> list[dict[str, Any]]:
    stated = about.pop("groups", None) if isinstance(about, dict) else None
    if not isinstance(stated, list) or not 0 < len(stated) <= _MOST_GROUPS:
        raise InputError(path, "about.groups", "is not a list of groups; the file is damaged")
    fields = {"kernel": str, "launches": int, "several": bool}
    for number, one in enumerate(stated):
        right = isinstance(one, dict) and all(isinstance(one.get(name), kind) for name, kind in fields.items())
        if not right or one["launches"] < 1 + one["several"]:
            raise InputError(path, f"about.groups[{number}]", "holds impossible values; the file is damaged")
        rest = one.get("rest")
        if rest is not None and not (
            isinstance(rest, list) and all(type(ms) is float and 0 <= ms < 1e18 for ms in rest)
        ):
            raise InputError(path, f"about.groups[{number}].rest", "holds impossible times; the file is damaged")
    if not isinstance(about.get("findings"), list):
        raise InputError(path, "about.findings", "is not a list; the file is damaged")
    about["findings"] = [_with_new_keys(path, one) for one in about["findings"]]
    if not isinstance(about.setdefault("causes", {}), dict):  # older files have none
        raise InputError(path, "about.causes", "is not an object; the file is damaged")
    about.setdefault("activities", [])  # a file of version 1.0 has none
    for number, row in enumerate(about["activities"] if isinstance(about["activities"], list) else [None]):
        right = isinstance(row, list) and len(row) == 3 and isinstance(row[0], str)
        if not right or not all(type(value) is int and value >= 0 for value in row[1:]):
            raise InputError(path, f"about.activities[{number}]", "holds impossible values; the file is damaged")
        if row[0] == "launch" and row[2] >= len(stated):
            raise InputError(
                path, f"about.activities[{number}]", "names a group that does not exist; the file is damaged"
            )
    return stated
