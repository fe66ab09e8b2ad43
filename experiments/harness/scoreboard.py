"""The scoreboard: every claim of every study as one row of text, for a terminal, for a README, and kept in a file."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.harness.readme import markdown
from experiments.harness.study import Claim
from memsim.analysis.table import aligned
from memsim.analysis.tables import ABSENT
from memsim.support.files import replacing

Row = list[str]  # a field a header below
HEADERS = ("claim", "published", "memsim", "95 % interval", "unit", "error", "aim", "reached", "source")
_REACHED = HEADERS.index("reached")
_IN_TERMINAL = len(HEADERS) - 1  # without the source


def row(claim: Claim) -> Row:
    """One claim.

    >>> from experiments.harness.study import Points
    >>> row(Claim("L1 read", 50.0, 52.5, (52.0, 53.0), "%", "table 1", aim=Points(3)))
    ['L1 read', '50', '52.5', '52 … 53', '%', '+2.5 pp', 'within 3', 'met', 'table 1']
    """
    interval = "" if claim.interval is None else " … ".join(significant(bound) for bound in claim.interval)
    numbers = significant(claim.published), significant(claim.ours)
    return [claim.claim, *numbers, interval, claim.unit, claim.error, str(claim.aim), claim.verdict, claim.source]


def text(found: Mapping[str, Sequence[Row]]) -> str:
    """Rows by study as aligned columns, with a line that counts the aims met."""
    lines = [[study, *cells[:_IN_TERMINAL]] for study, rows in found.items() for cells in rows]
    right = [False, False, True, True, True, False, True, True, False]
    return f"{aligned(('study', *HEADERS[:_IN_TERMINAL]), lines, right)}\n\n{summary(found)}"


def as_markdown(found: Mapping[str, Sequence[Row]]) -> str:
    """The same for a README, with each claim's source."""
    lines = [[study, *cells] for study, rows in found.items() for cells in rows]
    return f"{markdown(('study', *HEADERS), lines, left=2)}\n\n{summary(found)}"


def summary(found: Mapping[str, Sequence[Row]]) -> str:
    """How many aims are met, and how many rows are of runs before every claim had one.

    >>> from experiments.harness.study import AtLeast
    >>> summary({"a": [row(Claim("r", 1, 0.95, aim=AtLeast(0.9))), row(Claim("s", 1, 1, aim=AtLeast(2)))]})
    '2 claims; 1 of 2 aims met'
    """
    verdicts = [cells[_REACHED] for rows in found.values() for cells in rows]
    old = verdicts.count("")
    text = f"{len(verdicts)} claims; {verdicts.count('met')} of {len(verdicts) - old} aims met"
    return f"{text}; {old} rows are of older runs, without an aim" if old else text


def keep(path: Path, rows: Sequence[Row]) -> None:
    """Write a study's rows as CSV."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADERS, *rows])


def kept(path: Path) -> list[Row]:
    """The rows that :func:`keep` wrote; none where a study has not run in full."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


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
