"""What the page shows of results compared with the first one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memsim.analysis.compare import ResultComparison, compare
from memsim.analysis.result import RunResult
from memsim.report import comparison_figures
from memsim.report.changes import changes
from memsim.report.compare import matched, pairing, ratio_rows, speed_up, times, verdict
from memsim.report.page.pictures import svg

_NAMES = ("line", "load", "array")
_ALIKE = 0.02  # relative difference of latencies that no picture shows


def comparisons(results: Mapping[str, RunResult]) -> dict[str, Any] | None:
    """Each other result seen from the first, and their pictures; None for a result alone."""
    if len(results) < 2:
        return None
    (first, base), *others = results.items()
    drawn = {"busy": ("Busy time of each part of the GPU", comparison_figures.busy(results))}
    if _loads_differ(results):
        drawn["loads"] = ("Expected latency by array", comparison_figures.loads(results))
    return {
        "first": first,
        "others": [_compared_with_base(label, compare(base, result)) for label, result in others],
        "pictures": [
            {
                "name": f"compared-{name}",
                "title": title,
                "svg": svg(figure, f"compared-{name}", f"{title} of all results."),
            }
            for name, (title, figure) in drawn.items()
        ],
    }


def _loads_differ(results: Mapping[str, RunResult]) -> bool:
    """Whether the loads' expected latencies are worth a picture: two equal bars show nothing."""
    first, *others = (comparison_figures.array_latencies(result) for result in results.values())
    return any(
        first.keys() != other.keys() or any(abs(other[name] / x - 1) > _ALIKE for name, x in first.items())
        for other in others
    )


def _compared_with_base(label: str, found: ResultComparison) -> dict[str, Any]:
    headers, lines = matched(found.loads, list(_NAMES))
    ratio_headers, ratio_lines = ratio_rows(found)
    what = changes(found.first, found.second)
    return {
        "label": label,
        "speed_up": speed_up(found),
        "verdict": verdict(found),
        "times": times(found),
        "pairing": pairing(found),
        "cautions": found.cautions,
        "sentence": what.sentence(),
        "changes": {"headers": what.HEADERS, "lines": [one.row() for one in what.shown]},
        "same": what.same,
        "ratios": {"headers": ratio_headers, "lines": ratio_lines},
        "loads": {"headers": _distinct_titles(headers), "lines": lines},
    }


def _distinct_titles(headers: list[str]) -> list[str]:
    """A pair of columns under one title has one title each."""
    names = list(headers)
    for at, header in enumerate(headers):
        if header == "":
            names[at - 1], names[at] = f"{headers[at - 1]}, first", f"{headers[at - 1]}, second"
    return names
