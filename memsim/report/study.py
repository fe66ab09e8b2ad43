"""A study: its points before it runs, its outputs after."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from memsim.analysis.percent import percent
from memsim.analysis.table import Table, TableColumn
from memsim.analysis.tables import ABSENT, time_unit, with_interval
from memsim.report.output import Block, CommandOutput, PrintedTable, joined
from memsim.report.study_json import document
from memsim.studies.effects import FieldEffect, effects
from memsim.studies.forecast import Forecast
from memsim.studies.result import OUTPUTS, RATIOS, StudyTrials
from memsim.studies.run import DesignStudy

_MINUTES = 120  # seconds from which on a time is printed in minutes
SHOWN = 40  # points in the text; the CSV has all
_HEADERS = {
    "l1_read": "L1 read %",
    "l2_read": "L2 read %",
    "l2_write": "L2 write %",
    "time_ms": "time",
    "tm": "DRAM latency, cycles",
}


def points_output(study: DesignStudy, *notes: str) -> CommandOutput:
    """The points of a design; sentences below it."""
    rows = ({"point": number} | point for number, point in enumerate(study.points))
    return CommandOutput(lambda: [_points(study), *notes], lambda: rows)


def _points(study: DesignStudy) -> PrintedTable:
    shown = study.points[:SHOWN]
    names = list(study.points[0])
    rows = [[str(number), *(value(point[name], name) for name in names)] for number, point in enumerate(shown)]
    lines = []
    if len(study.points) > SHOWN:
        lines.append(f"and {len(study.points) - SHOWN:,} more points")
    if study.left_out:
        lines.append(f"require excludes {study.left_out:,} points")
    return PrintedTable(["point", *names], rows, [True] * (len(names) + 1), note="\n".join(lines))


def forecast(one: Forecast, jobs: int) -> str:
    """How long the study would take."""
    seconds = one.seconds(jobs)
    time = f"{seconds:,.0f} seconds" if seconds < _MINUTES else f"{seconds / 60:,.1f} minutes"
    traces = f"{one.traces:,} trace{'s' * (one.traces != 1)}"
    return (
        f"{one.runs:,} runs of at most {one.trials // one.jobs} trials, {traces}; the first trace took "
        f"{one.describing:.1f} s, its first trial {one.first:.2f} s and the next {one.trial:.2f} s: about {time} on "
        f"{jobs} core{'s' * (jobs != 1)}"
    )


def output(study: StudyTrials) -> CommandOutput:
    """Everything ``memsim show`` prints of a study."""
    return CommandOutput(lambda: _blocks(study), table(study).records, lambda: document(study))


def text(study: StudyTrials) -> str:
    """The same as text."""
    return joined(_blocks(study))


def _blocks(study: StudyTrials) -> list[Block]:
    tables = [_table(study, case) for case in range(len(study.cases))]
    blocks: list[Block] = [heading(study), *conclusions(study), *tables, "\n".join(notes(study))]
    return [block for block in blocks if block]


def table(study: StudyTrials) -> Table[tuple[int, int]]:
    """A row per point and case: the fields, and each output's mean and interval."""

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

    columns = [
        TableColumn[tuple[int, int]]("point", lambda row: str(row[0])),
        TableColumn("case", lambda row: str(row[1])),
    ]
    return Table(sorted(study.trials), columns, record)


def conclusions(study: StudyTrials) -> list[str]:
    """What the study found, a sentence per case: which values take less time, and which fields change nothing."""
    return [_conclusion(study, case) for case in range(len(study.cases))]


def _conclusion(study: StudyTrials, case: int) -> str:
    found = effects(study, case)
    if not found:
        several = f"{study.cases[case]}: no two of its points differ in a single field only"
        return (
            f"{several}; memsim plot shows the trends" if len(study.points) > 1 else f"{study.cases[case]}: one point"
        )
    if all(one.interval is None for one in found):
        return f"{study.cases[case]}: one trial per point, so noise is unknown; give trials = 2 or more"
    sentences = [_effect_text(one) for one in found if one.significant]
    if same := [one.field for one in found if not one.significant]:
        verb = "changes" if len(same) == 1 else "change"
        sentences.append(f"{_listed(same)} {verb} nothing within the noise")
    return f"{study.cases[case]}: {'; '.join(sentences)}"


def _effect_text(one: FieldEffect) -> str:
    """``fetch_bytes 64 saves 17.0 % of the time of 32``, with the interval."""
    fastest = _listed([value(each, one.field) for each in one.fastest])
    its = "" if one.interval is None else f" ({100 * one.interval.low:.1f} … {100 * one.interval.high:.1f})"
    alike = ", without a significant difference," if len(one.fastest) > 1 else ""
    verb = "saves" if len(one.fastest) == 1 else "save"
    slowest = value(one.slowest, one.field)
    return f"{one.field} {fastest}{alike} {verb} {percent(one.saved, 1)}{its} compared with {slowest}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def value(one: Any, field: str = "") -> str:
    """A field's value, short; sizes in units of 1,024 bytes.

    >>> value(49152, "l1.size_bytes"), value(49152), value(96, "l1.line_bytes"), value(0.123456), value("lru")
    ('48 KiB', '49152', '96', '0.1235', 'lru')
    """
    if field.endswith("_bytes") and isinstance(one, int) and one >= 1024 and one % 1024 == 0:
        return f"{one >> 20} MiB" if one % (1 << 20) == 0 else f"{one >> 10} KiB"
    return f"{one:.4g}" if isinstance(one, float) else str(one)


def heading(study: StudyTrials) -> str:
    written, seconds = study.about.get("study", {}), study.about.get("seconds", {}).get("all", 0.0)
    trials = sum(len(one.trial) for one in {id(one): one for one in study.trials.values()}.values())
    lines = [
        f"{len(study.points)} points, {len(study.cases)} case{'s' * (len(study.cases) != 1)}, {trials:,} trials, "
        f"seed {written.get('seed', 0)}, {seconds:,.0f} s"
    ]
    if saved := study.about.get("saved"):
        lines.append(f"{saved:,} trials were not needed: their points' intervals were narrow enough before")
    if study.about.get("complete") is False:
        lines.append("interrupted: some points have fewer trials than they should, or none")
    return "\n".join(lines)


def _table(study: StudyTrials, case: int) -> PrintedTable:
    headers, rows = point_rows(study, case, SHOWN)
    more = len(study.points) - SHOWN
    note = f"and {more:,} more points; --csv prints all" if more > 0 else ""
    return PrintedTable(headers, rows, [True] * len(headers), str(study.cases[case]), note)


def point_rows(study: StudyTrials, case: int, limit: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Headers and rows of the first `limit` points, or of all."""
    names = [name for name in _HEADERS if np.isfinite(study.means(name, case)).any()]
    times = study.means("time_ms", case)
    scale, _, unit = time_unit(float(np.nanmin(times))) if np.isfinite(times).any() else (1.0, 4, "ms")
    rows = []
    for point in range(len(study.points[:limit])):
        fields = [value(study.points[point][name], name) for name in study.fields]
        if (point, case) not in study.trials:
            rows.append([str(point), *fields, *[ABSENT] * (len(names) + 1)])
            continue
        cells = [_cell(study, name, point, case, scale) for name in names]
        rows.append([str(point), *fields, str(len(study.trials[point, case].trial)), *cells])
    headers = [f"time, {unit}" if name == "time_ms" else _HEADERS[name] for name in names]
    return ["point", *study.fields, "trials", *headers], rows


def _cell(study: StudyTrials, name: str, point: int, case: int, scale: float) -> str:
    sample = study.sample(name, point, case)
    if not sample.finite.size:
        return ABSENT
    if name in RATIOS:
        return with_interval(sample, scale=100, decimals=2)
    if name == "tm":
        return with_interval(sample, decimals=0)
    digits = 3 - math.floor(math.log10(scale * sample.mean))  # four in all
    return with_interval(sample, scale, max(0, digits))


def notes(study: StudyTrials) -> Iterator[str]:
    yield "±: half the 95 % interval of the mean; a trial has the same random numbers at every point"
