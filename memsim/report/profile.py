"""A program's profile: its kernels by time, what bounds each, and how far it is from the best possible time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from os.path import commonprefix
from typing import Any

from memsim.analysis.model_error import LEVEL
from memsim.analysis.percent import percent
from memsim.analysis.program import LaunchGroup, ProgramResult
from memsim.analysis.table import cut, shortened
from memsim.analysis.tables import number, time_unit
from memsim.report.best_possible import best_possible_document, separating_causes
from memsim.report.output import Block, CommandOutput, PrintedTable
from memsim.report.prose import wrapped
from memsim.support.deprecated import with_old_keys

_HEADERS = (
    "kernel",
    "launches",
    "{}",
    "share %",
    "bound by",
    "best {}",
    "of best %",
    "besides needed work",
    "top finding",
)
MOST_GRIDS = 8  # of a kernel that have rows of their own
_NAME = 40  # characters of a kernel's name: those of templates have hundreds
_RIGHT = (False, True, True, True, False, True, True, False, False)


def profile_output(result: ProgramResult, *notes: str) -> CommandOutput:
    """The table of kernels, the time of all launches with its interval, and what it rests on.

    Args:
        result: of the program.
        notes: sentences below.
    """
    return CommandOutput(lambda: [*_blocks(result), *notes], lambda: _records(result), lambda: _document(result))


def _findings(result: ProgramResult) -> dict[str, dict[str, Any]]:
    return {one["kernel"]: one for one in result.about["findings"]}


def _records(result: ProgramResult) -> list[dict[str, Any]]:
    """A record per kernel: times in ms, and its first finding."""
    findings, records = _findings(result), []
    for label, group in zip(result.labels(), result.groups, strict=True):
        bound, busy = group.bound_by
        found = findings.get(label, {})
        record = {
            "kernel": label, "launches": group.launches, "time_ms": group.time.mean, "bound_by": bound, "busy": busy,
            "best_possible_ms": group.best_possible,
        } | {name: found.get(name) for name in ("cause", "location", "advice", "gain", "upper_bound")}  # fmt: skip
        records.append(with_old_keys("profiled kernel", record))
    return records


def _kernel_documents(result: ProgramResult) -> list[dict[str, Any]]:
    """The records with what separates each kernel from its best possible time, and its prediction interval."""
    return [
        record | best_possible_document(group.breakdown) | {"prediction_interval_ms": group.prediction_interval}
        for record, group in zip(_records(result), result.groups, strict=True)
    ]


def _document(result: ProgramResult) -> dict[str, Any]:
    total = result.time
    return {
        "program": result.about["program"], "gpu": result.gpu, "trials": len(total.values),
        "time_ms": {"mean": total.mean, "interval": total.interval()},
        "prediction_interval_ms": result.prediction_interval, "kernels": _kernel_documents(result),
    }  # fmt: skip


def _blocks(result: ProgramResult) -> list[Block]:
    total = result.time
    scale, decimals, unit = time_unit(total.mean)

    def shown(ms: float) -> str:
        return number(scale * ms, decimals)

    interval, its = total.interval(), result.prediction_interval
    within = "" if interval is None else f" ± {shown(interval.width / 2)}"
    sure = f"prediction interval ({percent(LEVEL)})"
    sure = "" if its is None else f"; {sure}: {shown(its.low)} … {shown(its.high)} {unit}"
    launches, trials = sum(group.launches for group in result.groups), len(total.values)
    take = "launch takes" if launches == 1 else "launches take"
    return [
        f"{result.about['program']} on {result.gpu}: {launches:,} {take} {shown(total.mean)}{within} {unit}{sure}",
        PrintedTable([name.format(unit) for name in _HEADERS], _rows(result, shown), _RIGHT),
        f"{trials} trials; each replays the first launch of each kernel and shape, and one drawn from the others.\n"
        f"best {unit}: the same work with no wasted sector, no conflict and no waiting (speed of light).",
        *_too_short(result),
        *_advice(result),
    ]


def _too_short(result: ProgramResult) -> list[str]:
    """A warning of kernels with a predicted time below the best possible one."""
    pairs = zip(result.labels(), result.groups, strict=True)
    names = _short_names(result)
    found = [names[label] for label, group in pairs if group.best_possible > group.time.mean]
    why = "the traced blocks do not fill the GPU, so the predicted time is too short; --blocks 2x traces more"
    return [wrapped(f"{', '.join(found)}: {why}")] if found else []


def _advice(result: ProgramResult) -> list[str]:
    """What to try, once for all kernels with the same advice."""
    kernels, short = dict[str, list[str]](), _short_names(result)
    for one in result.about["findings"]:
        if one["advice"]:
            kernels.setdefault(one["advice"], []).append(short[one["kernel"]])
    lines = [f"{', '.join(names)}: try: {advice}" for advice, names in kernels.items()]
    return ["\n".join(wrapped(line) for line in lines)] if lines else []


def _rows(result: ProgramResult, shown: Callable[[float], str]) -> list[tuple[str, ...]]:
    """A row per kernel and grid, the longest first; kernels with more than MOST_GRIDS grids have one row in all.

    Args:
        shown: a time in milliseconds as text.
    """
    findings, rows = _findings(result), dict[str, list[tuple[str, LaunchGroup]]]()
    grids, names = Counter(group.kernel for group in result.groups), _short_names(result)
    for label, group in zip(result.labels(), result.groups, strict=True):
        rows.setdefault(label if grids[group.kernel] <= MOST_GRIDS else group.kernel, []).append((label, group))
    found = []
    for key, pairs in sorted(rows.items(), key=lambda one: -sum(group.time.mean for _, group in one[1])):
        finding = next((findings[label] for label, _ in pairs if label in findings), None)
        groups = [group for _, group in pairs]
        time = sum(group.time.mean for group in groups)
        name = names[key] if grids[key] <= MOST_GRIDS else f"{names[key]} ({grids[key]} grids)"
        found.append((name, *_row(groups, time, time / result.time.mean, finding, shown)))
    return found


def _short_names(result: ProgramResult) -> dict[str, str]:
    """A name for the table of each kernel and grid, and of kernels with many grids: different ones stay different."""
    grids = Counter(group.kernel for group in result.groups)
    many = [name for name, number in grids.items() if number > MOST_GRIDS]
    return distinct_names(result.labels(), _NAME) | distinct_names(many, _NAME - 12)


def distinct_names(names: Sequence[str], width: int) -> dict[str, str]:
    """Names of at most ``width`` characters; those that would be cut to the same keep the words that differ.

    >>> names = ["for_each<policy, fill, unsigned long>", "for_each<policy, iota, unsigned long>"]
    >>> list(distinct_names(names, 20).values())
    ['for_each<…fill, uns…', 'for_each<…iota, uns…']
    """
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(shortened(name, width), []).append(name)
    found: dict[str, str] = {}
    for short, group in alike.items():
        found.update({group[0]: short} if len(group) == 1 else _differing(group, width))
    return found


def _differing(names: list[str], width: int) -> dict[str, str]:
    """Names that differ in their middles: each from the word on that differs, a first argument with its template."""
    common = commonprefix(names)
    head = common[: min(common.find("<") + 1, width // 2)]
    for before, words in ((head, r"([\w:]+<)?[\w:]*$"), ("", r"([\w:]+<)?[\w:]*$"), (head, r"[\w:]*$")):
        start = len(re.sub(words, "", common))
        alike: dict[str, list[str]] = {}
        for name in names:
            rest = re.sub(r"\b(\w+::)+(?=\w)", "", name[start:])
            alike.setdefault(cut(f"{before}…{rest}", width), []).append(name)
        if len(alike) > 1:
            break
    else:
        return {name: cut(f"#{number} {name}", width) for number, name in enumerate(names, 1)}
    found: dict[str, str] = {}
    for short, group in alike.items():
        found.update({group[0]: short} if len(group) == 1 else _differing(group, width))
    return found


def _row(
    groups: list[LaunchGroup],
    time: float,
    share: float,
    finding: dict[str, Any] | None,
    shown: Callable[[float], str],
) -> tuple[str, ...]:
    """What a row says of the groups of one kernel; the one that takes longest names what bounds it."""
    possible = sum(one.best_possible for one in groups)
    bound, busy = groups[0].bound_by
    return (
        f"{sum(group.launches for group in groups):,}",
        shown(time),
        number(100 * share, 1),
        f"{bound} ({percent(busy)} busy)" if bound == "latency" else f"{bound}, {percent(busy)}",
        shown(possible),
        number(100 * possible / time, 0),
        "" if groups[0].breakdown is None else separating_causes(groups[0].breakdown).split(",")[0],
        "" if finding is None else finding_text(finding),
    )


def finding_text(finding: dict[str, Any]) -> str:
    """A finding in one line: what is wrong, where, and what putting it right saves.

    >>> finding_text({"cause": "uncoalesced", "location": "a.cu:3", "gain": 0.25, "upper_bound": 0.5})
    'uncoalesced, a.cu:3: time -25 %'
    >>> finding_text({"cause": "uncoalesced", "location": "", "gain": None, "upper_bound": 0.5})
    'uncoalesced: time -50 % at most, not simulated'
    """
    where = f"{finding['cause']}, {finding['location']}" if finding["location"] else finding["cause"]
    if finding["gain"] is None:
        return f"{where}: time -{percent(finding['upper_bound'])} at most, not simulated"
    return f"{where}: time -{percent(finding['gain'])}"
