"""The kernel's source, line by line, with what each line asks of memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import PurePath
from typing import Any

from memsim.analysis.choices import Grouping
from memsim.analysis.loads import Load, array_name
from memsim.analysis.result import RunResult
from memsim.report.page.highlight import highlighted
from memsim.report.why import gain_text, is_reported
from memsim.trace import source_text
from memsim.trace.source_text import Sources
from memsim.why import Bottleneck

_PATH_PARTS = 2  # of a file's path that are shown: the rest is of the author's machine


@dataclass(frozen=True)
class Remedy:
    """The estimated saving of a cause that has one of its findings in a line.

    Attributes:
        share_of_time: share of the kernel's time, of all the cause's findings together, 0 to 1.
        text: the cause, and its estimated speed-up.
    """

    share_of_time: float
    text: str


@dataclass(frozen=True)
class Measure:
    """What one line requests, and the result.

    Attributes:
        accesses: its static instructions, as text.
        share: part of the latency of all loads, 0 to 1.
        l1_hit, l2_hit: of its loads, 0 to 1, nan where there is none.
        latency: mean of one transaction, cycles.
        sectors, least: per warp instruction to global memory: requested, and what dense, aligned lanes would need; nan
            without one.
        passes, least_passes: per shared-memory instruction, and what it would take without bank conflicts; nan without
            one.
        arrays: that it accesses.
        remedies: causes found here, the largest saving first.
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
class SourceLine:
    """A line of the source; `measure` is None where it accesses no memory, `html` is its text with syntax marked."""

    number: int
    text: str
    measure: Measure | None
    html: str


@dataclass(frozen=True)
class Source:
    """One file; `missing` says why only its accesses are known, and is empty where its text is there.

    Attributes:
        name: the end of its path.
        base: the name of the file alone.
    """

    name: str
    base: str
    lines: list[SourceLine]
    missing: str


def sources(result: RunResult, bottlenecks: Sequence[Bottleneck]) -> list[Source]:
    """The files with the kernel's accesses, the one with the largest share of latency first.

    Args:
        bottlenecks: of the kernel's slowness, which name their lines.

    Raises:
        InputError: Pygments is not installed.
    """
    remedies = _remedies(bottlenecks)
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


def _remedies(bottlenecks: Sequence[Bottleneck]) -> dict[str, list[Remedy]]:
    """By location: file and line."""
    found: dict[str, list[Remedy]] = defaultdict(list)
    for one in sorted(filter(is_reported, bottlenecks), key=lambda one: -one.expected_saving):
        locations = {finding.location for finding in one.findings}
        others = f", here and at {', '.join(sorted(locations))}" if len(locations) > 1 else ""
        for location in locations:
            found[location].append(Remedy(one.expected_saving, f"{one.cause}{others}: {gain_text(one)}"))
    return found


def _source(
    name: str, ops: dict[int, list[dict[str, Any]]], measures: dict[tuple[str, int], Measure], texts: Sources
) -> Source:
    text, shown = texts.get(name), PurePath(name)
    known = sorted(ops) if text is None else [0]  # compilers give line 0 to what they made themselves: it has no text
    lines = [_without_text(n, ops[n], measures[name, n]) for n in known if n in ops]
    about = "/".join(shown.parts[-_PATH_PARTS:]), shown.name
    if text is None:
        return Source(*about, lines, "is too large to be kept" if name in texts else "is not available")
    marked = highlighted(name, text)
    both = zip(text, marked, strict=True)
    lines += [SourceLine(n, line, measures.get((name, n)), html) for n, (line, html) in enumerate(both, 1)]
    return Source(*about, lines, "")


def _without_text(number: int, ops: list[dict[str, Any]], measure: Measure) -> SourceLine:
    """Accesses instead of the text of a line."""
    text = "; ".join(dict.fromkeys(op["text"] for op in ops))
    return SourceLine(number, text, measure, escape(text))


def _measure(ops: list[dict[str, Any]], load: Load | None, remedies: list[Remedy], result: RunResult) -> Measure:
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
    """A sum per warp instruction, of the ops that have any of `of`; nan if none has."""
    counted = [profile for profile in profiles if profile[of]]
    instructions = sum(profile["instructions"] for profile in counted)
    return sum(profile[name] for profile in counted) / instructions if instructions else float("nan")
