"""The kernel's source, line by line, with what each line asks of memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from memsim.analysis.choices import Grouping
from memsim.analysis.loads import Load, array_name
from memsim.analysis.result import Result
from memsim.report.why import gain_text, is_reported
from memsim.trace import source_text
from memsim.trace.source_text import Sources
from memsim.why import Explanation


@dataclass(frozen=True)
class Remedy:
    """What putting a cause right wins, that has one of its places in a line.

    Attributes:
        stake: share of the kernel's time, at all of the cause's places together, 0 to 1.
        text: the cause, and the same in words.
    """

    stake: float
    text: str


@dataclass(frozen=True)
class Measure:
    """What one line asks for, and what became of it.

    Attributes:
        accesses: its static ops, as text.
        share: of all latency waited for, 0 to 1.
        l1_hit, l2_hit: of its loads, 0 to 1, nan where there is none.
        latency: mean of one transaction, cycles.
        sectors, least: a warp instruction, asked for and what dense and aligned lanes would need; nan in shared memory.
        passes, least_passes: a shared-memory instruction's, and what it would take without bank conflicts.
        arrays: that it accesses.
        remedies: what can be put right here, most to win first.
    """

    accesses: str
    share: float
    l1_hit: float
    l2_hit: float
    latency: float
    sectors: float
    least: float
    passes: float
    least_passes: float
    arrays: str
    remedies: list[Remedy]


@dataclass(frozen=True)
class Line:
    """A line of the source; `measure` is None where it accesses no memory."""

    number: int
    text: str
    measure: Measure | None


@dataclass(frozen=True)
class Source:
    """One file; `missing` tells why only its accesses are known, and is empty where its text is there."""

    name: str
    lines: list[Line]
    missing: str


def sources(result: Result, causes: Sequence[Explanation]) -> list[Source]:
    """The files that the kernel's accesses are in, the one waited for most first.

    Args:
        causes: of the kernel's slowness, which name their lines.
    """
    remedies = _remedies(causes)
    by_file: dict[str, dict[int, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for op in result.trials.ops:
        by_file[op["file"]][op["line"]].append(op)
    loads = {(load.file, load.line): load for load in result.loads_by(Grouping.line)}
    texts = source_text.at_hand((op["file"], op["line"], op["text"]) for op in result.trials.ops)
    texts |= result.trials.sources  # as it was when the trace was made
    measures = {
        (name, number): _measure(of, loads.get((name, number)), remedies[f"{PurePath(name).name}:{number}"], result)
        for name, ops in by_file.items()
        for number, of in ops.items()
    }
    found = [_source(name, ops, measures, texts) for name, ops in by_file.items()]
    return sorted(found, key=lambda one: -sum(line.measure.share for line in one.lines if line.measure))


def _remedies(causes: Sequence[Explanation]) -> dict[str, list[Remedy]]:
    """By place, file and line."""
    found: dict[str, list[Remedy]] = defaultdict(list)
    for one in sorted(filter(is_reported, causes), key=lambda one: -one.at_stake):
        places = {finding.place for finding in one.findings}
        others = f", here and at {', '.join(sorted(places))}" if len(places) > 1 else ""
        for place in places:
            found[place].append(Remedy(one.at_stake, f"{one.cause}{others}: {gain_text(one)}"))
    return found


def _source(
    name: str, ops: dict[int, list[dict[str, Any]]], measures: dict[tuple[str, int], Measure], texts: Sources
) -> Source:
    text = texts.get(name)
    known = sorted(ops) if text is None else [0]  # compilers give line 0 to what they made themselves: it has no text
    lines = [Line(n, _shown(ops[n]), measures[name, n]) for n in known if n in ops]
    if text is None:
        return Source(name, lines, "is too large to be kept" if name in texts else "is not at hand")
    return Source(name, [*lines, *(Line(n, line, measures.get((name, n))) for n, line in enumerate(text, 1))], "")


def _shown(ops: list[dict[str, Any]]) -> str:
    """Accesses in the place of a line."""
    return "; ".join(dict.fromkeys(op["text"] for op in ops))


def _measure(ops: list[dict[str, Any]], load: Load | None, remedies: list[Remedy], result: Result) -> Measure:
    profiles = [op["profile"] for op in ops if "profile" in op]
    nan = float("nan")
    return Measure(
        accesses="; ".join(dict.fromkeys(f"{op['kind']} {op['text']}" for op in ops)),
        share=0.0 if load is None or load.share.mean != load.share.mean else load.share.mean,
        l1_hit=nan if load is None else load.l1_hit.mean,
        l2_hit=nan if load is None else load.l2_hit.mean,
        latency=nan if load is None else load.latency.mean,
        sectors=_each(profiles, "sectors", "sectors"),
        least=_each(profiles, "least_sectors", "sectors"),
        passes=_each(profiles, "passes", "passes"),
        least_passes=_each(profiles, "least_passes", "passes"),
        arrays=", ".join(dict.fromkeys(name for op in ops if (name := array_name(result.trials, op)))),
        remedies=remedies,
    )


def _each(profiles: list[dict[str, Any]], name: str, of: str) -> float:
    """A sum a warp instruction, of the ops that have any of `of`; nan if none has."""
    counted = [profile for profile in profiles if profile[of]]
    instructions = sum(profile["instructions"] for profile in counted)
    return sum(profile[name] for profile in counted) / instructions if instructions else float("nan")
