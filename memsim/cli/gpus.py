"""``memsim gpus``: the presets, and one GPU with the source of every value."""

from __future__ import annotations

from typing import Annotated

import typer


def gpus(
    name: Annotated[str | None, typer.Argument(help="A preset, or a path to a TOML file.")] = None,
) -> None:
    """List the GPUs, or one GPU with every value, unit and source.

    \b
    memsim gpus
    memsim gpus tesla-c2050
    """
    from memsim.gpu import presets
    from memsim.report.inputs import gpu_text, presets_text

    if name is None:
        typer.echo(presets_text({preset: presets.load_gpu(preset) for preset in presets.names()}))
    else:
        typer.echo(gpu_text(presets.load_gpu(name), presets.provenance(name)))
