"""``memsim run FOLDER``: the traces of a program's launches."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from memsim.interactive import Result
from memsim.sources.outputs import SUFFIX
from memsim.support.errors import InputError
from memsim.trace.reader import Trace


def folder_traces(folder: Path, refused: Sequence[str], in_turn: bool = False) -> list[Trace]:
    """All traces of a folder, in the order of their launches where they tell it, else of their names' numbers.

    Args:
        folder: with trace files.
        refused: options that were given and that concern one trace.
        in_turn: whether the order matters, so that each trace must tell its place.

    Raises:
        InputError: an option of those, no trace in the folder, or one that does not tell its place where that matters.
    """
    if refused:
        raise InputError(folder, "folder", f"has several traces, which {', '.join(refused)} does not concern; give one")
    traces = [Trace.open(path) for path in sorted(folder.glob(f"*{SUFFIX}"), key=_by_number)]
    if not traces:
        raise InputError(folder, "folder", f"has no trace ({SUFFIX}); give one that memsim capture has made")
    for trace in traces:
        if in_turn and "order" not in trace.parameters:
            problem = "has no order, the launch's place in the program; capture it anew, or leave --warm out"
            raise InputError(trace.path, "parameters", problem)
    return sorted(traces, key=lambda trace: trace.parameters.get("order", 0))


def until_interrupted(traces: Sequence[Trace], replay: Callable[[Trace], Result]) -> list[Result]:
    """The launches' results, each by itself; Ctrl-C, which keeps the finished trials of one, ends them all.

    Args:
        traces: of the launches.
        replay: of one.
    """
    results = []
    for trace in traces:
        results.append(replay(trace))
        if results[-1].interrupted:
            typer.echo(f"memsim: interrupted: {len(results)} of {len(traces)} launches are in the table", err=True)
            break
    return results


def _by_number(path: Path) -> list[str | int]:
    """A name's words and numbers in turn, as a key: add-2 comes before add-10."""
    words = re.split(r"(\d+)", path.stem)
    return [int(word) if number % 2 else word for number, word in enumerate(words)]
