"""The command line, a thin layer on memsim.api: ``memsim trace | capture | import | export | info | run | ...``.

Everything slow to import is imported inside the commands, so that help is instant.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from memsim import __version__
from memsim.analysis.choices import Convention, Grouping, Method
from memsim.errors import InputError
from memsim.library import CAPTURE_GPU, DEFAULT_GPU

if TYPE_CHECKING:
    from memsim.analysis.result import Result
    from memsim.trace.reader import Trace

BAD_INPUT, INTERRUPTED = 2, 130  # exit codes


class Target(StrEnum):
    """Where a captured program runs."""

    cpu = "cpu"
    gpu = "gpu"


class _Commands(TyperGroup):
    """Turns what a user can cause into one line and an exit code; anything else is a bug and keeps its traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            _fail(str(error))
        except BrokenPipeError:  # `memsim show ... | head`: the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            _fail(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
        except KeyboardInterrupt:
            typer.echo("memsim: interrupted; nothing was kept", err=True)
            raise typer.Exit(INTERRUPTED) from None
        return None


def _fail(message: str) -> None:
    typer.echo(f"memsim: {message}", err=True)
    raise typer.Exit(BAD_INPUT) from None


app = typer.Typer(
    cls=_Commands,
    name="memsim",
    help="GPU memory-hierarchy simulation with error bars.\n\n"
    "Describe a kernel in Python, record its memory trace, replay it on a GPU many times with the order of warps\n"
    "redrawn, and read hit ratios with confidence intervals and the latency of every load.",
    epilog="First steps: memsim trace spmv -p rows=8192 -o spmv.h5 && memsim run spmv.h5 -o result.h5",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: rich takes longer to import than everything else here
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Entry point of the ``memsim`` command."""
    gc.set_threshold(100_000)  # imports make many objects and no garbage; looking for it took a tenth of the start
    try:
        app()
    except SystemExit as leaving:
        _leave(leaving.code)


def _leave(code: Any) -> NoReturn:
    """End the process at once: taking all of Numba apart, object by object, takes 0.1 s."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memsim {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def trace(
    workload: Annotated[str, typer.Argument(help="A workload of the library (spmv), or a path to kernel.py.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The trace file to write.")],
    param: Annotated[list[str] | None, typer.Option("--param", "-p", help="name=value; may be repeated.")] = None,
    gpu: Annotated[str, typer.Option(help="To trace as many blocks as fill it and its L2.")] = DEFAULT_GPU,
    blocks: Annotated[
        str | None, typer.Option(help="FIRST:LAST, 4x (times the resident threads) or all, not the workload's rule.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no tables.")] = False,
) -> None:
    """Run a kernel description and store its memory trace.

    \b
    memsim trace spmv -p rows=86016 -p nnz_per_row=51 -o spmv.h5
    memsim trace path/to/kernel.py -p n=100000 -o kernel.h5
    """
    from memsim.api import trace as record
    from memsim.files import check_writable
    from memsim.presets import parse_settings
    from memsim.progress import bar
    from memsim.report.inputs import trace_text

    check_writable(out)
    parameters = parse_settings(param or [], "-p")
    with bar("blocks", hidden=quiet) as advance:
        recorded = record(workload, out=out, gpu=gpu, blocks=blocks, progress=advance, **parameters)
    if not quiet:
        typer.echo(trace_text(recorded))


imports = typer.Typer(
    no_args_is_help=True,
    help="Read what other tracers wrote: one trace file a kernel, for memsim run.\n\n"
    "docs/import.md says what each format tells and what it does not.",
)
app.add_typer(imports, name="import")
exports = typer.Typer(no_args_is_help=True, help="Write traces as other simulators read them.")
app.add_typer(exports, name="export")


@imports.command("accelsim")
def import_accelsim(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="kernelslist.g, or one .traceg; .gz, .xz, .zst too.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A folder, or one file that ends with .h5.")] = None,
    kernel: Annotated[
        list[str] | None, typer.Option("--kernel", "-k", help="Its id, file or a part of its name; may be repeated.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no list of files.")] = False,
) -> None:
    """Read the processed traces of Accel-Sim's NVBit tracer.

    Loads, stores and atomics keep their opcode and PC; a use of a loaded register starts a sequence; MemcpyHtoD lines
    name arrays.

    \b
    memsim import accelsim traces/kernelslist.g -o imported/
    memsim import accelsim traces/kernel-3.traceg.xz -o kernel-3.h5
    memsim import accelsim traces/kernelslist.g -k spmv -o spmv.h5
    """
    from memsim.progress import bar
    from memsim.sources.accelsim import import_accelsim as convert

    with bar("bytes", hidden=quiet) as advance:
        traces = convert(source, out, kernel, advance)
    if not quiet:
        _print_traces(traces)


@imports.command("nvbit")
def import_nvbit(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="What the program printed; .gz, .xz, .zst too.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A folder, or one file that ends with .h5.")] = None,
    kernel: Annotated[
        list[str] | None, typer.Option("--kernel", "-k", help="A launch id or a part of a name; may be repeated.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no list of files.")] = False,
) -> None:
    """Read the text of NVBit's mem_trace tool, which stands in the program's own output.

    The text has neither dependences nor other instructions: every access waits for those before it in its warp.

    \b
    LD_PRELOAD=mem_trace.so ./app > mem_trace.log
    memsim import nvbit mem_trace.log -o imported/
    memsim import nvbit mem_trace.log -k 3 -o launch-3.h5
    """
    from memsim.progress import bar
    from memsim.sources.nvbit import import_nvbit as convert

    with bar("bytes", hidden=quiet) as advance:
        traces = convert(source, out, kernel, advance)
    if not quiet:
        _print_traces(traces)


@exports.command("accelsim")
def export_accelsim(
    paths: Annotated[list[Path], typer.Argument(metavar="TRACE...", help="Trace files, in the order of launches.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")],
    pack: Annotated[bool, typer.Option("--xz", help="Write .traceg.xz.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no list of files.")] = False,
) -> None:
    """Write traces for Accel-Sim: kernelslist.g and a .traceg file each (tracer version 3).

    \b
    memsim export accelsim spmv.h5 -o traces/
    accel-sim.out -trace traces/kernelslist.g -config ...
    """
    from memsim.progress import bar
    from memsim.sources.accelsim import export_accelsim as write
    from memsim.trace.reader import Trace

    with bar("warps", hidden=quiet) as advance:
        files = write([Trace.open(path) for path in paths], out, pack=pack, progress=advance)
    if not quiet:
        typer.echo("\n".join(map(str, files)))


class _WithArguments(TyperCommand):
    """A command that runs another program: what stands after ``--`` is that program's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            ctx.obj, args = args[place + 1 :], args[:place]
        return list(super().parse_args(ctx, args))


@app.command(cls=_WithArguments)
def capture(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="APP.cu... [-- ARGS]", help="CUDA C++ files of one program.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The trace to write, FILE.h5; or a folder, for one of every kernel.")
    ],
    kernel: Annotated[str | None, typer.Option(help="Which kernel, not the first that is launched.")] = None,
    launch: Annotated[int, typer.Option(min=0, help="Which of its launches, counted from 0.")] = 0,
    blocks: Annotated[
        str | None, typer.Option(help="FIRST:LAST, 4x (times the resident threads) or all, not by occupancy and L2.")
    ] = None,
    gpu: Annotated[str, typer.Option(help="To trace as many blocks as fill it and its L2.")] = CAPTURE_GPU,
    registers: Annotated[int | None, typer.Option(min=1, help="Of a thread; else as nvcc reports, else 32.")] = None,
    include: Annotated[list[Path] | None, typer.Option("-I", help="A folder of include files.")] = None,
    define: Annotated[list[str] | None, typer.Option("-D", help="Define a macro: NAME or NAME=VALUE.")] = None,
    library: Annotated[list[str] | None, typer.Option("-l", help="Link a library.")] = None,
    std: Annotated[str, typer.Option("--std", help="The C++ standard.")] = "c++17",
    target: Annotated[Target, typer.Option(help="Run on this CPU, or on the GPU at hand (needs nvcc).")] = Target.cpu,
    snapshot_only: Annotated[
        bool, typer.Option("--snapshot-only", help="Run no other blocks of the launch; later launches see wrong data.")
    ] = False,
    stop: Annotated[bool, typer.Option("--stop", help="End the program as soon as the trace is complete.")] = False,
    gaps: Annotated[bool, typer.Option("--gaps", help="Estimate the instructions between accesses.")] = False,
    unroll: Annotated[int, typer.Option(min=1, help="Iterations of a counted loop that go together; nvcc: 4.")] = 1,
    keep: Annotated[Path | None, typer.Option(help="Keep the instrumented source and the build's log there.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no tables.")] = False,
) -> None:
    """Run a CUDA program, without a GPU, and store the memory trace of a kernel.

    The program runs whole, on real data; its output and exit code are its own.

    \b
    memsim capture app.cu -o app.h5
    memsim capture app.cu -I inc -D N=512 -o app.h5 --kernel spmv --launch 2 -- matrix.mtx
    memsim capture main.cu kernels.cu -o traces/
    """
    from memsim.api import capture as run_captured
    from memsim.progress import bar
    from memsim.report.inputs import trace_text

    with bar("blocks", hidden=quiet) as advance:
        captured = run_captured(
            files,
            arguments=ctx.obj or [],
            out=out,
            kernel=kernel,
            launch=launch,
            blocks=blocks,
            gpu=gpu,
            registers=registers,
            includes=include or [],
            definitions=define or [],
            libraries=library or [],
            standard=std,
            target=target.value,
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
        typer.echo(trace_text(recorded))


@app.command()
def info(path: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace file.")]) -> None:
    """Show a trace: launch, static ops with source text, arrays, sizes.

    \b
    memsim info spmv.h5
    """
    from memsim.report.inputs import trace_text
    from memsim.trace.reader import Trace

    typer.echo(trace_text(Trace.open(path)))


@app.command()
def run(
    path: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace file, or kernelslist.g or .traceg.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The results file to write.")] = None,
    kernel: Annotated[
        str | None, typer.Option("--kernel", "-k", help="Which one of kernelslist.g: id, file or a part of its name.")
    ] = None,
    gpu: Annotated[str, typer.Option(help="A preset (see: memsim gpus) or a path to a TOML file.")] = DEFAULT_GPU,
    trials: Annotated[int, typer.Option(min=1, help="Trials, without --until.")] = 64,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same results, whatever the jobs.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes; 0 is one a core.")] = 1,
    until: Annotated[
        float | None,
        typer.Option(
            min=1e-6, max=1, help="Stop when the 95 % interval of every hit ratio is narrower; 0.002 is 0.2 points."
        ),
    ] = None,
    min_trials: Annotated[int, typer.Option(min=2, help="At least this many, with --until.")] = 20,
    max_trials: Annotated[int, typer.Option(min=2, help="At most this many, with --until.")] = 1000,
    warm: Annotated[bool, typer.Option("--warm", help="Start trials with the caches that one replay leaves.")] = False,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Change a field of the GPU, l1.ways=4; may be repeated.")
    ] = None,
    convention: Annotated[Convention, typer.Option(help="What the hit ratios count as a hit.")] = Convention.model,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md) instead of tables.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no tables.")] = False,
) -> None:
    """Replay a trace on a GPU in many trials and report hit ratios and latencies.

    Ctrl-C keeps the finished trials: they are stored and shown.

    \b
    memsim run spmv.h5 --gpu tesla-c2050 --trials 64 --seed 1 -j 2 -o result.h5
    memsim run spmv.h5 --gpu tesla-v100 --until 0.002 -j 0
    memsim run spmv.h5 --set l1.size_bytes=49152 --set l1.ways=48
    memsim run traces/kernelslist.g -k spmv --gpu tesla-v100
    """
    from memsim.analysis.stopping import Running
    from memsim.api import open_trace, simulate
    from memsim.files import check_writable
    from memsim.presets import parse_settings
    from memsim.progress import bar

    if out is not None:
        check_writable(out)
    with bar("bytes", hidden=quiet) as advance:
        recorded = open_trace(path, kernel, advance)
    running, most = Running(convention), trials if until is None else max_trials
    with bar("trials", hidden=quiet) as advance:
        result = simulate(
            recorded,
            gpu,
            trials=trials,
            seed=seed,
            jobs=jobs or os.cpu_count() or 1,
            until=until,
            min_trials=min_trials,
            max_trials=max_trials,
            warm=warm,
            settings=parse_settings(setting or []),
            convention=convention,
            progress=lambda finished: advance(note=running.add(finished), done=running.trials, total=most),
        )
    if out is not None:
        result.save(out)
    if json:
        _print_json(result)
    elif not quiet:
        _print_tables(result)


@app.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="RESULT", help="A results file.")],
    by: Annotated[Grouping, typer.Option(help="Group the loads.")] = Grouping.load,
    convention: Annotated[Convention, typer.Option(help="What the hit ratios count as a hit.")] = Convention.model,
    method: Annotated[Method, typer.Option(help="How the ratios' interval of the mean is found.")] = Method.t,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the table of loads as CSV.")] = False,
    why: Annotated[bool, typer.Option("--why", help="Print what makes it slow, the costliest first.")] = False,
) -> None:
    """Show the tables of a results file, or why the kernel is slow.

    \b
    memsim show result.h5
    memsim show result.h5 --by array --method bootstrap
    memsim show result.h5 --why
    memsim show result.h5 --json | jq .ratios.l2_read.mean
    """
    from memsim.analysis.result import Result
    from memsim.report.why import why_text

    if json + csv + why > 1:
        raise InputError("memsim show", "--json, --csv, --why", "exclude each other; give one of them")
    result = Result.load(path, convention)
    if why:
        typer.echo(why_text(result))
    elif json:
        _print_json(result)
    elif csv:
        typer.echo(result.loads_by(by).to_csv(), nl=False)
    else:
        _print_tables(result, method=method, by=by)


@app.command()
def plot(
    paths: Annotated[list[Path], typer.Argument(metavar="RESULT...", help="Results files; several are compared.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the figures.")] = Path("figures"),
    convention: Annotated[Convention, typer.Option(help="What the hit ratios count as a hit.")] = Convention.model,
) -> None:
    """Draw a results file, or several beside each other: histograms, convergence, loads, latencies, as PNG.

    \b
    memsim plot result.h5 -o figs/
    memsim plot scalar.h5 vectorized.h5 -o figs/
    """
    from memsim.analysis.result import Result
    from memsim.report import comparison, figures

    results = {path.stem: Result.load(path, convention) for path in paths}
    if len(results) < len(paths):
        raise InputError("plot", "RESULT", "names two files alike; the figures tell them apart by name, so rename one")
    one = len(results) == 1
    for written in figures.plot(results.popitem()[1], out) if one else comparison.plot(results, out):
        typer.echo(written)


@app.command()
def estimate(
    path: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace file.")],
    gpu: Annotated[str, typer.Option(help="A preset (see: memsim gpus) or a path to a TOML file.")] = DEFAULT_GPU,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Change a field of the GPU, sm.count=8; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/models.md) instead of tables.")] = False,
) -> None:
    """Estimate a kernel's time by closed-form models: occupancy and its limiter, MWP/CWP, cycles, CPI.

    \b
    memsim estimate spmv.h5 --gpu quadro-fx5600
    memsim estimate spmv.h5 --gpu tesla-v100 --json | jq .cycles
    """
    from memsim.api import estimate as apply
    from memsim.presets import parse_settings
    from memsim.report.estimate import dumps, text

    done = apply(path, gpu, settings=parse_settings(setting or []))
    typer.echo(dumps(done) if json else text(done))


@app.command()
def gpus(
    name: Annotated[str | None, typer.Argument(help="A preset, or a path to a TOML file.")] = None,
) -> None:
    """List the GPUs, or one GPU with every value, unit and source.

    \b
    memsim gpus
    memsim gpus tesla-c2050
    """
    from memsim import presets
    from memsim.report.inputs import gpu_text, presets_text

    if name is None:
        typer.echo(presets_text({preset: presets.load_gpu(preset) for preset in presets.names()}))
    else:
        typer.echo(gpu_text(presets.load_gpu(name), presets.provenance(name)))


def _print_traces(traces: list[Trace]) -> None:
    """One line a trace: its file, kernel, launch and size."""
    for trace in traces:
        grid, block = ("x".join(map(str, extents)) for extents in (trace.launch.grid, trace.launch.block))
        blocks = f"{trace.n_blocks:,} of {trace.launch.n_blocks:,} blocks"
        typer.echo(f"{trace.path}: {trace.kernel}, grid {grid}, block {block}, {blocks}, {trace.n_instructions:,} rows")


def _print_tables(result: Result, *, method: str = Method.t, by: str = Grouping.load) -> None:
    from memsim.report.text import tables

    typer.echo(tables(result, method=method, by=by))


def _print_json(result: Result) -> None:
    from memsim.report.document import dumps

    typer.echo(dumps(result))
