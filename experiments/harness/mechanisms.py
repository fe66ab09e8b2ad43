"""The mechanism of each missed row, from ``mechanisms.csv``. Each study's README has the details."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.harness.readme import markdown
from experiments.harness.scoreboard import HEADERS, Row

TABLE = Path(__file__).with_suffix(".csv")
NOT_EXPLAINED = "not explained"
_REACHED = HEADERS.index("reached")


class Mechanism(NamedTuple):
    """One line of the table: `claims` is a regular expression that the names of claims contain."""

    study: str
    claims: str
    text: str


def mechanisms() -> list[Mechanism]:
    """All of the table.

    >>> mechanisms()[0].study
    'baghsorkhi2012'
    """
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Mechanism(*cells) for cells in list(csv.reader(file))[1:]]


def mechanism_of(study: str, claim: str) -> str:
    """The first mechanism that fits a claim.

    >>> mechanism_of("triton", "a new claim")
    'not explained'
    """
    fitting = (one.text for one in mechanisms() if one.study == study and re.search(one.claims, claim))
    return next(fitting, NOT_EXPLAINED)


def missed_table(found: Mapping[str, Sequence[Row]]) -> str:
    """Missed rows per study and mechanism, as Markdown."""
    missed: dict[tuple[str, str], int] = {}
    for study, rows in found.items():
        for cells in rows:
            if cells[_REACHED] == "missed":
                key = study, mechanism_of(study, cells[0])
                missed[key] = missed.get(key, 0) + 1
    ordered = sorted(missed.items(), key=lambda one: -one[1])
    return markdown(["study", "mechanism", "rows missed"], [[*key, str(count)] for key, count in ordered], left=2)
