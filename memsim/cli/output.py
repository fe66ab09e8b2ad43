"""What several commands print."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memsim.cli.colour import painted
from memsim.support.files import check_writable, keeping_existing, replacing, writing
from memsim.support.text import printable

if TYPE_CHECKING:
    from memsim.report.output import CommandOutput
    from memsim.trace.reader import Trace


def print_output(output: CommandOutput, format: str = "text", quiet: bool = False) -> None:
    """Print in a format; text is in colour where standard output is a terminal.

    Args:
        output: of a command.
        format: of :func:`memsim.report.formats.format_names`.
        quiet: print nothing for people, only data.
    """
    from memsim.report.formats import FOR_PEOPLE, rendered

    if not (quiet and format in FOR_PEOPLE):
        text = rendered(output, format)
        typer.echo(painted(text) if format == "text" else text)


@contextmanager
def programs_print_to_stderr(format: str) -> Iterator[None]:
    """Send what programs print to standard error where the format is for data, which alone fills standard output."""
    from memsim.report.formats import FOR_PEOPLE

    if format in FOR_PEOPLE:
        yield
        return
    sys.stdout.flush()
    own = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(own, 1)
        os.close(own)


def print_traces(traces: list[Trace]) -> None:
    """One line a trace: its file, kernel, launch and size."""
    for trace in traces:
        grid, block = ("x".join(map(str, extents)) for extents in (trace.launch.grid, trace.launch.block))
        blocks = f"{trace.n_blocks:,} of {trace.launch.n_blocks:,} blocks"
        path = printable(str(trace.path))
        typer.echo(f"{path}: {trace.kernel}, grid {grid}, block {block}, {blocks}, {trace.n_instructions:,} rows")


def check_file(out: Path, force: bool, *inputs: Path) -> None:
    """Refuse an output that cannot be written, reads as one of `inputs`, or exists and `force` is not given."""
    with keeping_existing(force):
        check_writable(out, *inputs)


def write_file(out: Path, text: str) -> None:
    """Write a text file that :func:`check_file` let pass, whole or not at all."""
    with writing(out), replacing(out) as temporary:
        temporary.write_text(text, encoding="utf-8")


def import_matplotlib() -> None:
    """Import matplotlib without the docstrings that it makes of all properties of all its classes.

    Nobody reads them in a command, and they take as long as drawing a page's figures once.
    """
    import matplotlib.artist

    matplotlib.artist.kwdoc = lambda artist: ""
