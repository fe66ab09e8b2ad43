"""A program's profile as text: its kernels by time, what bounds each, and how far it is from the best possible time."""

from __future__ import annotations

from typing import Any

from memsim.analysis.program import LaunchGroup, ProgramResult
from memsim.analysis.table import aligned
from memsim.analysis.tables import number

_HEADERS = ("kernel", "launches", "ms", "share %", "bound by", "best ms", "of best %", "top finding")
_RIGHT = (False, True, True, True, False, True, True, False)


def profile_text(result: ProgramResult) -> str:
    """The table of kernels, the time of all launches with its interval, and what it rests on."""
    total = result.time
    findings: dict[str, dict[str, Any]] = {one["kernel"]: one for one in result.about["findings"]}
    rows = [
        _row(label, group, total.mean, findings.get(label))
        for label, group in zip(result.labels(), result.groups, strict=True)
    ]
    interval = total.interval()
    within = "" if interval is None else f" ± {number(interval.width / 2, 4)}"
    launches, trials = sum(group.launches for group in result.groups), len(total.values)
    take = "launch takes" if launches == 1 else "launches take"
    lines = [
        f"{result.about['program']} on {result.gpu}: {launches:,} {take} {number(total.mean, 4)}{within} ms",
        aligned(_HEADERS, rows, _RIGHT),
        f"{trials} trials; each replays the first launch of each kernel and shape, and one drawn from the others.\n"
        "best ms: the same work with no wasted sector, no conflict and no waiting (speed of light).",
    ]
    return "\n\n".join(lines)


def _row(label: str, group: LaunchGroup, total: float, finding: dict[str, Any] | None) -> tuple[str, ...]:
    time, best, (bound, busy) = group.time.mean, group.best_possible, group.bound_by
    return (
        label,
        f"{group.launches:,}",
        number(time, 4),
        number(100 * time / total, 1),
        f"{bound} ({100 * busy:.0f} % busy)" if bound == "latency" else f"{bound}, {100 * busy:.0f} %",
        number(best, 4),
        number(100 * best / time, 0),
        "" if finding is None else finding_text(finding),
    )


def finding_text(finding: dict[str, Any]) -> str:
    """A finding in one line: what is wrong, where, and what putting it right saves.

    >>> finding_text({"cause": "uncoalesced", "place": "a.cu:3", "gain": 0.25, "bound": 0.5, "repair": "x"})
    'uncoalesced, a.cu:3: time -25 %'
    >>> finding_text({"cause": "uncoalesced", "place": "", "gain": None, "bound": 0.5, "repair": ""})
    'uncoalesced: time -50 % at most'
    """
    where = f"{finding['cause']}, {finding['place']}" if finding["place"] else finding["cause"]
    if finding["gain"] is None:
        return f"{where}: time -{100 * finding['bound']:.0f} % at most"
    return f"{where}: time -{100 * finding['gain']:.0f} %"
