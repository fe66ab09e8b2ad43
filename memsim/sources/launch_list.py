"""``launches.json`` in a folder of traces: all launches of a program, of which one trace may stand for several."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from memsim.support.errors import InputError
from memsim.support.files import replacing, writing
from memsim.trace.reader import Trace

NAME = "launches.json"
_MOST_BYTES = 1 << 28


def write_program(
    folder: Path, traces: Sequence[Trace], program: Sequence[int], activities: Sequence[tuple[str, int, int]]
) -> None:
    """Write the list.

    Args:
        folder: of the traces.
        traces: in it.
        program: for each launch, in their order, the place of its trace in `traces`.
        activities: of the program, as :class:`memsim.capture.activities.Activities` has them.

    Raises:
        InputError: it cannot be written.
    """
    file = folder / NAME
    text = json.dumps(
        {"traces": [one.path.name for one in traces], "launches": list(program), "activities": activities}
    )
    with writing(file), replacing(file) as temporary:
        temporary.write_text(text, encoding="utf-8")


def all_launches(folder: Path, traces: Sequence[Trace], some_suffice: bool = False) -> list[Trace]:
    """The trace of each launch of a program, in their order; `traces` where the folder has no list.

    Args:
        folder: of the traces.
        traces: all that are in it, in the order of their launches.
        some_suffice: leave out launches whose trace is not there, and add traces that are not listed.

    Raises:
        InputError: the list is damaged, or names a trace that is not there.
    """
    file = folder / NAME
    if not file.is_file():
        return list(traces)
    by_name = {one.path.name: one for one in traces}
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise ValueError
        listed = json.loads(file.read_text("utf-8"))
        names, indices = listed["traces"], listed["launches"]
        if not all(type(index) is int and 0 <= index < len(names) for index in indices):
            raise ValueError
        launched = [names[index] for index in indices if not some_suffice or names[index] in by_name]
        found = [by_name[name] for name in launched]
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        problem = "is damaged or names a trace that is not in the folder; capture the program again"
        raise InputError(file, "launches", problem) from error
    if some_suffice:
        found += [one for one in traces if one.path.name not in launched]
    if not found:
        raise InputError(file, "launches", "are missing; capture the program again")
    return found


def all_activities(folder: Path) -> list[tuple[str, int, int]]:
    """Kind, stream and value of what a program asked of the GPU; nothing where the folder does not state it.

    Raises:
        InputError: the list is damaged.
    """
    file = folder / NAME
    if not file.is_file():
        return []
    try:
        listed = json.loads(file.read_text("utf-8")).get("activities", [])
        return [(str(kind), int(stream), int(value)) for kind, stream, value in listed]
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise InputError(file, "activities", "are damaged; capture the program again") from error
