"""Two results side by side: speed-up, ratios, every load and array, each difference with its interval.

The same trial number of the same seed draws the same in both (common random numbers), so that differences between
trials of one number scatter less than the trials do: they are *paired*. Where seeds or numbers differ they are two
independent samples, and their means are compared after Welch (Biometrika 1947).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from memsim.analysis.choices import Grouping
from memsim.analysis.loads import Load
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Interval, Sample
from memsim.support.deprecated import old_fields
from memsim.support.errors import InputError


@dataclass(frozen=True)
class Pairing:
    """Which trials belong together.

    Attributes:
        first, second: i8 [pairs], rows of each result's trials; empty where nothing pairs.
        why_not: why they do not pair; empty where they do.
    """

    first: np.ndarray
    second: np.ndarray
    why_not: str = ""


@dataclass(frozen=True)
class Difference:
    """A quantity in two results.

    Attributes:
        first, second: means over the trials that have it; nan where none has.
        change: second - first (of logarithms: log second / first), over the pairs where they pair.
        interval: that holds the change, 95 % confidence; None with fewer than two pairs, or trials of each.
    """

    first: float
    second: float
    change: float
    interval: Interval | None


@dataclass(frozen=True)
class Row:
    """A load or an array in both results.

    Attributes:
        location, text, array: in the first result, see analysis.loads; `second_location` is that in the second.
        latency: observed, of one transaction, ns: the clocks may differ.
        l1_hit, l2_hit: hit ratios.
        share: of all observed latency.
    """

    location: str
    second_location: str
    text: str
    array: str
    latency: Difference
    l1_hit: Difference
    l2_hit: Difference
    share: Difference

    if not TYPE_CHECKING:
        __getattr__ = old_fields("Row")


@dataclass(frozen=True)
class Rows:
    """What was matched, and what stands in one result alone."""

    matched: tuple[Row, ...]
    only_first: tuple[Load, ...]
    only_second: tuple[Load, ...]


class HasSpeedUp:
    """What follows from a time's change in logarithms, `log_time`."""

    log_time: Difference

    @property
    def speedup(self) -> float:
        """How many times as fast the second is (geometric mean over pairs); above 1 it is faster."""
        return float(np.exp(-self.log_time.change))

    @property
    def speedup_interval(self) -> Interval | None:
        """The interval that holds the speed-up, 95 % confidence."""
        its = self.log_time.interval
        return None if its is None else Interval(float(np.exp(-its.high)), float(np.exp(-its.low)))

    def slower_than(self, share: float) -> bool:
        """Whether the second surely takes more than `share` longer: the whole interval says so (alone, the mean)."""
        its = self.log_time.interval
        return (self.log_time.change if its is None else its.low) > np.log1p(share)


@dataclass(frozen=True)
class ResultComparison(HasSpeedUp):
    """The second of two results, seen from the first.

    Attributes:
        first, second: the results.
        pairing: of their trials.
        time: of the whole kernel in ms, or, where a file does not state a wave's size, of the block sample.
        whole_kernel: whether `time` is that of the whole kernel.
        log_time: the same, `change` in logarithms.
        ratios: hit ratios by name, in the first's convention.
        loads, arrays: side by side.
    """

    first: RunResult
    second: RunResult
    pairing: Pairing
    time: Difference
    whole_kernel: bool
    log_time: Difference
    ratios: dict[str, Difference]
    loads: Rows
    arrays: Rows

    if not TYPE_CHECKING:
        __getattr__ = old_fields("ResultComparison")

    @property
    def cautions(self) -> tuple[str, ...]:
        """What else differs than the change that a comparison is made for, in words: kernel, GPU, launch, blocks."""
        return tuple(_differences(self.first, self.second))


def _differences(first: RunResult, second: RunResult) -> Iterator[str]:
    one, other = (result.trials.about["trace"] for result in (first, second))
    if one["kernel"] != other["kernel"]:
        yield f"the kernels differ: {one['kernel']}, {other['kernel']}"
    if first.gpu != second.gpu:
        yield f"the GPUs differ: {first.gpu}, {second.gpu}"
    threads, others = (prod(about["grid"]) * prod(about["block"]) for about in (one, other))
    if threads != others:
        yield f"the launches differ: {threads:,} and {others:,} threads"
    if first.whole != second.whole:
        which = ("first", "second") if first.whole else ("second", "first")
        yield f"the {which[0]} replayed the whole launch, the {which[1]} a sample of its blocks"


def compare(first: RunResult, second: RunResult) -> ResultComparison:
    """Compare two results; see :func:`memsim.compare`.

    Raises:
        InputError: their hit ratios follow different conventions.
    """
    if first.convention is not second.convention:
        raise InputError("compare", "convention", f"is {first.convention} and {second.convention}; give one for both")
    pairing = paired(first, second)

    def between(of: Callable[[RunResult], Sample]) -> Difference:
        return difference(of(first), of(second), pairing)

    whole_kernel = not np.isnan(first.waves) and not np.isnan(second.waves)
    return ResultComparison(
        first,
        second,
        pairing,
        between(lambda result: _time(result, whole_kernel)),
        whole_kernel,
        between(lambda result: Sample(np.log(_time(result, whole_kernel).values))),
        {name: difference(ratio, second.ratios[name], pairing) for name, ratio in first.ratios.items()},
        _rows(first, second, pairing, Grouping.load, (_exact, _moved)),
        _rows(first, second, pairing, Grouping.array, (lambda load: load.array,)),
    )


def _time(result: RunResult, whole_kernel: bool) -> Sample:
    return result.kernel_time if whole_kernel else Sample(result.cycles.values * result.ns_per_cycle / 1e6)


def paired(first: RunResult, second: RunResult) -> Pairing:
    """Pair trials by number, if they drew from one seed."""
    empty = np.zeros(0, np.int64)
    if first.seed != second.seed:
        return Pairing(empty, empty, f"seeds {first.seed} and {second.seed} differ")
    common, rows, others = np.intersect1d(first.trials.trial, second.trials.trial, return_indices=True)
    if len(common) < 2:
        return Pairing(empty, empty, f"{len(common)} trial numbers in common; a pairing takes two")
    return Pairing(rows, others)


def difference(first: Sample, second: Sample, pairing: Pairing) -> Difference:
    """How a quantity differs, by pairs or after Welch."""
    if pairing.why_not:
        return Difference(first.mean, second.mean, second.mean - first.mean, welch(first.finite, second.finite))
    changes = Sample(second.values[pairing.second] - first.values[pairing.first])
    return Difference(first.mean, second.mean, changes.mean, changes.interval())


def welch(first: np.ndarray, second: np.ndarray, level: float = 0.95) -> Interval | None:
    """The interval of the difference of two means, second - first; None with fewer than two values of either.

    >>> its = welch(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0]))
    >>> round(its.low, 2), round(its.high, 2)
    (-4.98, 6.98)
    """
    if min(first.size, second.size) < 2:
        return None
    from scipy.stats import ttest_ind

    change = float(second.mean() - first.mean())
    if np.ptp(first) == np.ptp(second) == 0:
        return Interval(change, change)
    found = ttest_ind(second, first, equal_var=False).confidence_interval(level)
    return Interval(float(found.low), float(found.high))


Key = Callable[[Load], Hashable]


def _exact(load: Load) -> Hashable:
    return PurePath(load.file).name, load.line, load.text, load.array


def _moved(load: Load) -> Hashable:
    """The same text on the same array, on another line of an edited file."""
    return load.text, load.array


def _rows(first: RunResult, second: RunResult, pairing: Pairing, group: str, keys: Sequence[Key]) -> Rows:
    """Match by the first key, what is left by the next; what is alike by its key is matched in source order."""
    left, right = list(first.loads_by(group)), list(second.loads_by(group))
    order = {load.ops: number for number, load in enumerate(left)}
    pairs: list[tuple[Load, Load]] = []
    for key in keys:
        found = list(_alike(left, right, key))
        pairs += found
        left = [load for load in left if not any(load is one for one, _ in found)]
        right = [load for load in right if not any(load is other for _, other in found)]
    pairs.sort(key=lambda pair: order[pair[0].ops])
    clocks = first.ns_per_cycle, second.ns_per_cycle
    return Rows(tuple(_row(one, other, pairing, clocks) for one, other in pairs), tuple(left), tuple(right))


def _alike(left: Sequence[Load], right: Sequence[Load], key: Key) -> Iterator[tuple[Load, Load]]:
    waiting: dict[Hashable, list[Load]] = {}
    for load in right:
        waiting.setdefault(key(load), []).append(load)
    for load in left:
        if others := waiting.get(key(load)):
            yield load, others.pop(0)


def _row(one: Load, other: Load, pairing: Pairing, ns_per_cycle: tuple[float, float]) -> Row:
    latency, later = (Sample(load.latency.values * ns) for load, ns in zip((one, other), ns_per_cycle, strict=True))
    return Row(
        one.location, other.location, one.text, one.array,
        difference(latency, later, pairing),
        difference(one.l1_hit, other.l1_hit, pairing),
        difference(one.l2_hit, other.l2_hit, pairing),
        difference(one.share, other.share, pairing),
    )  # fmt: skip
