"""What the page shows of a program: its time, its kernels, cold next to warm L2, and its timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memsim.analysis.model_error import LEVEL
from memsim.analysis.percent import percent
from memsim.analysis.program import LaunchGroup, ProgramResult
from memsim.analysis.result import RunResult
from memsim.analysis.tables import ABSENT, between, number, one_time
from memsim.analysis.utilization import LATENCY
from memsim.host.profiled import profiled_timeline
from memsim.report.best_possible import separating_causes
from memsim.report.page.pictures import svg
from memsim.report.profile import finding_text
from memsim.report.timeline import timeline_figure
from memsim.support.errors import InputError

_SECTOR_BYTES = 32


def of_program(label: str, result: ProgramResult, number_on_page: int, links: Mapping[str, str]) -> dict[str, Any]:
    """Everything of one program that the template asks for.

    Args:
        label: what the page calls it.
        result: the profile.
        number_on_page: its number on the page.
        links: by a kernel's label, the place on the page that shows it; kernels without one are left out there.
    """
    total, groups = result.time.mean, dict(zip(result.labels(), result.groups, strict=True))
    findings = {one["kernel"]: one for one in result.about["findings"]}
    timeline, rests_on = _timeline(result, f"p{number_on_page}-timeline")
    return {
        "id": f"p{number_on_page}",
        "label": label,
        "program": result.about["program"],
        "gpu": result.gpu,
        "sentences": _sentences(result, groups, findings),
        "key": _key_figures(result),
        "interrupted": result.about["interrupted"],
        "kernels": [_kernel(name, group, total, findings.get(name), links) for name, group in groups.items()],
        "pairs": [_pair(name, group) for name, group in groups.items() if group.others is not None],
        "timeline": timeline,
        "rests_on": rests_on,
    }


def _sentences(
    result: ProgramResult, groups: Mapping[str, LaunchGroup], findings: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """What is slow, where, why, and what would help, in the order of kernels."""
    total, lines = result.time.mean, []
    for name, group in list(groups.items())[:2]:
        share = group.time.mean / total
        text = f"{name} takes {percent(share)} of the time and is {_bound_by(group)}"
        if (parts := group.breakdown) is not None:
            text += f"; its best possible time is {percent(parts.of_best)} of its time"
            text += f"; besides needed work: {causes}" if (causes := separating_causes(parts)) else ""
        text += f". Top finding: {finding_text(dict(findings[name]))}." if name in findings else "."
        lines.append(_unbroken(text))
        if share > 0.8:
            break
    return lines


def _bound_by(group: LaunchGroup) -> str:
    bound, busy = group.bound_by
    return f"bound by {bound} ({'no component over ' if bound == LATENCY else ''}{percent(busy)} busy)"


def _key_figures(result: ProgramResult) -> list[tuple[str, str, str]]:
    interval, total, its = result.time.interval(), result.time.mean, result.prediction_interval
    within = "" if interval is None else _unbroken(f" ± {50 * interval.width / total:.1f} %")
    possible = sum(group.best_possible for group in result.groups)
    launches, trials = sum(group.launches for group in result.groups), len(result.time.values)
    return [
        ("time of all launches", f"{one_time(total)}{within}", "95 % interval of the mean"),
        *(
            [("prediction interval", between(*its), f"holds the measured time in {percent(LEVEL)} of cases")]
            if its
            else []
        ),
        (
            "best possible",
            one_time(possible) if possible == possible else ABSENT,
            f"{percent(possible / total)} of the predicted time",
        ),
        ("launches", f"{launches:,}", f"of {len(result.groups)} kernels and shapes"),
        ("trials", str(trials), "order of warps, and which launches are replayed"),
    ]


def _kernel(
    name: str, group: LaunchGroup, total: float, finding: Mapping[str, Any] | None, links: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "label": name,
        "link": links.get(name),
        "share": group.time.mean / total,
        "time": one_time(group.time.mean),
        "launches": f"{group.launches:,}",
        "bound": _bound_by(group),
        "best": group.best_possible / group.time.mean,
        "lost": "" if group.breakdown is None else _unbroken(separating_causes(group.breakdown)),
        "finding": "" if finding is None else _unbroken(finding_text(dict(finding))),
        "advice": "" if finding is None else finding["advice"],
    }


def _pair(name: str, group: LaunchGroup) -> tuple[str, ...]:
    """The first launch, which finds what other kernels left, next to a later one."""
    assert group.others is not None
    first, later = group.first, group.others
    return (
        name,
        f"{one_time(first.kernel_time.mean)} → {one_time(later.kernel_time.mean)}",
        number(first.kernel_time.mean / later.kernel_time.mean, 2),
        f"{_percent(first.l2_read.mean)} → {_percent(later.l2_read.mean)}",
        f"{_traffic(first)} → {_traffic(later)}",
    )


def _unbroken(text: str) -> str:
    """A text in which no line begins with a percent sign."""
    return text.replace(" %", "\u00a0%")


def _percent(value: float) -> str:
    return ABSENT if value != value else f"{number(100 * value, 1)} %"


def _traffic(result: RunResult) -> str:
    return f"{number(sum(result.counters['dram']['sectors'].values()) * _SECTOR_BYTES / 1e6, 2)} MB"


def _timeline(result: ProgramResult, name: str) -> tuple[str, str]:
    """The picture and what it rests on; an empty picture and why there is none."""
    if not result.about["activities"]:
        return "", "The file has no copies and waits: it was made from a folder without launches.json."
    try:
        timeline, rests_on = profiled_timeline(result)
    except InputError as error:
        return "", str(error)
    return svg(timeline_figure(timeline), name, "Timeline of launches and copies by stream."), rests_on
