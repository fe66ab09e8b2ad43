"""``memsim calibrate``: a preset of the GPU that is in this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memsim.cli.options import Force

INTERRUPTED = 130


def calibrate(
    out: Annotated[Path, typer.Option("-o", "--out", help="The TOML file to write, for --gpu.")],
    base: Annotated[str | None, typer.Option(help="Preset or file for numbers that cannot be measured.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the GPU; default: that of the device.")] = None,
    force: Force = False,
) -> None:
    """Measure the GPU of this machine: latencies, lines, sectors, ways and sizes of its caches, and DRAM latency.

    It needs an idle NVIDIA GPU and nvcc. The curves of latency against list length are written to a CSV file of the
    same name. Ctrl-C keeps the values found so far.

    \b
    memsim calibrate -o mygpu.toml
    memsim run spmv.h5 --gpu mygpu.toml
    """
    from memsim.calibration.calibrate import calibrate_gpu
    from memsim.calibration.known import curves_csv
    from memsim.calibration.probed_gpu import probe_gpu
    from memsim.cli.output import check_file, write_file
    from memsim.gpu.board import slug
    from memsim.report.inputs import own_gpu_toml
    from memsim.support.errors import InputError

    if out.suffix != ".toml":
        raise InputError("-o", str(out), "does not end in .toml; give the name of a TOML file")
    points = out.with_suffix(".csv")
    check_file(out, force)
    check_file(points, force)
    with probe_gpu() as device:
        gpu_name, found = calibrate_gpu(device, base, points.name, lambda what: typer.echo(f"{what} ...", err=True))
    write_file(points, curves_csv(found))
    about = f"{gpu_name}, measured by memsim calibrate; other values are those of {found.base}."
    write_file(out, own_gpu_toml(about, name or slug(gpu_name), found.base, found.values))
    for reason in found.left:
        typer.echo(f"unchanged from {found.base}: {reason}", err=True)
    typer.echo(f"{out}: {len(found.values)} values from {gpu_name}, the others from {found.base}; {points}: the curves")
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)
