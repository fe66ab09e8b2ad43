"""The best possible time of a kernel and what separates it from the predicted one, as text and as JSON values."""

from __future__ import annotations

from typing import Any

from memsim.analysis.percent import percent
from memsim.analysis.tables import number, one_time, time_unit
from memsim.analysis.time_breakdown import TimeBreakdown, TimeCause, TimePart
from memsim.report.output import PrintedTable

_SHOWN = 0.005  # a part with a smaller share of the time is left out of tables
_NAMED = 3  # causes in one line


def shown_parts(found: TimeBreakdown) -> list[tuple[TimePart, float]]:
    """The parts worth a row, each with its share of the time."""
    shares = ((part, part.milliseconds / found.milliseconds) for part in found.parts)
    return [(part, share) for part, share in shares if share >= _SHOWN]


def breakdown_table(found: TimeBreakdown) -> PrintedTable:
    """The parts of the predicted time."""
    scale, decimals, unit = time_unit(found.milliseconds)
    rows = [
        (str(part.cause), number(scale * part.milliseconds, decimals), number(100 * share, 1), part.decided_by)
        for part, share in shown_parts(found)
    ]
    title = f"best possible time (launch and needed work) {best_possible_text(found)}"
    return PrintedTable(("time spent on", unit, "share %", "decided by"), rows, (False, True, True, False), title)


def best_possible_text(found: TimeBreakdown) -> str:
    """The best possible time, its share of the predicted one, and the component that limits it."""
    return f"{one_time(found.best_possible)}, {percent(found.of_best)} of the predicted; limit: {found.limit}"


def separating_causes(found: TimeBreakdown) -> str:
    """What the time is spent on besides needed work, the largest first; may be empty."""
    causes = sorted(
        ((share, str(part.cause)) for part, share in shown_parts(found) if part.cause != TimeCause.needed), reverse=True
    )
    return ", ".join(f"{cause} {percent(share)}" for share, cause in causes[:_NAMED])


def breakdown_line(found: TimeBreakdown) -> str:
    """All in one line."""
    causes = separating_causes(found)
    return f"best possible time {best_possible_text(found)}" + (f"; besides needed work: {causes}" if causes else "")


def best_possible_document(found: TimeBreakdown | None) -> dict[str, Any]:
    """The keys of JSON documents."""
    if found is None:
        return {"best_possible_ms": None, "limit": None, "time_parts": None}
    parts = [{"cause": str(one.cause), "ms": one.milliseconds, "decided_by": one.decided_by} for one in found.parts]
    return {"best_possible_ms": found.best_possible, "limit": found.limit, "time_parts": parts}
