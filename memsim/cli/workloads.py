"""``memsim workloads``: the library of kernels, and one with its parameters."""

from __future__ import annotations

from typing import Annotated

import typer

from memsim.cli.options import OutputFormat, workload_names
from memsim.cli.output import print_output


def workloads(
    name: Annotated[
        str | None, typer.Argument(help="A workload, or a path to kernel.py.", autocompletion=workload_names)
    ] = None,
    format: OutputFormat = None,
) -> None:
    """List the workloads, or one with its parameters and defaults.

    \b
    memsim workloads
    memsim workloads spmv
    """
    from memsim.report.formats import chosen_format
    from memsim.report.inputs import workload_output, workloads_output
    from memsim.sources.describe.kernel_file import load_workload
    from memsim.support import library

    if name is None:
        shown = workloads_output({each: load_workload(each) for each in library.names("traces", ".py")})
    else:
        shown = workload_output(load_workload(name))
    print_output(shown, chosen_format(format))
