"""Profiles of programs side by side: ``memsim compare`` of files of ``memsim profile``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memsim.analysis.compare_programs import KernelChange, ProgramComparison
from memsim.analysis.program import LaunchGroup, ProgramResult
from memsim.analysis.tables import ABSENT, number
from memsim.report.compare import speed_up, verdict
from memsim.report.output import Block, CommandOutput, PrintedTable

_HEADERS = ("kernel", "launches", "", "first ms", "second ms", "speed-up", "bound by", "")
_RIGHT = (False, True, True, True, True, True, False, False)


def programs_output(first: str, others: Mapping[str, ProgramComparison]) -> CommandOutput:
    """The comparisons of profiles with the first.

    Args:
        first: what the first profile is called.
        others: every comparison by the name of its second profile.
    """
    return CommandOutput(
        lambda: [block for name, found in others.items() for block in _blocks(first, name, found)],
        lambda: [record for name, found in others.items() for record in _records(name, found)],
        lambda: {"first": first, "comparisons": [_document(name, found) for name, found in others.items()]},
    )


def _blocks(label: str, other: str, found: ProgramComparison) -> list[Block]:
    total = found.total
    lines = [
        f"first  {label}: {_about(found.first)}",
        f"second {other}: {_about(found.second)}",
        f"speed-up of the second {speed_up(total)}: {verdict(total)}",
        f"time of all launches {number(total.time.first, 4)} ms, {number(total.time.second, 4)} ms",
        *(f"note: {caution}" for caution in found.cautions),
    ]
    return ["\n".join(lines), PrintedTable(_HEADERS, [_row(one) for one in found.kernels], _RIGHT)]


def _records(name: str, found: ProgramComparison) -> Iterator[dict[str, Any]]:
    for one in found.kernels:
        times = (None if group is None else group.time.mean for group in (one.first, one.second))
        yield {
            "second": name, "kernel": one.label, **dict(zip(("first_ms", "second_ms"), times, strict=True)),
            "speedup": None if one.ratio is None else one.ratio.speedup,
        }  # fmt: skip


def _about(result: ProgramResult) -> str:
    launches = sum(group.launches for group in result.groups)
    return f"{result.about['program']} on {result.gpu}, {launches:,} launches, {len(result.time.values)} trials"


def _row(one: KernelChange) -> tuple[str, ...]:
    counts = [ABSENT if group is None else f"{group.launches:,}" for group in (one.first, one.second)]
    times = [ABSENT if group is None else number(group.time.mean, 4) for group in (one.first, one.second)]
    bound = ["" if group is None else group.bound_by[0] for group in (one.first, one.second)]
    return one.label, *counts, *times, ABSENT if one.ratio is None else speed_up(one.ratio), *bound


def _document(name: str, found: ProgramComparison) -> dict[str, Any]:
    return {
        "second": name,
        "speedup": found.total.speedup,
        "speedup_interval": found.total.speedup_interval,
        "time_ms": vars(found.total.time),
        "cautions": list(found.cautions),
        "kernels": [
            {
                "kernel": one.label,
                "first": _group(one.first),
                "second": _group(one.second),
                "speedup": None if one.ratio is None else one.ratio.speedup,
                "speedup_interval": None if one.ratio is None else one.ratio.speedup_interval,
            }
            for one in found.kernels
        ],
    }


def _group(group: LaunchGroup | None) -> dict[str, Any] | None:
    if group is None:
        return None
    bound, busy = group.bound_by
    return {
        "launches": group.launches, "time_ms": group.time.mean, "best_possible_ms": group.best_possible,
        "bound_by": bound, "busy": busy,
    }  # fmt: skip
