"""``memsim trace``: run a kernel description and store its memory trace; ``memsim info``: show a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memsim.cli.options import (
    Force,
    GpuToFill,
    OutputFormat,
    QuietTables,
    TraceFile,
    WholeLaunch,
    all_blocks,
    workload_names,
)
from memsim.cli.output import print_output
from memsim.gpu.defaults import DEFAULT_GPU


def trace(
    workload: Annotated[
        str,
        typer.Argument(
            help="A workload of the library (spmv), or a path (kernel.py, or kernel.py:name).",
            autocompletion=workload_names,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The trace file to write.")],
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="A parameter of the workload, name=value; may be repeated."),
    ] = None,
    gpu: GpuToFill = DEFAULT_GPU,
    blocks: Annotated[
        str | None, typer.Option(help="Blocks to trace: FIRST:LAST, 4x (times the resident threads) or all.")
    ] = None,
    whole: WholeLaunch = False,
    force: Force = False,
    format: OutputFormat = None,
    quiet: QuietTables = False,
) -> None:
    """Run a kernel description and store its memory trace.

    \b
    memsim trace spmv -p rows=86016 -p nnz_per_row=51 -o spmv.h5
    memsim trace path/to/kernel.py -p n=100000 -o kernel.h5
    """
    from memsim.api import trace as record
    from memsim.gpu.presets import parse_settings
    from memsim.report.formats import chosen_format
    from memsim.report.inputs import trace_output
    from memsim.support.files import check_writable, keeping_existing
    from memsim.support.progress import bar

    parameters = parse_settings(param or [], "-p")
    with keeping_existing(force), bar("blocks", hidden=quiet) as advance:
        check_writable(out, workload)
        recorded = record(workload, out=out, gpu=gpu, blocks=all_blocks(blocks, whole), progress=advance, **parameters)
    print_output(trace_output(recorded), chosen_format(format), quiet)


def info(path: TraceFile, format: OutputFormat = None) -> None:
    """Show a trace: launch, memory instructions with source text, arrays, sizes.

    \b
    memsim info spmv.h5
    """
    from memsim.report.formats import chosen_format
    from memsim.report.inputs import trace_output
    from memsim.trace.reader import Trace

    print_output(trace_output(Trace.open(path)), chosen_format(format))
