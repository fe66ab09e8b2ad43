"""The scoreboard: every claim of every study, as text for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.papers.readme import markdown
from experiments.papers.study import Claim
from memsim.analysis.table import aligned
from memsim.analysis.tables import ABSENT

_HEADERS = ("study", "claim", "published", "ours", "95 % interval", "unit", "error", "aim", "")


def text(found: Mapping[str, Sequence[Claim]]) -> str:
    """As aligned columns, with a line that counts the aims met."""
    table = aligned(_HEADERS, _rows(found), [False, False, True, True, True, False, True, True, False])
    return f"{table}\n\n{summary(found)}"


def as_markdown(found: Mapping[str, Sequence[Claim]]) -> str:
    """The same for a README, with each claim's source."""
    claims = [claim for claims in found.values() for claim in claims]
    rows = [[*row, claim.source] for row, claim in zip(_rows(found), claims, strict=True)]
    return f"{markdown([*_HEADERS, 'source'], rows, left=2)}\n\n{summary(found)}"


def summary(found: Mapping[str, Sequence[Claim]]) -> str:
    """How many aims are met.

    >>> from experiments.papers.study import AtLeast
    >>> summary({"a": [Claim("r", 1, 0.95, aim=AtLeast(0.9)), Claim("s", 1, 1)]})
    '2 claims; 1 of 1 aims met'
    """
    verdicts = [claim.verdict for claims in found.values() for claim in claims]
    asked = [verdict for verdict in verdicts if verdict]
    return f"{len(verdicts)} claims; {asked.count('met')} of {len(asked)} aims met"


def significant(value: float, digits: int = 4) -> str:
    """A number with so many significant digits, never in exponents; a dash where there is none.

    >>> significant(0.012345), significant(98765.4), significant(17.0), significant(float("nan"))
    ('0.01235', '98,765', '17', '–')
    """
    if value != value:
        return ABSENT
    whole = len(f"{abs(value):.0f}") if abs(value) >= 1 else 0
    if whole >= digits:
        return f"{value:,.0f}"
    shown = f"{value:.{digits - whole}f}" if whole else f"{float(f'{value:.{digits}g}'):f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _rows(found: Mapping[str, Sequence[Claim]]) -> list[list[str]]:
    return [_row(study, claim) for study, claims in found.items() for claim in claims]


def _row(study: str, claim: Claim) -> list[str]:
    interval = "" if claim.interval is None else " … ".join(significant(bound) for bound in claim.interval)
    aim = "" if claim.aim is None else str(claim.aim)
    numbers = significant(claim.published), significant(claim.ours)
    return [study, claim.claim, *numbers, interval, claim.unit, claim.error, aim, claim.verdict]
