"""A study as text: its points before it runs, its outputs after."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from memsim.analysis.table import Column, Table, aligned
from memsim.analysis.tables import ABSENT, with_interval
from memsim.studies import Study, StudyResult
from memsim.studies.forecast import Forecast
from memsim.studies.outputs import OUTPUTS, RATIOS

SHOWN = 40  # points in the text; the CSV has all
_HEADERS = {"l1_read": "L1 read %", "l2_read": "L2 read %", "l2_write": "L2 write %", "time_ms": "ms", "tm": "Tm"}


def points(study: Study) -> str:
    """The points of a design."""
    shown = study.points[:SHOWN]
    names = list(study.points[0])
    rows = [[str(number), *(value(point[name]) for name in names)] for number, point in enumerate(shown)]
    lines = [aligned(["point", *names], rows, [True] * (len(names) + 1))]
    if len(study.points) > SHOWN:
        lines.append(f"and {len(study.points) - SHOWN:,} more points")
    if study.left_out:
        lines.append(f"{study.left_out:,} points are left out by require")
    return "\n".join(lines)


def forecast(one: Forecast, jobs: int) -> str:
    """How long the study would take."""
    minutes = one.seconds / jobs / 60
    return (
        f"{one.runs:,} runs of at most {one.trials // one.runs} trials, {one.traces:,} traces; a trial of the first "
        f"took {one.trial:.2f} s, its trace {one.describing:.1f} s: about {minutes:,.1f} minutes on {jobs} "
        f"core{'s' * (jobs != 1)}"
    )


def text(study: StudyResult) -> str:
    """Everything ``memsim show`` prints of a study."""
    parts = [heading(study)]
    for case, named in enumerate(study.cases):
        parts.append(f"{named}\n{_table(study, case)}")
    parts.append("\n".join(notes(study)))
    return "\n\n".join(part for part in parts if part)


def table(study: StudyResult) -> Table[tuple[int, int]]:
    """A row a point and case: the fields, and each output's mean and interval."""

    def record(row: tuple[int, int]) -> dict[str, Any]:
        point, case = row
        found: dict[str, Any] = {"point": point, "kernel": study.cases[case].kernel, "gpu": study.cases[case].gpu}
        found |= study.points[point]
        found["trials"] = int(np.isfinite(study.output("cycles", case)[point]).sum())
        for name in OUTPUTS:
            sample = study.sample(name, point, case)
            low, high = sample.interval() or (float("nan"), float("nan"))
            found |= {name: sample.mean, f"{name}_low": low, f"{name}_high": high}
        return found

    columns = [Column[tuple[int, int]]("point", lambda row: str(row[0])), Column("case", lambda row: str(row[1]))]
    return Table(sorted(study.trials), columns, record)


def value(one: Any) -> str:
    """A field's value, short.

    >>> value(49152), value(0.123456), value("lru")
    ('49152', '0.1235', 'lru')
    """
    return f"{one:.4g}" if isinstance(one, float) else str(one)


def heading(study: StudyResult) -> str:
    asked, seconds = study.about.get("study", {}), study.about.get("seconds", {}).get("all", 0.0)
    trials = sum(len(one.trial) for one in {id(one): one for one in study.trials.values()}.values())
    lines = [
        f"{len(study.points)} points, {len(study.cases)} case{'s' * (len(study.cases) != 1)}, {trials:,} trials, "
        f"seed {asked.get('seed', 0)}, {seconds:,.0f} s"
    ]
    if saved := study.about.get("saved"):
        lines.append(f"{saved:,} trials were saved: their points' answers were known before")
    if study.about.get("complete") is False:
        lines.append("interrupted: some points have fewer trials than they should, or none")
    return "\n".join(lines)


def _table(study: StudyResult, case: int) -> str:
    headers, rows = point_rows(study, case, SHOWN)
    more = len(study.points) - SHOWN
    lines = [aligned(headers, rows, [True] * len(headers))]
    return "\n".join([*lines, f"and {more:,} more points; --csv prints all"] if more > 0 else lines)


def point_rows(study: StudyResult, case: int, limit: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Headers and rows of the first `limit` points, or of all."""
    names = [name for name in _HEADERS if np.isfinite(study.means(name, case)).any()]
    rows = []
    for point in range(len(study.points[:limit])):
        fields = [value(study.points[point][name]) for name in study.fields]
        if (point, case) not in study.trials:
            rows.append([str(point), *fields, *[ABSENT] * (len(names) + 1)])
            continue
        cells = [_cell(study, name, point, case) for name in names]
        rows.append([str(point), *fields, str(len(study.trials[point, case].trial)), *cells])
    return ["point", *study.fields, "trials", *(_HEADERS[name] for name in names)], rows


def _cell(study: StudyResult, name: str, point: int, case: int) -> str:
    sample = study.sample(name, point, case)
    if not sample.finite.size:
        return ABSENT
    if name in RATIOS:
        return with_interval(sample, scale=100, decimals=2)
    # Four digits of the time, of which a millisecond may be much or little.
    return with_interval(sample, decimals=0 if name == "tm" else max(2, 3 - math.floor(math.log10(sample.mean))))


def notes(study: StudyResult) -> Iterator[str]:
    yield "±: half the 95 % interval of the mean; the same trial drew the same at every point"
