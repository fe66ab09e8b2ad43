"""What differs between two results beyond their times: counts, busy components of the GPU, and accesses by array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import PurePath
from typing import Any

from memsim.analysis.loads import array_name
from memsim.analysis.percent import percent
from memsim.analysis.result import RunResult
from memsim.analysis.tables import number, one_time
from memsim.analysis.utilization import utilization, warp_instructions
from memsim.report.output import Block, PrintedTable
from memsim.report.prose import wrapped

_LEAST = 0.02  # relative: a smaller change is none
_STORES = ("store", "reduction")
_NAMED = 3  # changes that the sentence names


@dataclass(frozen=True)
class Change:
    """One quantity in both results.

    Attributes:
        name: what it is.
        first, second: its values; nan where a result does not state it.
        shown: both as text, with their units.
    """

    name: str
    first: float
    second: float
    shown: tuple[str, str]

    @property
    def ratio(self) -> float:
        """Second over first; nan where the first is 0 or unknown."""
        return self.second / self.first if self.first else float("nan")

    @property
    def differs(self) -> bool:
        """Whether there is a difference worth a row."""
        most = max(abs(self.first), abs(self.second))
        return abs(self.second - self.first) > _LEAST * most

    def row(self) -> list[str]:
        """Name, values, and their ratio as a factor."""
        return [self.name, *self.shown, f"{number(self.ratio, 2)}x"]


@dataclass(frozen=True)
class Changes:
    """All that was compared.

    Attributes:
        counts: of the whole launch, the blocks that were not replayed taken to be as those that were.
        components: time for which each part of the GPU is busy.
        accesses: by array and direction, per warp instruction.
    """

    counts: list[Change]
    components: list[Change]
    accesses: list[Change]

    HEADERS = ("", "first", "second", "factor")

    @property
    def shown(self) -> list[Change]:
        """Those that differ."""
        return [one for one in (*self.counts, *self.components, *self.accesses) if one.differs]

    @property
    def same(self) -> list[str]:
        """Names of the counts and components that do not differ."""
        return [one.name for one in (*self.counts, *self.components) if not one.differs and one.first == one.first]

    def sentence(self) -> str:
        """The largest changes in words.

        >>> Changes([Change("DRAM sectors", 8, 2, ("8", "2"))], [], []).sentence()
        'what changed most: DRAM sectors 8 → 2 (0.25x)'
        """
        known = [one for one in self.shown if one.first and one.second]
        ranked = sorted(known, key=lambda one: -max(one.ratio, 1 / one.ratio))[:_NAMED]
        listed = "; ".join(f"{one.name} {' → '.join(one.shown)} ({number(one.ratio, 2)}x)" for one in ranked)
        return f"what changed most: {listed}" if listed else "no count, busy part or access pattern changed by 2 %"

    def blocks(self) -> Iterator[Block]:
        """The sentence and the table, as ``memsim compare`` prints them."""
        yield wrapped(self.sentence())
        if self.shown:
            same = wrapped(f"unchanged: {', '.join(self.same)}")
            rows = [one.row() for one in self.shown]
            title = "what changed, per launch"
            yield PrintedTable(self.HEADERS, rows, [False, True, True, True], title, same if self.same else "")


def changes(first: RunResult, second: RunResult) -> Changes:
    """Compare what two results count."""
    return Changes(list(_counts(first, second)), list(_components(first, second)), list(_accesses(first, second)))


def _launches(result: RunResult) -> float:
    """How many times its replayed blocks the launch has."""
    trace = result.trials.about["trace"]
    return prod(trace["grid"]) / trace["blocks"] if trace["blocks"] else float("nan")


def _counts(first: RunResult, second: RunResult) -> Iterator[Change]:
    both = [_counted(result) for result in (first, second)]
    for name in both[0]:
        one, other = (of[name] for of in both)
        if one or other:
            yield Change(name, one, other, (number(one), number(other)))


def _counted(result: RunResult) -> dict[str, float]:
    times, levels = _launches(result), result.counters
    found = {"warp instructions": warp_instructions(result.trials)}
    for name, key, spaces in (
        ("shared-memory passes", "passes", ("shared",)),
        ("global-memory wavefronts", "wavefronts", ("global_", "global", "local", "texture")),
    ):
        ops = [op["profile"].get(key, 0) for op in result.trials.ops if op["space"] in spaces and "profile" in op]
        found[name] = float(sum(ops))
    for level in ("l1", "l2", "dram"):
        sectors = levels[level]["sectors"]
        found[f"{level.upper()} sectors"] = sum(sectors.get(kind, 0.0) for kind in ("reads", "writes", "atomics"))
    return {name: times * value for name, value in found.items()}


def _components(first: RunResult, second: RunResult) -> Iterator[Change]:
    both = [{part.name: part.busy for part in utilization(result)} for result in (first, second)]
    times = [result.cycles.mean * result.ns_per_cycle / 1e6 * _launches(result) for result in (first, second)]
    for name in dict.fromkeys([*both[0], *both[1]]):
        shares = [of.get(name, float("nan")) for of in both]
        if all(share == share for share in shares):
            shown = [f"{one_time(share * time)} ({percent(share)})" for share, time in zip(shares, times, strict=True)]
            busy = [share * time for share, time in zip(shares, times, strict=True)]
            yield Change(f"{name} busy", busy[0], busy[1], (shown[0], shown[1]))


def _accesses(first: RunResult, second: RunResult) -> Iterator[Change]:
    both = [_by_array(result) for result in (first, second)]
    for key in both[0]:
        if key not in both[1]:
            continue
        one, other = both[0][key], both[1][key]
        locations = one.locations if one.locations == other.locations else f"{one.locations} → {other.locations}"
        for what in ("sectors", "passes"):
            values = [of.each(what) for of in (one, other)]
            if all(value > 0 for value in values):
                name = f"{' '.join(key)}, {what} per instruction ({locations})"
                yield Change(name, values[0], values[1], (number(values[0], 1), number(values[1], 1)))


@dataclass
class _Array:
    """What the loads or stores of one array ask for together."""

    lines: dict[str, None]
    sums: dict[str, float]

    @property
    def locations(self) -> str:
        return ", ".join(self.lines)

    def each(self, what: str) -> float:
        return self.sums[what] / self.sums["instructions"] if self.sums["instructions"] else 0.0


def _by_array(result: RunResult) -> dict[tuple[str, str], _Array]:
    found: dict[tuple[str, str], _Array] = {}
    for op in result.trials.ops:
        name = array_name(result.trials, op)
        if not name or "profile" not in op:
            continue
        direction = "stores to" if op["kind"] in _STORES else "atomics on" if op["kind"] == "atomic" else "loads of"
        of = found.setdefault((direction, name), _Array({}, dict.fromkeys(("instructions", "sectors", "passes"), 0.0)))
        of.lines[f"{PurePath(op['file']).name}:{op['line']}"] = None
        _add(of.sums, op["profile"])
    return found


def _add(sums: dict[str, float], profile: dict[str, Any]) -> None:
    for name in sums:
        sums[name] += profile[name]
