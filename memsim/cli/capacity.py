"""``memsim capacity``: hit ratio against the capacity of L1 and L2."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memsim.cli.options import (
    AsCsv,
    AsJson,
    Force,
    GpuOfTrace,
    Jobs,
    OutputFormat,
    QuietTables,
    Seed,
    Settings,
    TraceFile,
)  # fmt: skip
from memsim.cli.output import check_file, print_output
from memsim.support.cores import chosen_jobs


def capacity(
    path: TraceFile,
    gpu: GpuOfTrace = None,
    trials: Annotated[int, typer.Option(min=0, help="Trials per replay; 0: only the curves.")] = 4,
    seed: Seed = 0,
    jobs: Jobs = None,
    setting: Settings = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the curves to this PNG file.")] = None,
    force: Force = False,
    format: OutputFormat = None,
    json: AsJson = False,
    csv: AsCsv = False,
    quiet: QuietTables = False,
) -> None:
    """Show the read hit ratio at every capacity of L1 and L2, from one pass over the trace.

    The curves are those of fully associative LRU caches. Replays at half, the same and twice the current size show the
    effect of sets, latencies and policies.

    \b
    memsim capacity spmv.h5 --gpu a100 -o capacity.png
    memsim capacity spmv.h5 --gpu tesla-c2050 --trials 0 --csv
    """
    from memsim.api import capacity as find
    from memsim.gpu.presets import parse_settings
    from memsim.report import capacity as report
    from memsim.report.formats import chosen_format
    from memsim.support.progress import bar

    chosen = chosen_format(format, json, csv)
    if out is not None:
        check_file(out, force, path, *([Path(gpu)] if gpu else []))
    with bar("trials", hidden=quiet) as advance:
        found = find(
            path, gpu, trials=trials, seed=seed, jobs=chosen_jobs(jobs), settings=parse_settings(setting or []),
            progress=advance,
        )  # fmt: skip
    if out is not None:
        report.draw(found, out)
    print_output(report.output(found), chosen, quiet)
