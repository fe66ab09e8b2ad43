"""``memsim run``: replay a trace in many trials."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from memsim.analysis.choices import Convention
from memsim.cli.options import CountedAs, Gpu, QuietTables
from memsim.cli.output import print_json, print_tables
from memsim.support.library import DEFAULT_GPU


def run(
    path: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace file, or kernelslist.g or .traceg.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The results file to write.")] = None,
    kernel: Annotated[
        str | None, typer.Option("--kernel", "-k", help="Which one of kernelslist.g: id, file or a part of its name.")
    ] = None,
    gpu: Gpu = DEFAULT_GPU,
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
    convention: CountedAs = Convention.model,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md) instead of tables.")] = False,
    quiet: QuietTables = False,
) -> None:
    """Replay a trace on a GPU in many trials and report hit ratios and latencies.

    Ctrl-C (or SIGTERM) keeps the finished trials: they are stored and shown.

    \b
    memsim run spmv.h5 --gpu tesla-c2050 --trials 64 --seed 1 -j 2 -o result.h5
    memsim run spmv.h5 --gpu tesla-v100 --until 0.002 -j 0
    memsim run spmv.h5 --set l1.size_bytes=49152 --set l1.ways=48
    memsim run traces/kernelslist.g -k spmv --gpu tesla-v100
    """
    from memsim.analysis.stopping import Running
    from memsim.api import open_trace, simulate
    from memsim.gpu.presets import parse_settings
    from memsim.support.files import check_writable
    from memsim.support.progress import bar

    if out is not None:
        check_writable(out, path, gpu)
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
        print_json(result)
    elif not quiet:
        print_tables(result)
