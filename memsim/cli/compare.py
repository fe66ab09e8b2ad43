"""``memsim compare``: results side by side, with an exit status for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memsim.analysis.choices import Convention
from memsim.cli.options import CountedAs
from memsim.support.errors import InputError

SLOWER = 1  # exit status


def compare(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RESULT RESULT...", help="Results files, the first is the base.")
    ],
    fail_if_slower: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Exit with 1 when one surely takes longer than the first by more: 5%."),
    ] = None,
    convention: CountedAs = Convention.model,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/compare.md) instead of tables.")] = False,
) -> None:
    """Compare results with the first: speed-up, hit ratios, every load and array, with intervals.

    Trials are paired by number where both drew from one seed.

    \b
    memsim compare before.h5 after.h5
    memsim compare before.h5 after.h5 --fail-if-slower 5%
    """
    from memsim.api import compare as side_by_side
    from memsim.interactive import Result
    from memsim.report import compare as report

    if len(paths) < 2:
        raise InputError("memsim compare", "RESULT", "is one file; give two or more, the first is the base")
    limit = None if fail_if_slower is None else _share(fail_if_slower)
    first, *others = (Result.load(path, convention) for path in paths)
    found = {str(path): side_by_side(first, other) for path, other in zip(paths[1:], others, strict=True)}
    if json:
        typer.echo(report.dumps(str(paths[0]), found))
    else:
        typer.echo("\n\n\n".join(report.text(str(paths[0]), name, one) for name, one in found.items()))
    slower = [name for name, one in found.items() if limit is not None and one.slower_than(limit)]
    if slower:
        typer.echo(f"memsim: slower than {paths[0]} by more than {fail_if_slower}: {', '.join(slower)}", err=True)
        raise typer.Exit(SLOWER)


def _share(text: str) -> float:
    """The share that ``5%`` or ``0.05`` names."""
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 10:
        raise InputError("--fail-if-slower", "share", f"is {text!r}; give a part of the time, for example 5% or 0.05")
    return share
