"""What several commands print."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsim.analysis.choices import Grouping, Method
from memsim.support.text import printable

if TYPE_CHECKING:
    from memsim.analysis.result import Result
    from memsim.trace.reader import Trace


def print_traces(traces: list[Trace]) -> None:
    """One line a trace: its file, kernel, launch and size."""
    for trace in traces:
        grid, block = ("x".join(map(str, extents)) for extents in (trace.launch.grid, trace.launch.block))
        blocks = f"{trace.n_blocks:,} of {trace.launch.n_blocks:,} blocks"
        path = printable(str(trace.path))
        typer.echo(f"{path}: {trace.kernel}, grid {grid}, block {block}, {blocks}, {trace.n_instructions:,} rows")


def print_tables(result: Result, *, method: str = Method.t, by: str = Grouping.load) -> None:
    from memsim.report.text import tables

    typer.echo(tables(result, method=method, by=by))


def print_json(result: Result) -> None:
    from memsim.report.document import dumps

    typer.echo(dumps(result))
