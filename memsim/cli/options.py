"""Options and arguments that several commands share, with one help text each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memsim.analysis.choices import Convention
from memsim.gpu.defaults import DEFAULT_GPU
from memsim.report.formats import DEFAULT_FORMAT, format_names
from memsim.support import library
from memsim.support.errors import InputError

TraceFile = Annotated[Path, typer.Argument(metavar="TRACE", help="A trace file.")]
TracesOut = Annotated[Path | None, typer.Option("--out", "-o", help="A folder, or one file that ends with .h5.")]


def gpu_names() -> list[str]:
    """The presets, for the shell to complete."""
    return library.names("configs", ".toml")


def workload_names() -> list[str]:
    """The library's workloads, for the shell to complete."""
    return library.names("traces", ".py")


Gpu = Annotated[
    str, typer.Option(help="A preset (see: memsim gpus) or a path to a TOML file.", autocompletion=gpu_names)
]
GpuOfTrace = Annotated[
    str | None,
    typer.Option(
        help="A preset (see: memsim gpus) or a path to a TOML file.",
        show_default=f"the preset that the trace was made for, else {DEFAULT_GPU}",
        autocompletion=gpu_names,
    ),
]
GpuToFill = Annotated[
    str, typer.Option(help="The GPU that the traced blocks must fill, with its L2.", autocompletion=gpu_names)
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", min=0, help="Number of processes; 0: one per core. Results do not depend on it.",
        show_default="all cores, or MEMSIM_JOBS",
    ),
]  # fmt: skip
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random draws.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Change a field of the GPU, l1.ways=4; may be repeated.")
]
OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="|".join(format_names()), help="How tables are printed.", show_default=DEFAULT_FORMAT,
        autocompletion=format_names,
    ),
]  # fmt: skip
AsJson = Annotated[bool, typer.Option("--json", help="The same as --format json.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="The same as --format csv.")]
CountedAs = Annotated[Convention, typer.Option(help="What counts as a hit.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
QuietTables = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress bar and no tables.")]
QuietFiles = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress bar and no list of files.")]
Quick = Annotated[bool, typer.Option("--quick", help="Find causes without replays; speed-ups are not predicted.")]
RunTrace = Annotated[
    Path | None, typer.Option("--trace", metavar="TRACE", help="The trace of the run, if it has moved.")
]
TracedBlocks = Annotated[
    str | None, typer.Option(help="The blocks to trace: FIRST:LAST, 4x (times the resident threads) or all.")
]
Includes = Annotated[list[Path] | None, typer.Option("-I", help="For CUDA C++ files: a folder of include files.")]
Definitions = Annotated[
    list[str] | None, typer.Option("-D", help="For CUDA C++ files: define a macro, NAME or NAME=VALUE.")
]
Libraries = Annotated[list[str] | None, typer.Option("-l", help="For CUDA C++ files: link a library.")]
Standard = Annotated[str, typer.Option("--std", help="For CUDA C++ files: the C++ standard.")]
WholeLaunch = Annotated[bool, typer.Option("--whole", help="Trace all blocks of the launch: as --blocks all.")]


def all_blocks(blocks: str | None, whole: bool) -> str | None:
    """What ``--blocks`` and ``--whole`` ask for together.

    Raises:
        InputError: both are given.
    """
    if whole and blocks is not None:
        raise InputError("--whole", "--blocks", f"is {blocks}; give one of the two")
    return "all" if whole else blocks
