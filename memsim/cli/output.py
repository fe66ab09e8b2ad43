"""What several commands print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memsim.analysis.choices import Grouping, Method
from memsim.support.files import check_writable, keeping_existing, replacing, writing
from memsim.support.terminal import painted
from memsim.support.text import printable

if TYPE_CHECKING:
    from memsim.analysis.result import RunResult
    from memsim.studies.uncertain import ModelError
    from memsim.trace.reader import Trace
    from memsim.why import Explanation


def print_text(text: str) -> None:
    """Print for people: in colour where standard output is a terminal."""
    typer.echo(painted(text))


def print_traces(traces: list[Trace]) -> None:
    """One line a trace: its file, kernel, launch and size."""
    for trace in traces:
        grid, block = ("x".join(map(str, extents)) for extents in (trace.launch.grid, trace.launch.block))
        blocks = f"{trace.n_blocks:,} of {trace.launch.n_blocks:,} blocks"
        path = printable(str(trace.path))
        typer.echo(f"{path}: {trace.kernel}, grid {grid}, block {block}, {blocks}, {trace.n_instructions:,} rows")


def print_tables(
    result: RunResult, *, method: str = Method.t, by: str = Grouping.load, error: ModelError | None = None
) -> None:
    from memsim.report.text import tables

    print_text(tables(result, method=method, by=by))
    if error is not None:
        from memsim.report.sensitivity import two_error_bars

        print_text(f"\n{two_error_bars(result, error)}")


def check_file(out: Path, force: bool, *inputs: Path) -> None:
    """Refuse an output that cannot be written, reads as one of `inputs`, or exists and `force` is not given."""
    with keeping_existing(force):
        check_writable(out, *inputs)


def write_file(out: Path, text: str) -> None:
    """Write a text file that :func:`check_file` let pass, whole or not at all."""
    with writing(out), replacing(out) as temporary:
        temporary.write_text(text, encoding="utf-8")


def print_json(result: RunResult, error: ModelError | None = None, causes: list[Explanation] | None = None) -> None:
    from memsim.report.document import dumps
    from memsim.report.sensitivity import uncertain_document

    typer.echo(dumps(result, causes, **({"uncertain": uncertain_document(error)} if error is not None else {})))
