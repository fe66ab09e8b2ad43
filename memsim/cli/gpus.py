"""``memsim gpus``: the presets, one GPU with the source of every value, and GPUs that another program measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memsim.cli.options import AsJson, Force, OutputFormat
from memsim.cli.output import print_output
from memsim.support.errors import InputError


class _Presets(TyperGroup):
    """What is no command is the name of a GPU to show."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("-h", "--help")):
            args = ["show", *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])


gpus = typer.Typer(
    cls=_Presets,
    rich_markup_mode=None,
    help="List the GPUs, or show one with the meaning, unit, status and source of every value.\n\n\b\n"
    "  memsim gpus\n  memsim gpus tesla-c2050\n  memsim gpus a100 --toml > mine.toml",
)


@gpus.command()
def show(
    name: Annotated[str | None, typer.Argument(help="A preset, or a path to a TOML file.")] = None,
    toml: Annotated[bool, typer.Option("--toml", help="Print a complete TOML file for --gpu, to be edited.")] = False,
    format: OutputFormat = None,
    json: AsJson = False,
) -> None:
    """List the GPUs, or show one with the meaning, unit, status and source of every value.

    \b
    memsim gpus
    memsim gpus tesla-c2050
    memsim gpus a100 --toml > mine.toml
    """
    from memsim.gpu import presets
    from memsim.report.formats import chosen_format
    from memsim.report.inputs import gpu_output, gpu_toml, presets_output

    chosen = chosen_format(format, json)
    if toml and (json or format is not None):
        raise InputError("memsim gpus", "--toml, --format, --json", "exclude each other; give one of them")
    if name is None:
        if toml:
            raise InputError("memsim gpus", "NAME", "is missing; --toml shows one GPU")
        print_output(presets_output({preset: presets.load_gpu(preset) for preset in presets.names()}), chosen)
        return
    gpu, provenance = presets.load_gpu(name), presets.provenance(name)
    if toml:
        typer.echo(gpu_toml(gpu, provenance))
    else:
        print_output(gpu_output(gpu, provenance), chosen)


@gpus.command()
def new(
    name: Annotated[str, typer.Argument(help="Name of the GPU.")],
    like: Annotated[str, typer.Option(help="A preset of the same family: its SM, its kind of L2 and memory.")],
    sms: Annotated[int, typer.Option(help="Number of SMs.")],
    clock: Annotated[float, typer.Option(help="Boost clock in MHz.")],
    l2: Annotated[float, typer.Option(help="Size of L2 in MiB.")],
    bus: Annotated[int, typer.Option(help="Width of the memory bus in bits.")],
    bandwidth: Annotated[float, typer.Option(help="Peak memory bandwidth in GB/s.")],
    memory: Annotated[
        str | None, typer.Option(help="Kind of memory, such as GDDR6. Default: that of the preset.")
    ] = None,
    memory_like: Annotated[str | None, typer.Option(help="A preset with the same kind of memory.")] = None,
    source: Annotated[str, typer.Option(help="Where the numbers come from.")] = "data sheet",
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The TOML file to write. Default: NAME.toml.")] = None,
    force: Force = False,
) -> None:
    """Describe a GPU by seven numbers of its data sheet and a preset of its family.

    \b
    memsim gpus new rtx4070 --like rtx4090 --sms 46 --clock 2475 --l2 36 --bus 192 --bandwidth 504
    memsim run spmv.h5 --gpu rtx4070.toml
    """
    from memsim.cli.output import check_file, write_file
    from memsim.gpu.data_sheet import DataSheet, described
    from memsim.report.inputs import own_gpu_toml

    if not name.strip(".") or Path(name).name != name:
        raise InputError("memsim gpus new", "NAME", f"is {name!r}; give a name, and the file in another folder with -o")
    file = out or Path(f"{name}.toml")
    check_file(file, force)
    sheet = DataSheet(name, like, sms, clock, round(l2 * 2**20), bus, bandwidth, memory, memory_like, source)
    values = described(sheet)
    about = f"{name}: numbers of its data sheet; everything else is that of {like}, or scaled from it."
    write_file(file, own_gpu_toml(about, name, like, values))
    typer.echo(f"{file}: {len(values)} values of {name}, the others from {like}")


@gpus.command("import")
def import_(
    report: Annotated[Path, typer.Argument(help="JSON report of mt4g for an NVIDIA GPU.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The TOML file to write, for --gpu.")],
    base: Annotated[str | None, typer.Option(help="Preset or file for numbers that the report lacks.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the GPU; default: that of the device.")] = None,
    force: Force = False,
) -> None:
    """Make a GPU from a measurement of mt4g (github.com/caps-tum/mt4g): sizes, lines, sectors, latencies, memory.

    \b
    memsim gpus import "NVIDIA GeForce RTX 2080 Ti.json" -o mygpu.toml
    memsim run spmv.h5 --gpu mygpu.toml
    """
    from memsim.cli.output import check_file, write_file
    from memsim.gpu import mt4g
    from memsim.gpu.board import slug
    from memsim.report.inputs import own_gpu_toml

    check_file(out, force, report)
    found = mt4g.read(report, base)
    about = f"{found.name}, as mt4g measured it; other values are those of {found.base}."
    write_file(out, own_gpu_toml(about, name or slug(found.name), found.base, found.values))
    typer.echo(f"{out}: {len(found.values)} values of {found.name}, the others from {found.base}")
