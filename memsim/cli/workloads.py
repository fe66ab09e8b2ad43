"""``memsim workloads``: the library of kernels, and one with its parameters."""

from __future__ import annotations

from typing import Annotated

import typer

from memsim.cli.options import workload_names
from memsim.cli.output import print_text


def workloads(
    name: Annotated[
        str | None, typer.Argument(help="A workload, or a path to kernel.py.", autocompletion=workload_names)
    ] = None,
) -> None:
    """List the workloads, or one with its parameters and defaults.

    \b
    memsim workloads
    memsim workloads spmv
    """
    from memsim.report.inputs import workload_text, workloads_text
    from memsim.sources.describe.kernel_file import load_workload
    from memsim.support import library

    if name is None:
        print_text(workloads_text({each: load_workload(each) for each in library.names("traces", ".py")}))
    else:
        print_text(workload_text(load_workload(name)))
