"""``memsim capture``: run a CUDA program and store the memory traces of its kernels."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from memsim.cli.options import Force, QuietTables, Whole, all_blocks, gpu_names
from memsim.cli.output import print_text
from memsim.gpu.defaults import DEFAULT_GPU
from memsim.support.errors import InputError

HINT_SECONDS = 20  # after which a program is one that takes long
_HINT = "it has run for {} s; --stop ends it with the trace, --blocks 2x --snapshot-only let fewer blocks run"


class Target(StrEnum):
    """Where a captured program runs."""

    cpu = "cpu"
    gpu = "gpu"


class By(StrEnum):
    """What of a CUDA C++ kernel is traced."""

    auto = "auto"
    source = "source"
    ptx = "ptx"


class WithArguments(TyperCommand):
    """A command that runs another program: what stands after ``--`` is that program's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            ctx.obj, args = args[place + 1 :], args[:place]
        return list(super().parse_args(ctx, args))


def capture(
    ctx: typer.Context,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The trace to write, FILE.h5; or a folder, for one of every kernel.")
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PROGRAM...] [-- ARGS]", help="CUDA C++ files of one program, or a Python file."),
    ] = None,
    ptx: Annotated[Path | None, typer.Option(help="In the place of a program: a file of PTX.")] = None,
    arguments: Annotated[
        Path | None, typer.Option(help="With --ptx: a Python file that sets grid, block and arguments.")
    ] = None,
    kernel: Annotated[
        str | None, typer.Option(help="Which kernel, or several: a,b. Default: that with the most accesses.")
    ] = None,
    launch: Annotated[
        str | None, typer.Option(help="Which launches of a kernel, from 0: 3, or 0,3,7, or all. Default: the largest.")
    ] = None,
    blocks: Annotated[
        str | None, typer.Option(help="FIRST:LAST, 4x (times the resident threads) or all, not by occupancy and L2.")
    ] = None,
    whole: Whole = False,
    gpu: Annotated[
        str, typer.Option(help="To compile for, and to fill with blocks.", autocompletion=gpu_names)
    ] = DEFAULT_GPU,
    registers: Annotated[int | None, typer.Option(min=1, help="Of a thread; else nvcc's for the GPU, else 32.")] = None,
    include: Annotated[list[Path] | None, typer.Option("-I", help="A folder of include files.")] = None,
    define: Annotated[list[str] | None, typer.Option("-D", help="Define a macro: NAME or NAME=VALUE.")] = None,
    library: Annotated[list[str] | None, typer.Option("-l", help="Link a library.")] = None,
    std: Annotated[str, typer.Option("--std", help="The C++ standard.")] = "c++17",
    fast_math: Annotated[
        bool, typer.Option("--use-fast-math", help="As nvcc's, of what is traced by compiled code.")
    ] = False,
    target: Annotated[Target, typer.Option(help="Run on this CPU, or on the GPU at hand (needs nvcc).")] = Target.cpu,
    by: Annotated[
        By, typer.Option(help="Trace a CUDA C++ kernel's source, or nvcc's PTX of it; auto: PTX where there is nvcc.")
    ] = By.auto,
    snapshot_only: Annotated[
        bool, typer.Option("--snapshot-only", help="Run no other blocks of the launch; later launches see wrong data.")
    ] = False,
    stop: Annotated[bool, typer.Option("--stop", help="End the program as soon as the trace is complete.")] = False,
    gaps: Annotated[bool, typer.Option("--gaps", help="Estimate the instructions between accesses.")] = False,
    unroll: Annotated[int, typer.Option(min=1, help="Iterations of a counted loop that go together; nvcc: 4.")] = 1,
    keep: Annotated[Path | None, typer.Option(help="Keep the instrumented source and the build's log there.")] = None,
    force: Force = False,
    quiet: QuietTables = False,
) -> None:
    """Run a program, without a GPU, and store the memory trace of a kernel.

    The program runs whole, on real data; its output and exit code are its own. A Python program's kernels are those of
    Triton, Numba-CUDA, Warp, CuTe DSL, CuPy, cuda.core and NVRTC (docs/python_kernels.md).

    \b
    memsim capture app.cu -o app.h5
    memsim capture app.cu -I inc -D N=512 -o app.h5 --kernel spmv --launch 2 -- matrix.mtx
    memsim capture main.cu kernels.cu -o traces/
    memsim capture app.cu -o traces/ --launch all
    memsim capture script.py -o t.h5 --gpu h100 --kernel matmul
    memsim capture --ptx kernel.ptx --arguments launch.py -o t.h5
    """
    from memsim.api import capture as run_captured
    from memsim.api import capture_ptx
    from memsim.report.inputs import trace_text
    from memsim.support.files import keeping_existing
    from memsim.support.progress import bar, hint_after

    def hint() -> None:
        if not (quiet or stop):
            typer.echo(f"memsim: {_HINT.format(HINT_SECONDS)}", err=True)

    _check(files, ptx, arguments)
    if ptx is not None and fast_math:
        raise InputError(ptx, "--use-fast-math", "is of CUDA C++; compile the PTX with it")
    chosen = all_blocks(blocks, whole)
    with keeping_existing(force), bar("blocks", hidden=quiet) as advance, hint_after(HINT_SECONDS, hint):
        if ptx is not None and arguments is not None:
            captured = capture_ptx(
                ptx, arguments, out=out, kernel=kernel, blocks=chosen, gpu=gpu, registers=registers,
                progress=advance,
            )  # fmt: skip
        else:
            captured = run_captured(
                files or [],
                arguments=ctx.obj or [],
                out=out,
                kernel=kernel,
                launch=launch,
                blocks=chosen,
                gpu=gpu,
                registers=registers,
                includes=include or [],
                definitions=define or [],
                libraries=library or [],
                standard=std,
                fast_math=fast_math,
                target=target.value,
                by=by.value,
                snapshot_only=snapshot_only,
                stop=stop,
                gaps=gaps,
                unroll=unroll,
                keep=keep,
                progress=advance,
            )
    for note in captured.notes:
        typer.echo(f"memsim: {note}", err=True)
    for recorded in () if quiet else captured.traces:
        print_text(trace_text(recorded))


def _check(files: list[Path] | None, ptx: Path | None, arguments: Path | None) -> None:
    """Refuse what is no program, or two."""
    if bool(files) == (ptx is not None):
        raise InputError(
            "capture", "PROGRAM", "is missing or one too many; give CUDA C++ files, a Python file, or --ptx"
        )
    if (ptx is None) != (arguments is None):
        raise InputError("capture", "--arguments", "goes with --ptx; give both or none")
