"""``memsim report``: results and studies as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memsim.analysis.choices import Convention
from memsim.cli.bottlenecks import bottlenecks_with_gains
from memsim.cli.options import CountedAs, Force, Quick
from memsim.cli.output import check_file, import_matplotlib
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.why import Bottleneck

_LONGEST = 80  # characters of a page's name that nobody gave


def report(
    paths: Annotated[list[Path], typer.Argument(metavar="RESULT...", help="Results or studies; results are compared.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page to write.", show_default="the files' names, .html")
    ] = None,
    force: Force = False,
    convention: CountedAs = Convention.model,
    quick: Quick = False,
) -> None:
    """Write one self-contained HTML page: source, loads, findings, figures, configuration.

    For a program's profile, the page shows its kernels by time, its timeline, cold and warm L2, and each kernel that
    takes long.

    \b
    memsim report result.h5 -o report.html
    memsim report scalar.h5 vectorized.h5 -o both.html
    memsim report app.profile.h5 -o app.html
    memsim report study.h5 -o study.html
    """
    from memsim.analysis.program import ProgramResult, is_program
    from memsim.analysis.result import RunResult
    from memsim.cli.program import explained_kernels, longest_kernels
    from memsim.studies.result import StudyTrials
    from memsim.studies.store import is_study
    from memsim.support.files import keeping_existing
    from memsim.why import find_bottlenecks, has_profiles

    if len({path.stem for path in paths}) < len(paths):
        raise InputError(
            "memsim report",
            "RESULT",
            "has two files of the same name; rename one, because the page distinguishes them by name",
        )
    page = out or Path(f"{'-'.join(path.stem for path in paths)[:_LONGEST]}.html")
    check_file(page, force, *paths)
    import_matplotlib()
    from memsim.report.page import write_page

    studies = {path.stem: StudyTrials.load(path, convention) for path in paths if is_study(path)}
    programs = {path.stem: ProgramResult.load(path, convention) for path in paths if is_program(path)}
    results: dict[str, RunResult] = {}
    explained: dict[str, list[Bottleneck]] = {}
    for path in paths:
        if path.stem in programs:
            kernels = longest_kernels(programs[path.stem])
            results |= kernels
            explained |= {label: find_bottlenecks(one) for label, one in kernels.items() if has_profiles(one)}
            explained |= {} if quick else explained_kernels(programs[path.stem], path)
        elif path.stem not in studies:
            results[path.stem] = RunResult.load(path, convention)
    notes = set[str]()
    found = {
        label: explained[label] if label in explained else bottlenecks_with_gains(one, None, quick, None, notes)
        for label, one in results.items()
    }
    bottlenecks = {label: of for label, of in found.items() if of is not None}
    with keeping_existing(force):
        typer.echo(write_page(results, studies, page, bottlenecks, programs))
