"""Trace events for ui.perfetto.dev and chrome://tracing, in the JSON of Google's "Trace Event Format".

Times are microseconds of the simulated GPU. Complete events ("X") are what a unit does, counters ("C") the lengths of
queues, metadata ("M") the names of processes and threads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from memsim.analysis.program import ProgramResult
from memsim.host.profiled import profiled_timeline
from memsim.report.recorder import CHANNEL, LOAD_STORE, SLICE, WARP, RecordedSpan, SpanRecorder
from memsim.support.errors import InputError
from memsim.support.files import check_replaceable, replacing, writing
from memsim.trace.schema import StaticInstruction

_PROCESSES = {WARP: 1, LOAD_STORE: 1, SLICE: 2, CHANNEL: 3}
_HOST, _GPU = 1, 2  # processes of a program's timeline
Event = dict[str, Any]


def write_events(events: Iterable[Event], out: str | Path, about: dict[str, str]) -> Path:
    """Write a file of trace events.

    Args:
        events: in any order.
        out: the file.
        about: shown by the viewer as the trace's own information.

    Raises:
        InputError: the file cannot be written.
    """
    path = Path(out)
    with writing(path):
        check_replaceable(path)
    document = {"traceEvents": list(events), "displayTimeUnit": "ns", "otherData": about}
    with writing(path), replacing(path) as temporary:
        temporary.write_text(json.dumps(document, allow_nan=False), encoding="utf-8")
    return path


def program_events(result: ProgramResult) -> Iterator[Event]:
    """The launches, copies and waits of a profiled program: a thread for the host, and one for each stream.

    Raises:
        InputError: the profile has no activities.
    """
    if not result.about["activities"]:
        problem = "are not in the profile; profile the program itself, or a folder with launches.json"
        raise InputError("export perfetto", "activities", problem)
    timeline, _ = profiled_timeline(result)
    yield _process(_HOST, "host")
    yield _process(_GPU, f"{result.about['program']} on {result.gpu}")
    streams = list(dict.fromkeys(span.row for span in timeline.spans if span.row != "host"))
    yield _thread(_HOST, 0, "host")
    for number, row in enumerate(streams):
        yield _thread(_GPU, number, row)
    groups = dict(zip(result.labels(), result.groups, strict=True))
    for span in timeline.spans:
        track = (_HOST, 0) if span.row == "host" else (_GPU, streams.index(span.row))
        args: Event = {}
        if span.kind == "kernel" and span.name in groups:
            bound, busy = groups[span.name].bound_by
            args = {"bound by": bound, "busy %": round(100 * busy), "launches": groups[span.name].launches}
        yield _complete(span.name, span.kind, span.start, span.end, track, args)


def kernel_events(recorder: SpanRecorder, ops: Sequence[StaticInstruction]) -> Iterator[Event]:
    """One SM's warps and load-store unit, and the slices and channels that did anything.

    Args:
        recorder: of a replay that is finished.
        ops: static memory instructions of the trace.
    """
    us = 1 / recorder.model.gpu.sm.clock_mhz
    yield _process(1, f"SM {recorder.sm}")
    yield _process(2, "L2")
    yield _process(3, "DRAM")
    for unit, number in sorted({(span.unit, span.number) for span in recorder.spans}):
        yield _thread(*_track(unit, number), unit if unit == LOAD_STORE else f"{unit} {number}")
    for span in recorder.spans:
        name, args = _named(span, ops)
        yield _complete(name, span.unit, span.start * us, span.end * us, _track(span.unit, span.number), args)
    for one in recorder.lengths:
        pid, tid = _track(one.unit, one.number)
        name, args = f"queue of {one.unit} {one.number}", {"requests": one.length}
        yield {"ph": "C", "name": name, "ts": one.cycle * us, "pid": pid, "tid": tid, "args": args}


def _track(unit: str, number: int) -> tuple[int, int]:
    """Process and thread; the load-store unit stands above the warps."""
    return _PROCESSES[unit], number + (unit == WARP)


def _named(span: RecordedSpan, ops: Sequence[StaticInstruction]) -> tuple[str, Event]:
    if not 0 <= span.op < len(ops):
        return span.name, {}
    op = ops[span.op]
    name = f"{op.kind.name} {op.text}" if span.unit in (WARP, LOAD_STORE) else span.name
    return name, {"instruction": op.text, "location": f"{Path(op.file).name}:{op.line}"}


def _complete(name: str, kind: str, start: float, end: float, track: tuple[int, int], args: Event) -> Event:
    pid, tid = track
    duration = max(0.0, end - start)
    return {"ph": "X", "name": name, "cat": kind, "ts": start, "dur": duration, "pid": pid, "tid": tid, "args": args}


def _process(pid: int, name: str) -> Event:
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


def _thread(pid: int, tid: int, name: str) -> Event:
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
