"""Findings as text: what to look at first, why, and what to try."""

from __future__ import annotations

import textwrap

from memsim.analysis.result import Result
from memsim.analysis.why import LEAST_COST, Finding, bandwidth_used, findings

_WIDTH = 100


def why_text(result: Result) -> str:
    """What ``memsim show --why`` prints."""
    found = findings(result)
    used = f"main memory moves {bandwidth_used(result):.0%} of what it could in this time"
    if not found:
        return f"nothing of weight: no access wastes {LEAST_COST:.0%} of the memory time; {used}"
    parts = [_entry(number, finding) for number, finding in enumerate(found, 1)]
    return "\n".join([*parts, "", f"cost: share of the memory time that is in excess; costs overlap; {used}"])


def _entry(number: int, finding: Finding) -> str:
    array = f" ({finding.array})" if finding.array else ""
    lines = [
        f"{number}. {finding.place}  {finding.text}{array}: {finding.cause}, {finding.cost:.0%}",
        f"{finding.evidence}",
        f"try: {finding.advice}",
    ]
    return "\n".join(
        textwrap.fill(line, _WIDTH, initial_indent="" if line is lines[0] else "   ", subsequent_indent="   ")
        for line in lines
    )
