"""``memsim sensitivity``: what makes a spread: fields of a study, sources of randomness, uncertain numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memsim.analysis.choices import Convention
from memsim.cli.options import AsJson, CountedAs, Force, GpuOfTrace, Jobs, OutputFormat, QuietTables, Seed, Settings
from memsim.cli.output import check_file, print_output
from memsim.support.cores import chosen_jobs
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.report.output import CommandOutput


def sensitivity(
    path: Annotated[Path, typer.Argument(metavar="STUDY|TRACE", help="A study's file, or a trace.")],
    gpu: GpuOfTrace = None,
    uncertain: Annotated[
        bool, typer.Option("--uncertain", help="Vary the preset's fitted and assumed numbers.")
    ] = False,
    uncertainty: Annotated[
        float, typer.Option(min=0.001, max=0.99, help="Relative uncertainty of numbers that state none.")
    ] = 0.2,
    points: Annotated[
        int | None, typer.Option(min=2, help="Number of points, a power of two (64; with --uncertain 32).")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Trials per point, with --uncertain.")] = 4,
    seed: Seed = 0,
    jobs: Jobs = None,
    setting: Settings = None,
    convention: CountedAs = Convention.model,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Draw the bars in this PNG file.")] = None,
    force: Force = False,
    format: OutputFormat = None,
    json: AsJson = False,
    quiet: QuietTables = False,
) -> None:
    """Show what makes a result uncertain.

    For a study (method = "saltelli"): Sobol indices of its fields. For a trace: the share of each source of randomness;
    with --uncertain, the effect of the preset's fitted and assumed numbers, and which measurement would help most.

    \b
    memsim sensitivity study.h5
    memsim sensitivity spmv.h5 --gpu tesla-c2050 -o sources.png
    memsim sensitivity spmv.h5 --gpu h100 --uncertain -o tornado.png
    """
    from memsim.api import sensitivity as split
    from memsim.api import uncertainty as vary
    from memsim.gpu.presets import parse_settings
    from memsim.report import sensitivity as report
    from memsim.report.formats import chosen_format
    from memsim.studies.store import is_study
    from memsim.support.progress import bar

    chosen = chosen_format(format, json)
    if out is not None:
        check_file(out, force, path, *([Path(gpu)] if gpu else []))
    settings, jobs = parse_settings(setting or []), chosen_jobs(jobs)
    if is_study(path):
        if uncertain:
            raise InputError("memsim sensitivity", "--uncertain", f"varies the GPU of a trace; {path} is a study")
        shown = _of_study(path, convention, out)
    elif uncertain:
        with bar("trials", hidden=quiet) as advance:
            error = vary(
                path, gpu, uncertainty=uncertainty, points=points or 32, trials=trials, seed=seed, jobs=jobs,
                settings=settings, convention=convention, progress=advance,
            )  # fmt: skip
        if out is not None:
            report.draw_uncertain(error, out)
        shown = report.uncertain_output(error)
    else:
        with bar("replays", hidden=quiet) as advance:
            sources = split(
                path, gpu, points=points or 64, seed=seed, jobs=jobs, settings=settings, convention=convention,
                progress=advance,
            )  # fmt: skip
        if out is not None:
            report.draw_split(f"{sources.kernel} on {sources.gpu}: sources of randomness", sources.outputs, out)
        shown = report.sources_output(sources)
    print_output(shown, chosen, quiet)


def _of_study(path: Path, convention: str, out: Path | None) -> CommandOutput:
    """What is printed of a study: every case, the figure of the first."""
    from memsim.report import sensitivity as report
    from memsim.studies.result import StudyTrials
    from memsim.studies.sobol import of_study

    study = StudyTrials.load(path, convention)
    cases = {
        str(case): {output: of_study(study, output, number, path) for output in study.outputs}
        for number, case in enumerate(study.cases)
    }
    if out is not None:
        report.draw_split(*next(iter(cases.items())), out)
    return report.study_output(cases)
