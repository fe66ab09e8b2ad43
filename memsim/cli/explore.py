"""``memsim explore``: try the choices that a kernel declares."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memsim.cli.options import AsJson, Force, Gpu, Jobs, OutputFormat, QuietTables, Seed, Settings
from memsim.cli.output import check_file, print_output, programs_print_to_stderr
from memsim.gpu.defaults import DEFAULT_GPU
from memsim.support.cores import chosen_jobs

_Workload = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD [-- ARGS]",
        help="A workload of the library, a path to kernel.py, or a program with @triton.autotune.",
    ),
]
_Param = Annotated[
    list[str] | None, typer.Option("--param", "-p", help="Fix a parameter, name=value; may be repeated.")
]
_Vary = Annotated[
    list[str] | None,
    typer.Option("--vary", help="Values of a choice, name=value,value, instead of the declared ones; may be repeated."),
]
_Kernel = Annotated[str | None, typer.Option(help="Tuned kernel of a program. Default: the first.")]
_Keep = Annotated[int, typer.Option(min=0, help="Number of versions to simulate, the best by model.")]
_Trials = Annotated[int, typer.Option(min=1, help="Trials per version.")]
_Blocks = Annotated[str, typer.Option(help="Blocks to simulate: FIRST:LAST, 4x (times the resident threads) or all.")]
_Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write all versions to this CSV file.")]
_Figure = Annotated[Path | None, typer.Option(help="Draw the best versions' times in this PNG file.")]


def explore(
    ctx: typer.Context,
    workload: _Workload,
    gpu: Gpu = DEFAULT_GPU,
    param: _Param = None,
    vary: _Vary = None,
    kernel: _Kernel = None,
    keep: _Keep = 5,
    trials: _Trials = 8,
    seed: Seed = 0,
    blocks: _Blocks = "2x",
    jobs: Jobs = None,
    setting: Settings = None,
    out: _Out = None,
    figure: _Figure = None,
    force: Force = False,
    format: OutputFormat = None,
    json: AsJson = False,
    quiet: QuietTables = False,
) -> None:
    """Try the choices of a kernel: all by closed-form models, the best few by simulation.

    Reports which choice matters most, and by how much. Ctrl-C keeps the versions that are simulated.

    \b
    memsim explore neighbours -p n=16384 --gpu tesla-c1060 -j 2
    memsim explore path/to/kernel.py --gpu tesla-v100 --vary block=64,128,256 --keep 3
    memsim explore matmul --gpu tesla-v100 --keep 0 -o versions.csv
    memsim explore tuned.py --gpu h100 -- 4096
    """
    from memsim.api import explore as search
    from memsim.exploration import parse_vary
    from memsim.gpu.presets import parse_settings
    from memsim.report import exploration
    from memsim.report.formats import chosen_format
    from memsim.support.progress import bar

    chosen = chosen_format(format, json)
    for path in (out, figure):
        if path is not None:
            check_file(path, force)
    with programs_print_to_stderr(chosen), bar("versions", hidden=quiet) as advance:
        found = search(
            workload, gpu, vary=parse_vary(vary or []), keep=keep, trials=trials, seed=seed, blocks=blocks,
            jobs=chosen_jobs(jobs), settings=parse_settings(setting or []), progress=advance, arguments=ctx.obj or [],
            kernel=kernel, **parse_settings(param or [], "-p"),
        )  # fmt: skip
    if out is not None:
        exploration.table(found).to_csv(out)
    if figure is not None:
        exploration.draw(found, figure)
    print_output(exploration.output(found), chosen, quiet)
