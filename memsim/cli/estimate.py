"""``memsim estimate``: a kernel's time by closed-form models."""

from __future__ import annotations

from typing import Annotated

import typer

from memsim.cli.options import AsJson, GpuOfTrace, OutputFormat, TraceFile
from memsim.cli.output import print_output


def estimate(
    path: TraceFile,
    gpu: GpuOfTrace = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Change a field of the GPU, sm.count=8; may be repeated.")
    ] = None,
    format: OutputFormat = None,
    json: AsJson = False,
) -> None:
    """Estimate a kernel's time by closed-form models: occupancy and its limiter, MWP/CWP, cycles, CPI.

    \b
    memsim estimate spmv.h5 --gpu quadro-fx5600
    memsim estimate spmv.h5 --gpu tesla-v100 --json | jq .cycles
    """
    from memsim.api import estimate as apply
    from memsim.gpu.presets import parse_settings
    from memsim.report.estimate import output
    from memsim.report.formats import chosen_format

    chosen = chosen_format(format, json)
    print_output(output(apply(path, gpu, settings=parse_settings(setting or []))), chosen)
