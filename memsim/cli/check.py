"""``memsim check``: a gate for continuous integration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memsim.cli.options import Jobs, OutputFormat, QuietTables, gpu_names
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.gate.baseline import BaselineProgram

WORSE = 1  # exit code


_Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PROGRAM]",
        help="With --update, a program to add: CUDA C++ files, an executable, a "
        "Python file, or a folder of traces. Its arguments follow after --.",
    ),
]
_Baseline = Annotated[Path, typer.Option("--baseline", "-b", help="The baseline file.")]
_Update = Annotated[
    bool, typer.Option("--update", help="Measure and write the baseline: of PROGRAM, else of all its programs.")
]
_Gpu = Annotated[
    list[str] | None,
    typer.Option(help="With PROGRAM: a GPU; give it several times for several.", autocompletion=gpu_names),
]
_Kernel = Annotated[str | None, typer.Option("--kernel", "-k", help="With PROGRAM: only these kernels: a,b.")]
_Blocks = Annotated[str | None, typer.Option(help="With PROGRAM: the blocks to trace: FIRST:LAST, 4x or all.")]
_Include = Annotated[list[Path] | None, typer.Option("-I", help="With PROGRAM: a folder of include files.")]
_Define = Annotated[list[str] | None, typer.Option("-D", help="With PROGRAM: define a macro, NAME or NAME=VALUE.")]
_Library = Annotated[list[str] | None, typer.Option("-l", help="With PROGRAM: link a library.")]
_Std = Annotated[str, typer.Option("--std", help="With PROGRAM: the C++ standard.")]
_Github = Annotated[
    bool | None,
    typer.Option("--github/--no-github", help="Print annotations for GitHub.", show_default="in GitHub Actions"),
]


def check(
    ctx: typer.Context,
    files: _Files = None,
    baseline: _Baseline = Path(
        "memsim-baseline.toml"
    ),
    update: _Update = False,
    gpu: _Gpu = None,
    kernel: _Kernel = None,
    blocks: _Blocks = None,
    include: _Include = None,
    define: _Define = None,
    library: _Library = None,
    std: _Std = "c++17",
    github: _Github = None,
    jobs: Jobs = None,
    format: OutputFormat = None,
    quiet: QuietTables = False,
) -> None:  # fmt: skip
    """Compare kernels with a baseline file, and fail if one became slower.

    --update runs the programs and writes the baseline, which you commit to the repository. Without it, the programs run
    again, and each figure that grew by more than the file allows is reported on the source line that caused it. The
    result is the same on every machine.

    Exit status: 0; 1, a kernel became worse or is missing; 2, bad input.

    \b
    memsim check --update app.cu --gpu rtx4090 --gpu a100 -- 1024
    memsim check
    memsim check --update
    """
    from memsim import api
    from memsim.cli.output import print_output, programs_print_to_stderr, write_file
    from memsim.report.check import check_output, github_annotations, plain
    from memsim.report.formats import FOR_PEOPLE, chosen_format

    def report(what: str) -> None:
        if not quiet:
            typer.echo(f"memsim: {what}", err=True)

    chosen = chosen_format(format)
    program = _program(ctx, files, baseline, gpu, kernel, blocks, include, define, library, std)
    if update:
        written = api.update(baseline, program, jobs=jobs, progress=report)
        write_file(baseline, written.text())
        count = sum(len(one.kernels) for one in written.programs)
        programs = f"{len(written.programs)} program{'s' * (len(written.programs) != 1)}"
        report(f"{baseline}: {count} kernel{'s' * (count != 1)} of {programs}; review it, and commit it")
        return
    if program is not None:
        raise InputError("check", "PROGRAM", f"is given without --update; add it to {baseline} with --update first")
    with programs_print_to_stderr(chosen):
        outcome = api.check(baseline, jobs=jobs, progress=report)
    for note in outcome.notes:
        typer.echo(f"memsim: {note}", err=True)
    missing = [
        f"{baseline}: {one} is not launched any more; memsim check --update removes it" for one in outcome.missing
    ]
    print_output(check_output(outcome.kernels, outcome.regressions, missing), chosen, quiet)
    for line in [*plain(outcome.regressions), *missing] if quiet and chosen in FOR_PEOPLE else ():
        typer.echo(line)
    if github or (github is None and os.environ.get("GITHUB_ACTIONS") == "true"):
        for line in github_annotations(outcome.regressions, Path(os.environ.get("GITHUB_WORKSPACE", "."))):
            typer.echo(line, err=chosen not in FOR_PEOPLE)
    if not outcome.passed:
        raise typer.Exit(WORSE)


def _program(
    ctx: typer.Context, files: list[str] | None, baseline: Path, gpus: list[str] | None, kernel: str | None,
    blocks: str | None, includes: list[Path] | None, definitions: list[str] | None, libraries: list[str] | None,
    standard: str,
) -> BaselineProgram | None:  # fmt: skip
    """The program that the command line describes, with paths relative to the baseline; None: it names none."""
    from memsim.gate.baseline import BaselineProgram
    from memsim.gpu.defaults import DEFAULT_GPU

    if not files:
        given = {"--gpu": gpus, "--kernel": kernel, "-D": definitions, "--": ctx.obj}
        for option, value in given.items():
            if value:
                raise InputError("check", option, "needs a program; the baseline states how its own programs run")
        return None
    folder = baseline.absolute().parent

    def relative(path: str | Path) -> str:
        return os.path.relpath(path, folder)

    return BaselineProgram(
        files=[relative(one) for one in files],
        arguments=ctx.obj or [],
        gpus=[relative(one) if one.endswith(".toml") else one for one in gpus or [DEFAULT_GPU]],
        kernel=kernel,
        blocks=blocks,
        includes=[relative(one) for one in includes or []],
        definitions=definitions or [],
        libraries=libraries or [],
        standard=standard,
    )
