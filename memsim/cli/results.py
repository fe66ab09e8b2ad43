"""``memsim show`` and ``memsim plot``: what a results file holds, as text and as figures."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memsim.analysis.choices import Convention, Grouping, Method
from memsim.cli.bottlenecks import bottlenecks_with_gains
from memsim.cli.options import AsCsv, AsJson, CountedAs, Force, OutputFormat, Quick, RunTrace
from memsim.cli.output import import_matplotlib, print_output
from memsim.report.figure_options import Format, Size
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memsim.report.figure_options import FigureOptions
    from memsim.why import Bottleneck


def show(
    path: Annotated[Path, typer.Argument(metavar="RESULT", help="A results file.")],
    by: Annotated[Grouping, typer.Option(help="Group the loads.")] = Grouping.load,
    convention: CountedAs = Convention.model,
    method: Annotated[Method, typer.Option(help="Method for the intervals of the ratios.")] = Method.t,
    format: OutputFormat = None,
    json: AsJson = False,
    csv: AsCsv = False,
    why: Annotated[
        bool, typer.Option("--why", help="Print what makes the kernel slow, with estimated speed-ups.")
    ] = False,
    quick: Quick = False,
    trace: RunTrace = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Processes for the replays of --why and --json.")
    ] = None,
    ncu: Annotated[bool, typer.Option("--ncu", help="Print what Nsight Compute counts, by its names.")] = False,
    kernel: Annotated[
        str | None, typer.Option("--kernel", "-k", help="For a program's profile: part of the kernel's name.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="With --ncu, print only the names.")] = False,
) -> None:
    """Show the tables of a results file, why the kernel is slow, or the points of a study.

    \b
    memsim show result.h5
    memsim show result.h5 --by array --method bootstrap
    memsim show result.h5 --why
    memsim show result.h5 --why --quick
    memsim show result.h5 --ncu
    memsim show app.profile.h5 --kernel spmv
    memsim show study.h5 --csv
    memsim show study.h5 --json
    memsim show result.h5 --json | jq .ratios.l2_read.mean
    """
    from memsim.analysis.program import is_program
    from memsim.analysis.result import RunResult
    from memsim.cli.program import program_kernel
    from memsim.report.formats import chosen_format
    from memsim.studies.store import is_study

    chosen = chosen_format(format, json, csv)
    if why and ncu:
        raise InputError("memsim show", "--why, --ncu", "exclude each other; give one of them")
    if not (why or chosen == "json") and (quick or trace is not None or jobs is not None):
        raise InputError("memsim show", "--quick, --trace, --jobs", "apply to --why and --json; give one of these")
    if quiet and not ncu:
        raise InputError("memsim show", "--quiet", "suppresses all output; it is for --ncu")
    if is_study(path):
        _show_study(path, convention, chosen, "--why" if why else "--ncu" if ncu else "")
        return
    explained = None
    if is_program(path):
        one = program_kernel(path, convention, kernel, why or ncu, chosen)
        if one is None:
            return
        result, explained = one
    elif kernel is not None:
        raise InputError(path, "--kernel", "is for the profile of a program; this file has one kernel")
    else:
        result = RunResult.load(path, convention)
    if explained is None or quick or trace is not None:
        bottlenecks: Callable[[], list[Bottleneck] | None] = partial(bottlenecks_with_gains, result, trace, quick, jobs)
    else:
        bottlenecks = partial(list, explained)
    if why:
        from memsim.report.why import why_output

        shown = why_output(result, bottlenecks())
    elif ncu:
        from memsim.report.profiler import listing

        shown = listing(result, quiet)
    else:
        from memsim.report.text import output

        shown = output(result, method=method, by=by, bottlenecks=bottlenecks)
    print_output(shown, chosen)


def plot(
    paths: Annotated[list[Path], typer.Argument(metavar="RESULT...", help="Results files; several are compared.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the figures.")] = Path("figures"),
    force: Force = False,
    convention: CountedAs = Convention.model,
    format: Annotated[Format, typer.Option(help="File format.")] = Format.png,
    dpi: Annotated[int, typer.Option(help="Dots per inch of PNG files.", min=30, max=1200)] = 200,
    size: Annotated[Size, typer.Option(help="Width: a screen, or a journal's column or page.")] = Size.screen,
) -> None:
    """Draw figures of one or more results: histograms, convergence, loads, latencies.

    For profiles of programs: kernels by time; for one profile, also its first and later launches.

    For a study: response curves, a heat map of its first two fields, a tornado chart, and the Pareto front.

    \b
    memsim plot result.h5 -o figs/
    memsim plot scalar.h5 vectorized.h5 -o figs/
    memsim plot study.h5 -o figs/
    memsim plot result.h5 --format pdf --size column -o figs/
    """
    from memsim.analysis.result import RunResult
    from memsim.cli.program import plotted_programs

    import_matplotlib()
    from memsim.report import comparison_figures, figures
    from memsim.report.figure_style import FigureOptions
    from memsim.studies.store import is_study
    from memsim.support.files import keeping_existing

    figure_options = FigureOptions(format, dpi, size)
    if any(is_study(path) for path in paths):
        _plot_study(paths, out, force, convention, figure_options)
        return
    if len({path.stem for path in paths}) < len(paths):
        raise InputError(
            "plot", "RESULT", "has two files of the same name; rename one, because the figures distinguish them by name"
        )
    with keeping_existing(force):
        if drawn := plotted_programs(paths, out, convention, figure_options):
            typer.echo("\n".join(map(str, drawn)))
            return
        results = {path.stem: RunResult.load(path, convention) for path in paths}
        one = len(results) == 1
        drawn = (
            figures.plot(results.popitem()[1], out, figure_options)
            if one
            else comparison_figures.plot(results, out, figure_options)
        )
        for written in drawn:
            typer.echo(written)


def _show_study(path: Path, convention: Convention, format: str, other: str) -> None:
    from memsim.report import study as report
    from memsim.studies.result import StudyTrials

    if other:
        problem = "needs the results of one kernel on one GPU, which a study does not store; use memsim run"
        raise InputError(path, other, problem)
    print_output(report.output(StudyTrials.load(path, convention)), format)


def _plot_study(
    paths: list[Path], out: Path, force: bool, convention: Convention, figure_options: FigureOptions
) -> None:
    from memsim.report import study_figures
    from memsim.studies.result import StudyTrials
    from memsim.support.files import keeping_existing

    if len(paths) > 1:
        raise InputError("plot", "RESULT", "has a study among other files; give the study alone")
    with keeping_existing(force):
        for written in study_figures.plot(StudyTrials.load(paths[0], convention), out, figure_options):
            typer.echo(written)
