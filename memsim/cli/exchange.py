"""``memsim import`` and ``memsim export``: traces that other programs write and read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memsim.cli.options import Force, QuietFiles, TracesOut, gpu_names
from memsim.cli.output import print_traces
from memsim.support.text import printable

if TYPE_CHECKING:
    from memsim.support.progress import Advance
    from memsim.trace.reader import Trace

imports = typer.Typer(
    no_args_is_help=True,
    help="Import traces of other tools: one trace file per kernel, for memsim run.\n\n"
    "docs/how_to/import.md describes what each format contains and lacks.",
)
exports = typer.Typer(no_args_is_help=True, help="Export traces for other simulators and viewers.")


def _imported(convert: Callable[[Advance], list[Trace]], force: bool, quiet: bool, unit: str = "bytes") -> None:
    """Import traces with a bar of the units that are read, and list them."""
    from memsim.support.files import keeping_existing
    from memsim.support.progress import bar

    with keeping_existing(force), bar(unit, hidden=quiet) as advance:
        traces = convert(advance)
    if not quiet:
        print_traces(traces)


@imports.command("accelsim")
def import_accelsim(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="kernelslist.g, or one .traceg (also compressed) or .tracez file.")
    ],
    out: TracesOut = None,
    kernel: Annotated[
        list[str] | None, typer.Option("--kernel", "-k", help="Kernel: id, file or part of the name; may be repeated.")
    ] = None,
    force: Force = False,
    quiet: QuietFiles = False,
) -> None:
    """Read the processed traces of Accel-Sim's NVBit tracer.

    Loads, stores and atomics keep their opcode and PC; a use of a loaded register starts a sequence; MemcpyHtoD lines
    name arrays.

    \b
    memsim import accelsim traces/kernelslist.g -o imported/
    memsim import accelsim traces/kernel-3.traceg.xz -o kernel-3.h5
    memsim import accelsim traces/kernelslist.g -k spmv -o spmv.h5
    """
    from memsim.sources.imported.accelsim import import_accelsim as convert

    _imported(lambda advance: convert(source, out, kernel, advance), force, quiet)


@imports.command("nvbit")
def import_nvbit(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="Output of the program; may be compressed (.gz, .xz, .zst).")
    ],
    out: TracesOut = None,
    kernel: Annotated[
        list[str] | None, typer.Option("--kernel", "-k", help="Launch id or part of a kernel's name; may be repeated.")
    ] = None,
    force: Force = False,
    quiet: QuietFiles = False,
) -> None:
    """Read the output of NVBit's mem_trace tool.

    The text has neither dependences nor other instructions. Every access waits for those before it in its warp.

    \b
    LD_PRELOAD=mem_trace.so ./app > mem_trace.log
    memsim import nvbit mem_trace.log -o imported/
    memsim import nvbit mem_trace.log -k 3 -o launch-3.h5
    """
    from memsim.sources.imported.nvbit import import_nvbit as convert

    _imported(lambda advance: convert(source, out, kernel, advance), force, quiet)


@imports.command("cutracer")
def import_cutracer(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="kernel_....ndjson or .ndjson.zst of one launch.")],
    out: TracesOut = None,
    force: Force = False,
    quiet: QuietFiles = False,
) -> None:
    """Read a launch that CUTracer recorded.

    With opcode_only in addition to the accesses, compute runs and dependences are those of the machine code. With
    accesses alone, each access waits for those before it in its warp.

    \b
    CUTRACER_INSTRUMENT=opcode_only,mem_addr_trace CUDA_INJECTION64_PATH=lib/cutracer.so ./app
    memsim import cutracer kernel_7fa21c3_iter0_csr.ndjson.zst -o csr.h5
    """
    from memsim.sources.imported.cutracer import import_cutracer as convert

    _imported(lambda advance: convert(source, out, advance), force, quiet)


@imports.command("neutrino")
def import_neutrino(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="result/....bin, of one launch.")],
    probe: Annotated[
        list[str],
        typer.Option(
            "--probe", "-p", metavar="KIND:BYTES", help="Accesses of a map, for example load:4; once per map."
        ),
    ],
    out: TracesOut = None,
    force: Force = False,
    quiet: QuietFiles = False,
) -> None:
    """Read clocks and addresses that Neutrino's probes recorded, for example its tool dmat.

    The file records neither the kind of an access nor its width; --probe gives them, in the order of the maps. Every
    access waits for those before it in its warp.

    \b
    neutrino -p dmat python app.py
    memsim import neutrino trace/.../result/1.234567.bin --probe load:4 -o kernel.h5
    """
    from memsim.sources.imported.neutrino import Probe
    from memsim.sources.imported.neutrino import import_neutrino as convert

    _imported(lambda advance: convert(source, [Probe.of(text) for text in probe], out, advance), force, quiet, "blocks")


@exports.command("accelsim")
def export_accelsim(
    paths: Annotated[list[Path], typer.Argument(metavar="TRACE...", help="Trace files, in launch order.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    pack: Annotated[bool, typer.Option("--xz", help="Write .traceg.xz.")] = False,
    force: Force = False,
    quiet: QuietFiles = False,
) -> None:
    """Write traces for Accel-Sim: kernelslist.g and one .traceg per trace (tracer version 3).

    \b
    memsim export accelsim spmv.h5 -o traces/
    accel-sim.out -trace traces/kernelslist.g -config ...
    """
    from memsim.sources.imported.accelsim import export_accelsim as write
    from memsim.support.files import keeping_existing
    from memsim.support.progress import bar
    from memsim.trace.reader import Trace

    with keeping_existing(force), bar("warps", hidden=quiet) as advance:
        files = write([Trace.open(path) for path in paths], out, pack=pack, progress=advance)
    if not quiet:
        typer.echo("\n".join(printable(str(file)) for file in files))


@exports.command("nvbit")
def export_nvbit(
    paths: Annotated[list[Path], typer.Argument(metavar="TRACE...", help="Trace files, in launch order.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The log to write.")],
    force: Force = False,
    quiet: QuietFiles = False,
) -> None:
    """Write traces as NVBit's mem_trace prints them: the addresses of every access, and nothing else.

    \b
    memsim export nvbit spmv.h5 -o mem_trace.log
    """
    from memsim.sources.imported.nvbit import export_nvbit as write
    from memsim.support.files import keeping_existing
    from memsim.support.progress import bar
    from memsim.trace.reader import Trace

    with keeping_existing(force), bar("warps", hidden=quiet) as advance:
        write([Trace.open(path) for path in paths], out, progress=advance)
    if not quiet:
        typer.echo(printable(str(out)))


@exports.command("perfetto")
def export_perfetto(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A program's profile, or a trace file.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write.", show_default="FILE's name, .json")
    ] = None,
    gpu: Annotated[str | None, typer.Option(help="For a trace: the GPU.", autocompletion=gpu_names)] = None,
    sm: Annotated[int, typer.Option(min=0, help="For a trace: the SM whose warps are recorded.")] = 0,
    transactions: Annotated[
        int, typer.Option(min=1, help="For a trace: no block is launched after so many transactions.")
    ] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="For a trace: as for memsim run.")] = 0,
    force: Force = False,
    quiet: QuietFiles = False,
) -> None:
    """Write trace events that ui.perfetto.dev and chrome://tracing open.

    From a profile: launches, copies and the host. From a trace: one SM's warps and load-store unit, L2's slices and
    DRAM's channels with their queues, as the reference model replays the first blocks.

    \b
    memsim export perfetto app.profile.h5 -o app.json
    memsim export perfetto spmv.h5 --gpu a100 --sm 3 -o spmv.json
    """
    from memsim.analysis.program import ProgramResult, is_program
    from memsim.cli.output import check_file
    from memsim.report.perfetto import kernel_events, program_events, write_events
    from memsim.support.files import keeping_existing

    file = out or Path(f"{path.stem}.json")
    check_file(file, force, path)
    if is_program(path):
        found = ProgramResult.load(path)
        events, about = list(program_events(found)), {"program": str(found.about["program"]), "gpu": found.gpu}
    else:
        from memsim.api.arguments import opened
        from memsim.report.recorder import recorded_replay
        from memsim.support.progress import bar

        trace, machine = opened(path, gpu, None)
        with bar("", hidden=quiet, name="replaying"):
            recorder = recorded_replay(trace, machine, sm=sm, most=transactions, seed=seed)
        events, about = list(kernel_events(recorder, trace.ops)), {"kernel": trace.kernel, "gpu": machine.name}
    with keeping_existing(force):
        write_events(events, file, about)
    if not quiet:
        typer.echo(printable(str(file)))
