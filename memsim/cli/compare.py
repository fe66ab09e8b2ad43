"""``memsim compare``: results side by side, with an exit status for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memsim.analysis.choices import Convention
from memsim.cli.options import AsJson, CountedAs, OutputFormat
from memsim.cli.output import print_output
from memsim.support.errors import InputError

SLOWER = 1  # exit status


def compare(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RESULT RESULT...", help="Results files; the first one is the baseline.")
    ],
    fail_if_slower: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Exit with 1 if a result is significantly slower than the first by more than this: 5%.",
        ),
    ] = None,
    convention: CountedAs = Convention.model,
    ncu: Annotated[
        Path | None, typer.Option(help="Compare with a profiled launch: a .ncu-rep file, or output of ncu --csv.")
    ] = None,
    kernel: Annotated[
        str | None, typer.Option("--kernel", "-k", help="Part of the kernel's name in the report.")
    ] = None,
    launch: Annotated[int | None, typer.Option(min=0, help="Number of the launch in the report, from 0.")] = None,
    format: OutputFormat = None,
    json: AsJson = False,
) -> None:
    """Compare results with the first: speed-up, hit ratios, every load and array, with intervals.

    For two profiles of programs: the time of all launches, and of each kernel. Trials are paired by number if both
    results used the same seed. With --ncu, compare one result with what the profiler counted on a GPU.

    \b
    memsim compare before.h5 after.h5
    memsim compare before.h5 after.h5 --fail-if-slower 5%
    memsim compare before.profile.h5 after.profile.h5
    memsim compare result.h5 --ncu report.ncu-rep --kernel spmv --launch 2
    """
    from memsim.api import compare as side_by_side
    from memsim.cli.program import compared_programs
    from memsim.interactive_result import Result
    from memsim.report import compare as report
    from memsim.report.formats import FOR_PEOPLE, chosen_format

    chosen = chosen_format(format, json)
    if ncu is not None:
        if fail_if_slower is not None:
            raise InputError("memsim compare", "--fail-if-slower", "compares results; leave it out with --ncu")
        _with_profiler(paths, ncu, kernel, launch, chosen)
        return
    if kernel is not None or launch is not None:
        raise InputError(
            "memsim compare", "--kernel, --launch", "choose a launch of a report; give the report with --ncu"
        )
    if len(paths) < 2:
        raise InputError("memsim compare", "RESULT", "is one file; give two or more, the first is the baseline")
    limit = None if fail_if_slower is None else _share(fail_if_slower)
    if programs := compared_programs(paths, convention, chosen):
        slower = [name for name, one in programs.items() if limit is not None and one.slower_than(limit)]
        _end(slower, paths[0], fail_if_slower)
        return
    first, *others = (Result.load(path, convention) for path in paths)
    found = {str(path): side_by_side(first, other) for path, other in zip(paths[1:], others, strict=True)}
    print_output(report.output(str(paths[0]), found), chosen)
    for name, one in found.items() if chosen not in FOR_PEOPLE or limit is not None else ():
        for caution in one.cautions:
            typer.echo(f"memsim: {paths[0]} and {name}: {caution}", err=True)
    _end(
        [name for name, one in found.items() if limit is not None and one.slower_than(limit)], paths[0], fail_if_slower
    )


def _end(slower: list[str], base: Path, share: str | None) -> None:
    """Exit with 1 if any is slower."""
    if slower:
        typer.echo(f"memsim: slower than {base} by more than {share}: {', '.join(slower)}", err=True)
        raise typer.Exit(SLOWER)


def _with_profiler(paths: list[Path], report: Path, kernel: str | None, launch: int | None, format: str) -> None:
    from memsim.analysis.result import RunResult
    from memsim.measured import compare_with_report
    from memsim.report import profiler

    if len(paths) > 1:
        raise InputError("memsim compare", "RESULT", "is more than one file; give one with --ncu")
    result = RunResult.load(paths[0], Convention.profiler)
    found = compare_with_report(result, report, kernel, launch)
    print_output(profiler.comparison_output(str(paths[0]), str(report), result, found), format)


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
