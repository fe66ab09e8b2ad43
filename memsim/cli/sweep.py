"""``memsim sweep``: a study, from its file to its results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memsim.cli.options import Force, Jobs, OutputFormat, QuietTables
from memsim.cli.output import print_output
from memsim.support.cores import chosen_jobs
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.studies.run import Report, State

INTERRUPTED = 130


def sweep(
    path: Annotated[Path, typer.Argument(metavar="STUDY", help="A study file (TOML, docs/how_to/studies.md).")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The results file of the study (HDF5).")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue with the trials of the results file and those of a killed run.")
    ] = False,
    force: Force = False,
    jobs: Jobs = None,
    executor: Annotated[
        str, typer.Option(help="Where trials run: local, dask (local workers), dask:ADDRESS (a scheduler), or mpi.")
    ] = "local",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the study, print its points, measure one trial, and stop.")
    ] = False,
    log: Annotated[Path | None, typer.Option(help="Append events to this file.")] = None,
    format: OutputFormat = None,
    quiet: QuietTables = False,
) -> None:
    """Run a study: all points of its design, several trials each.

    The whole study is checked before anything runs. Each finished trial is stored at once. After Ctrl-C, or if the
    process is killed, --resume continues the sweep and repeats no finished trial.

    Exit status: 0; 2, bad input; 130, Ctrl-C.

    \b
    memsim sweep study.toml --dry-run
    memsim sweep study.toml -o study.h5 -j 2
    memsim sweep study.toml -o study.h5 --resume --executor dask:tcp://head:8786
    """
    from memsim.report import study as report
    from memsim.report.formats import chosen_format
    from memsim.studies.forecast import forecast
    from memsim.studies.run import DesignStudy

    if out is None and (resume or force):
        raise InputError("sweep", "--resume, --force", "need the study's results file; give it with -o")
    chosen = chosen_format(format)
    study = DesignStudy.load(path)
    study.check()
    if dry_run:
        print_output(report.points_output(study, report.forecast(forecast(study), chosen_jobs(jobs))), chosen)
        return
    with _logging(log), _bars(quiet) as progress:
        found = study.run(out, jobs=chosen_jobs(jobs), executor=executor, resume=resume, force=force, progress=progress)
    print_output(report.output(found), chosen, quiet)
    if not found.about["complete"]:
        destination = f"in the journal of {out}; --resume continues it" if out else "nowhere; give -o to keep them"
        typer.echo(f"memsim: interrupted; finished trials are kept {destination}", err=True)
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _bars(hidden: bool) -> Iterator[Report]:
    """One of points and one of trials; in a pipe, a line of the latter."""
    from memsim.support.progress import bar

    with (
        bar("points", hidden=hidden, line=False) as points,
        bar("trials", name="replaying", hidden=hidden) as trials,
    ):

        def advance(state: State) -> None:
            if state.phase == "describing":
                return  # which has a bar of its own
            points(state.points, state.all_points, _phases(state))
            trials(state.trials, state.all_trials - state.saved, f"{state.saved} saved" if state.saved else "")

        yield advance


def _phases(state: State) -> str:
    return ", ".join(f"{phase} {seconds:.0f} s" for phase, seconds in state.seconds.items() if seconds >= 0.5)


@contextmanager
def _logging(path: Path | None) -> Iterator[None]:
    if path is None:
        yield
        return
    import logging

    try:
        handler = logging.FileHandler(path)
    except OSError as error:
        raise InputError(path, "file", f"cannot be written ({error.strerror}); give a writable place") from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("memsim.studies")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()
