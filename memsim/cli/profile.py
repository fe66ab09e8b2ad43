"""``memsim profile``: a whole program in one table."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memsim.cli.capture import SOURCE_SUFFIXES, WithArguments
from memsim.cli.options import (
    Definitions,
    Force,
    Includes,
    Jobs,
    Libraries,
    OutputFormat,
    Quick,
    QuietTables,
    Seed,
    Standard,
    TracedBlocks,
    WholeLaunch,
    all_blocks,
    gpu_names,
)  # fmt: skip
from memsim.cli.output import print_output, programs_print_to_stderr
from memsim.sources.described_workloads import described_workloads
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.trace.reader import Trace

    Activities = Sequence[tuple[str, int, int]]  # kind, stream, value

INTERRUPTED = 130
CPP_STANDARD = "c++17"
_LARGEST_GRID = (1 << 31, 1, 1)


class ProfilesProgram(WithArguments):
    """What stands after a program's name is that program's; after CUDA C++ files, from the first other word on."""

    def find_separator(self, args: list[str]) -> range | None:
        if "--" in args:
            return super().find_separator(args)
        with_value = {name for one in self.params if not getattr(one, "is_flag", True) for name in one.opts}
        sources, at = False, 0
        while at < len(args):
            one = args[at]
            if not one.startswith("-") or one == "-":
                if Path(one).is_dir() or described_workloads(one):  # neither has options of its own
                    return None
                if Path(one).suffix not in SOURCE_SUFFIXES:
                    return range(at, at) if sources else range(at + 1, at + 1)
                sources = True
            at += 1 + (one in with_value)
        return None


_Files = Annotated[
    list[str],
    typer.Argument(
        metavar="PROGRAM [ARGS]",
        help="An executable, CUDA C++ files, a Python program or kernel description, or a folder of traces.",
    ),
]
_Out = Annotated[Path | None, typer.Option("--out", "-o", help="The results file.", show_default="PROGRAM.profile.h5")]
_Gpu = Annotated[
    str | None,
    typer.Option(help="The GPU that the program sees.", show_default="rtx4090", autocompletion=gpu_names),
]
_Kernel = Annotated[str | None, typer.Option("--kernel", "-k", help="Only these kernels: a,b.")]
_EveryLaunch = Annotated[
    bool, typer.Option("--every-launch", help="Execute and trace every launch, even if it repeats an earlier one.")
]
_Traces = Annotated[Path | None, typer.Option(help="A folder in which the launches' traces are kept.")]


def profile(
    ctx: typer.Context,
    files: _Files,
    out: _Out = None,
    gpu: _Gpu = None,
    kernel: _Kernel = None,
    blocks: TracedBlocks = None,
    whole: WholeLaunch = False,
    every_launch: _EveryLaunch = False,
    traces: _Traces = None,
    include: Includes = None,
    define: Definitions = None,
    library: Libraries = None,
    std: Standard = CPP_STANDARD,
    seed: Seed = 0,
    jobs: Jobs = None,
    quick: Quick = False,
    force: Force = False,
    format: OutputFormat = None,
    quiet: QuietTables = False,
) -> None:
    """Profile a whole program without a GPU: every launch, what is slow, what bounds it, what would fix it.

    It runs the program as `memsim capture` does, and prints its kernels by time. One replay stands for all launches
    that are alike; memsim replays further launches until the program's time is known within 1 %. `memsim show` and
    `memsim report` read the file that it writes. Ctrl-C keeps finished trials or traces.

    Exit status: 0; 2, bad input; 130, Ctrl-C.

    \b
    memsim profile app.cu
    memsim profile --gpu a100 ./app matrix.mtx
    memsim profile --gpu h100 script.py --size 4096
    memsim profile python -m package.module
    memsim profile traces/ -o app.profile.h5
    memsim profile kernel.py n=100000
    """
    from memsim.api import profile_program
    from memsim.capture.executables import shown_name
    from memsim.report.formats import chosen_format
    from memsim.report.profile import profile_output
    from memsim.support.scratch import Scratch

    program, chosen = Path(files[0]), chosen_format(format)
    shown = Path(shown_name(files[0], [*files[1:], *(ctx.obj or [])])).name
    file = _file(out, program.resolve().stem if shown == program.name else shown.removesuffix(".py"), force)
    _check_request(program, gpu, blocks)
    for_programs = {"--kernel": kernel, "--every-launch": every_launch, "-I": include, "-D": define, "-l": library,
                    "--std": std != CPP_STANDARD}  # fmt: skip
    options = {"kernel": kernel, "stand_ins": not every_launch, "includes": include or [], "definitions": define or [],
               "libraries": library or [], "standard": std}  # fmt: skip
    with Scratch() as scratch:
        folder = traces or Path(scratch) / "traces"
        request = _Program(files, ctx.obj or [], folder, gpu, all_blocks(blocks, whole), force, quiet)
        kept = partial(_keeping, folder if traces is None else None, file)
        with kept(), programs_print_to_stderr(chosen):
            recorded, activities = _recorded(request, traces, for_programs, options)
        with kept(), _phases(quiet) as progress:
            found = profile_program(
                recorded, gpu, program=shown, quick=quick, seed=seed, jobs=jobs, progress=progress,
                activities=activities,
            )  # fmt: skip
        found.save(file)
    stored = f"stored in {file}; one kernel: memsim show {file} --kernel NAME"
    print_output(profile_output(found, stored), chosen, quiet)
    if found.about["interrupted"]:
        trials = len(found.time.values)
        typer.echo(f"memsim: interrupted: {trials} trial{'s' * (trials != 1)} kept in {file}", err=True)
        raise typer.Exit(INTERRUPTED)


@dataclass(frozen=True)
class _Program:
    """What is profiled.

    Attributes:
        files: the words of the command line: a program, or a description and its parameters.
        arguments: words behind a separator.
        trace_folder: where traces go.
        gpu: that the program sees; None: the default one.
        blocks: to trace.
        force: whether traces that exist are overwritten.
        quiet: whether bars are hidden.
    """

    files: list[str]
    arguments: list[str]
    trace_folder: Path
    gpu: str | None
    blocks: str | None
    force: bool
    quiet: bool


def _recorded(
    program: _Program, traces: Path | None, for_programs: Mapping[str, object], options: Mapping[str, Any]
) -> tuple[list[Trace], Activities]:
    """The traces of all launches, and the program's activities.

    Args:
        program: a program, a kernel description, or a folder of traces.
        traces: the option of this name.
        for_programs: options that neither a description nor a folder has, by name.
        options: how a program is compiled and captured.
    """
    path = Path(program.files[0])
    if workloads := described_workloads(path):
        _refuse(path, "a kernel description", for_programs)
        return _described(program, workloads), ()
    if path.is_dir():
        other = {
            "--blocks": program.blocks,
            "--traces": traces,
            "another argument": [*program.files[1:], *program.arguments],
        }
        _refuse(path, "a folder of traces", {**for_programs, **other})
        return _folder(path)
    return _captured(program, options)


def _check_request(program: Path, gpu: str | None, blocks: str | None) -> None:
    """Refuse, before anything runs, a GPU or blocks that cannot be, and memsim's own files."""
    from memsim.analysis.program import is_program
    from memsim.gpu.defaults import DEFAULT_GPU
    from memsim.gpu.presets import load_gpu
    from memsim.sources.outputs import SUFFIX
    from memsim.sources.traced_blocks import given_blocks
    from memsim.trace.schema import LaunchShape

    if gpu == "":
        raise InputError("memsim profile", "--gpu", "is empty; give a preset (memsim gpus lists them) or a TOML file")
    machine = load_gpu(gpu or DEFAULT_GPU) if gpu or blocks else None
    if blocks is not None and machine is not None:
        given_blocks(blocks, LaunchShape(_LARGEST_GRID, (1, 1, 1)), machine)
    if program.is_file() and is_program(program):
        raise InputError(program, "file", "is a profile; memsim show and memsim report read it")
    if program.is_file() and program.suffix == SUFFIX:
        raise InputError(program, "file", "is no program; if it is a trace, memsim run replays it")


def _file(out: Path | None, stem: str, force: bool) -> Path:
    """Where the result goes; one of an earlier profile under the default name is replaced."""
    from memsim.analysis.program import is_program
    from memsim.cli.output import check_file

    file = out or Path(f"{stem}.profile.h5")
    check_file(file, force or (out is None and file.is_file() and is_program(file)))
    return file


def _refuse(program: Path, form: str, given: Mapping[str, object]) -> None:
    """Refuse the first option that was given and that is for programs."""
    for option in (name for name, value in given.items() if value):
        raise InputError(program, option, f"is for a program that memsim runs; this is {form}, so leave it out")


def _folder(folder: Path) -> tuple[list[Trace], Activities]:
    from memsim.cli.run_folder import folder_traces
    from memsim.sources.launch_list import all_activities, all_launches

    return all_launches(folder, folder_traces(folder, [], in_order=True)), all_activities(folder)


def _described(program: _Program, workloads: list[str]) -> list[Trace]:
    """The traces of kernel descriptions, each launched once; other words are their parameters, name=value."""
    from memsim.api import trace
    from memsim.gpu.defaults import DEFAULT_GPU
    from memsim.gpu.presets import parse_settings
    from memsim.support.files import check_writable, keeping_existing
    from memsim.support.progress import bar

    parameters, recorded = parse_settings([*program.files[1:], *program.arguments], "parameters"), []
    program.trace_folder.mkdir(parents=True, exist_ok=True)
    for one in workloads:
        out = program.trace_folder / f"{one.rpartition(':')[2]}.h5"
        with keeping_existing(program.force), bar("blocks", hidden=program.quiet) as advance:
            check_writable(out, one)
            made = trace(
                one, out=out, gpu=program.gpu or DEFAULT_GPU, blocks=program.blocks, progress=advance, **parameters
            )
            recorded.append(made)
    return recorded


def _captured(program: _Program, options: Mapping[str, Any]) -> tuple[list[Trace], Activities]:
    """The traces of all launches of a program, and its activities."""
    from memsim.api import capture
    from memsim.capture.executables import shown_name
    from memsim.gpu.defaults import DEFAULT_GPU
    from memsim.support.files import keeping_existing
    from memsim.support.progress import bar

    shown = shown_name(program.files[0], [*program.files[1:], *program.arguments])
    with keeping_existing(program.force), bar("", hidden=program.quiet, name=f"running {shown}"):
        captured = capture(
            program.files,
            arguments=program.arguments,
            out=program.trace_folder,
            launch="all",
            gpu=program.gpu or DEFAULT_GPU,
            blocks=program.blocks,
            **options,
        )
    for note in captured.notes:
        typer.echo(f"memsim: {note}", err=True)
    kernels = len(captured.launches)
    every = [captured.traces[position] for position in captured.program] or captured.traces
    launches = f"{len(every):,} launch{'es' * (len(every) != 1)}"
    _tell(f"{launches} of {kernels} kernel{'s' * (kernels != 1)}", program.quiet)
    return every, captured.activities


@contextmanager
def _keeping(temporary: Path | None, out: Path) -> Iterator[None]:
    """Ctrl-C moves the finished traces of a temporary folder next to the output."""
    from memsim.sources.outputs import SUFFIX

    try:
        yield
    except KeyboardInterrupt as interrupt:
        finished = len(list(temporary.glob(f"*{SUFFIX}"))) if temporary is not None else 0
        if temporary is None or not finished:
            raise
        kept = _free_path(out.with_name(f"{out.name.partition('.')[0]}.traces"))
        shutil.move(temporary, kept)
        traces = f"{finished} finished trace{'s' * (finished != 1)}"
        raise KeyboardInterrupt(f"kept {traces}; memsim profile {kept} replays them") from interrupt


def _free_path(path: Path) -> Path:
    """The path, or where it exists the first free one with a number behind it."""
    numbered = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(one for one in numbered if not one.exists()) if path.exists() else path


@contextmanager
def _phases(quiet: bool) -> Iterator[Any]:
    """A bar for each phase; in a pipe, a line when one begins."""
    from memsim.support.progress import bar

    shown: dict[str, Any] = {}
    with ExitStack() as bars:

        def report(phase: str, done: int, every: int, note: str) -> None:
            if phase not in shown:
                bars.close()
                _tell(phase, quiet)
                unit, delay = ("kernels", 0.5) if phase == "explaining" else ("trials", 0.0)
                shown[phase] = bars.enter_context(bar(unit, hidden=quiet, delay=delay))
            shown[phase](done, every, f"{phase} {note}".strip())

        yield report


def _tell(text: str, quiet: bool) -> None:
    import sys

    if not quiet and not sys.stderr.isatty():
        typer.echo(f"memsim: {text}", err=True)
