"""``memsim capture``: run a CUDA program and store the memory traces of its kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from memsim.cli.options import (
    Definitions,
    Force,
    Includes,
    Libraries,
    OutputFormat,
    QuietTables,
    Standard,
    TracedBlocks,
    WholeLaunch,
    all_blocks,
    gpu_names,
)  # fmt: skip
from memsim.cli.output import print_output, programs_print_to_stderr
from memsim.gpu.defaults import DEFAULT_GPU
from memsim.support.errors import InputError

HINT_SECONDS = 20  # after which a program is one that takes long
SOURCE_SUFFIXES = (".cu", ".cpp", ".cc", ".cxx", ".c")
_HINT = "it has run for {} s; {}--blocks 2x traces fewer blocks"
_WITHOUT = "without --to-end it ends with the trace, "


class WithArguments(TyperCommand):
    """A command that runs another program: what stands after ``--`` is that program's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        separator = self.find_separator(args)
        if separator is not None:
            ctx.obj, args = args[separator.stop :], args[: separator.start]
        return list(super().parse_args(ctx, args))

    def find_separator(self, args: list[str]) -> range | None:
        """What separates memsim's arguments from the program's: a ``--``, or nothing between two of them."""
        return range(at := args.index("--"), at + 1) if "--" in args else None


class RunsProgram(WithArguments):
    """``memsim capture``: as with ``ncu``, what stands after a program's name is that program's, too.

    This holds for executables and Python files if ``--out`` stands before them; else options of memsim's may follow.
    """

    def find_separator(self, args: list[str]) -> range | None:
        if "--" in args:
            return super().find_separator(args)
        with_value = {name for one in self.params if not getattr(one, "is_flag", True) for name in one.opts}
        given, at = False, 0
        while at < len(args):
            one = args[at]
            if not one.startswith("-") or one == "-":
                if Path(one).suffix not in SOURCE_SUFFIXES:
                    return range(at + 1, at + 1) if given else None
            else:
                given = given or one.partition("=")[0] in ("--out", "-o") or one.startswith("-o")
                at += one in with_value
            at += 1
        return None


_Out = Annotated[
    Path, typer.Option("--out", "-o", help="The trace to write, FILE.h5; or a folder, for one trace per kernel.")
]
_Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PROGRAM] [ARGS]", help="An executable, the CUDA C++ files of a program, or a Python file."
    ),
]
_Ptx = Annotated[Path | None, typer.Option(help="A PTX file to run instead of a program.")]
_Sass = Annotated[Path | None, typer.Option(help="A cubin whose machine code runs instead of a program.")]
_Arguments = Annotated[
    Path | None, typer.Option(help="With --ptx or --sass: a Python file that sets grid, block and arguments.")
]
_Kernel = Annotated[
    str | None,
    typer.Option(help="The kernel to trace, or several: a,b. Default: any."),
]
_Launch = Annotated[
    str | None,
    typer.Option(
        help="The launches of a kernel to trace, from 0: 3, or 0,3,7, or all. Default: the first; with --to-end, "
        "or a folder and no --kernel, the one with the most accesses."
    ),
]
_Gpu = Annotated[str, typer.Option(help="The GPU that the program sees and is compiled for.", autocompletion=gpu_names)]
_Registers = Annotated[
    int | None, typer.Option(min=1, help="Registers per thread. Default: what ptxas reports for the GPU.")
]
_FastMath = Annotated[bool, typer.Option("--use-fast-math", help="For CUDA C++ files: nvcc's option of this name.")]
_SnapshotOnly = Annotated[
    bool,
    typer.Option("--snapshot-only", help="Run only the traced blocks of a launch; later launches see wrong data."),
]
_ToEnd = Annotated[
    bool, typer.Option("--to-end", help="Run the program to its end. Default: it ends when the trace is complete.")
]
_Keep = Annotated[Path | None, typer.Option(help="For CUDA C++ files: a folder for the executable and nvcc's log.")]
_EveryLaunch = Annotated[
    bool,
    typer.Option("--every-launch", help="With --launch all: execute and trace all, even those that are alike."),
]
_NoCache = Annotated[bool, typer.Option("--no-cache", help="Run the program even if the cache has this capture.")]


def capture(
    ctx: typer.Context,
    out: _Out,
    files: _Files = None,
    ptx: _Ptx = None,
    sass: _Sass = None,
    arguments: _Arguments = None,
    kernel: _Kernel = None,
    launch: _Launch = None,
    blocks: TracedBlocks = None,
    whole: WholeLaunch = False,
    gpu: _Gpu = DEFAULT_GPU,
    registers: _Registers = None,
    include: Includes = None,
    define: Definitions = None,
    library: Libraries = None,
    std: Standard = "c++17",
    fast_math: _FastMath = False,
    snapshot_only: _SnapshotOnly = False,
    to_end: _ToEnd = False,
    every_launch: _EveryLaunch = False,
    keep: _Keep = None,
    no_cache: _NoCache = False,
    force: Force = False,
    format: OutputFormat = None,
    quiet: QuietTables = False,
) -> None:
    """Run a program without a GPU, and store the memory trace of a kernel.

    The program sees a GPU of the type --gpu. memsim provides its CUDA runtime and driver, and runs its kernels' PTX on
    this CPU. The program's own code runs on this machine as it would without memsim, outside any sandbox. memsim ends
    it as soon as the trace is complete; with --to-end, it runs to its end.

    With --launch all, one trace represents launches that are alike, as in `memsim profile`; a note says how many, and
    launches.json in the folder has the sequence of all launches. --every-launch executes and traces all of them.

    PROGRAM takes three forms. CUDA C++ files are compiled with nvcc. An executable must be linked with the shared CUDA
    runtime, and contain PTX or machine code for --gpu: build it with `memsim nvcc` instead of nvcc. A Python file runs
    unchanged (Triton, Numba-CUDA, CuPy, Warp, CuTe DSL, cuda.core).

    \b
    memsim capture app.cu -o app.h5
    memsim capture main.cu kernels.cu -I inc -D N=512 -o app.h5 --kernel spmv --launch 2 -- matrix.mtx
    memsim capture -o traces/ --launch all ./app matrix.mtx
    memsim capture -o t.h5 --gpu h100 --kernel matmul script.py --size 4096
    memsim capture --ptx kernel.ptx --arguments launch.py -o t.h5
    memsim capture --sass kernel.cubin --arguments launch.py -o t.h5

    \b
    make NVCC="memsim nvcc"
    cmake -B build -DCMAKE_CUDA_COMPILER=memsim-nvcc
    """
    from memsim.api import capture as run_captured
    from memsim.api import capture_ptx
    from memsim.report.formats import chosen_format

    printed = chosen_format(format)
    code = _checked_code(files, ptx, sass, arguments, fast_math)
    stand_ins = _has_stand_ins(launch, every_launch, snapshot_only)
    common: dict[str, Any] = {
        "out": out,
        "kernel": kernel,
        "blocks": all_blocks(blocks, whole),
        "gpu": gpu,
        "registers": registers,
    }
    capturing: partial[Any]
    if code is not None and arguments is not None:
        capturing = partial(capture_ptx, code, arguments, **common)
    else:
        capturing = partial(
            run_captured, files or [], arguments=ctx.obj or [], launch=launch, includes=include or [],
            definitions=define or [], libraries=library or [], standard=std, fast_math=fast_math,
            snapshot_only=snapshot_only, to_end=to_end, stand_ins=stand_ins,
            keep=keep, cached=not no_cache, **common,
        )  # fmt: skip
    _print_traces(capturing, force, printed, quiet, to_end)


def _print_traces(capture: Callable[..., Any], force: bool, printed: str, quiet: bool, to_end: bool) -> None:
    """Capture, with a bar and after a while a hint, and print the traces.

    Args:
        capture: called with what shows the progress.
        force: whether traces that exist are overwritten.
        printed: the format of the tables.
        quiet: whether nothing but notes is printed.
        to_end: whether the program runs to its end.
    """
    from memsim.report.inputs import traces_output
    from memsim.support.files import keeping_existing
    from memsim.support.progress import bar, hint_after

    with (
        keeping_existing(force),
        programs_print_to_stderr(printed),
        bar("blocks", hidden=quiet, name="tracing") as advance,
        hint_after(HINT_SECONDS, partial(_print_hint, quiet, to_end)),
    ):
        captured = capture(progress=advance)
    for note in captured.notes:
        typer.echo(f"memsim: {note}", err=True)
    print_output(traces_output(captured.traces), printed, quiet)


def _has_stand_ins(launch: str | None, every_launch: bool, snapshot_only: bool) -> bool:
    """Whether one trace may represent several launches: all are wanted, and each is executed in full."""
    from memsim.sources.selection import ALL, chosen_launches

    is_all = chosen_launches(launch) is ALL
    if every_launch and not is_all:
        raise InputError("capture", "--every-launch", "needs all launches; give --launch all, or leave it out")
    return is_all and not (every_launch or snapshot_only)


def _print_hint(quiet: bool, to_end: bool) -> None:
    if not quiet:
        typer.echo(f"memsim: {_HINT.format(HINT_SECONDS, _WITHOUT if to_end else '')}", err=True)


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _checked_code(
    files: list[str] | None, ptx: Path | None, sass: Path | None, arguments: Path | None, fast_math: bool
) -> Path | None:
    """The file of PTX or the cubin; refuses a command line without a program, or with two."""
    if bool(files) + (ptx is not None) + (sass is not None) != 1:
        problem = "is missing or given twice; give an executable, CUDA C++ files, a Python file, --ptx or --sass"
        raise InputError("capture", "PROGRAM", problem)
    code = ptx or sass
    if (code is None) != (arguments is None):
        raise InputError("capture", "--arguments", "goes with --ptx or --sass; give both or none")
    if sass is not None and sass.is_file() and not _is_elf(sass):
        raise InputError(sass, "file", "is no cubin; give the file that ptxas or nvcc -cubin wrote")
    if code is not None and fast_math:
        raise InputError(code, "--use-fast-math", "is for CUDA C++ files; compile this file with it")
    return code
